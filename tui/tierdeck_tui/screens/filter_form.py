"""The form for filters. It reads them from the query's text and writes them back into it."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from tierdeck.model import NodeType, Tier
from tierdeck.search import parse_query
from tierdeck_tui.actions import bindings_for
from tierdeck_tui.query_text import quoted, with_filters
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.safe_input import SafeInput

# Key of a filter, and what its box says while it is empty.
_TEXT_FIELDS = (
    ("since", "7d, 12h, 2w or 2026-01-31"),
    ("until", "7d, 12h, 2w or 2026-01-31"),
    ("session", "the session's id"),
    ("project", "the project's name"),
    ("tag", "a tag"),
)
# `key=value` or `key="a value"`; what is neither is given to the parser, which says what is wrong with it.
_META = re.compile(r'([^\s="]+)=("[^"]*"|\S+)|(\S+)')


class FilterForm(ModalScreen[str | None]):
    """All filters of a query. The answer is the query's text with the chosen ones; None when cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("form"))
    AUTO_FOCUS = "#filter-tier"
    CSS_PATH = "form.tcss"

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._query = parse_query(text)

    def compose(self) -> ComposeResult:
        """One field a line."""
        found = self._query.filter
        with Vertical(classes="form") as box:
            box.border_title = Content("Filters")
            box.border_subtitle = Content("tab next · space choose · enter apply · esc cancel")
            yield from self._field("tier", OptionRow(list(Tier), found.tiers, id="filter-tier"))
            yield from self._field("type", OptionRow(list(NodeType), found.types, id="filter-type"))
            yield from self._field("confidence", self._box("conf", ">0.6, or >=0.5 <0.9"))
            for key, hint in _TEXT_FIELDS:
                yield from self._field(key, self._box(key, hint))
            yield from self._field("metadata", self._box("meta", 'key=value, or key="a value"'))
            shown = {"archived ones too"} if found.include_archived else set()
            yield from self._field("show", OptionRow(["archived ones too"], shown, id="filter-archived"))
            yield Static("", markup=False, classes="form-note", id="filter-note")

    def action_submit_form(self) -> None:
        """Give back the query with these filters, if every one of them can be read."""
        filters = self._filters()
        text = with_filters(self._text, filters)
        understood = parse_query(text)
        if len(understood.chips) != len(filters):
            notes = " · ".join(understood.notes) or "a filter can't be read"
            self.query_one("#filter-note", Static).update(Content(visible(notes, one_line=True)))
        else:
            self.dismiss(text)

    def action_leave_form(self) -> None:
        """Close without doing anything."""
        self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a box applies the form."""
        event.stop()
        self.action_submit_form()

    def _filters(self) -> list[str]:
        filters = [f"tier:{tier}" for tier in self.query_one("#filter-tier", OptionRow).chosen]
        filters += [f"type:{kind}" for kind in self.query_one("#filter-type", OptionRow).chosen]
        filters += [f"conf{part}" for part in self._value("conf").split()]
        for key, _ in _TEXT_FIELDS:
            if value := self._value(key):
                filters.append(f"{key}:{quoted(value)}")
        for name, wanted, rest in _META.findall(self._value("meta")):
            filters.append(f"meta.{name}={wanted}" if name else f"meta:{rest}")
        if self.query_one("#filter-archived", OptionRow).chosen:
            filters.append("is:archived")
        return filters

    def _field(self, label: str, widget: Widget) -> ComposeResult:
        with Horizontal(classes="form-field"):
            yield Static(label, markup=False, classes="form-label")
            yield widget

    def _box(self, key: str, hint: str) -> SafeInput:
        """A box with what the query says of this key, as it was typed."""
        values = []
        for chip in self._query.chips:
            if key == "conf" and chip.key == "conf":
                values.append(chip.text.lower().removeprefix("confidence").removeprefix("conf"))
            elif key == "meta" and chip.key.startswith("meta"):
                name = chip.key.removeprefix("meta").removeprefix(".")
                key_of, _, wanted = (f"{name}={chip.value}" if name else chip.value).partition("=")
                values.append(f"{key_of}={quoted(wanted)}")
            elif chip.key == key:
                values = [chip.value]
        return SafeInput(" ".join(values), placeholder=hint, compact=True, id=f"filter-{key}")

    def _value(self, key: str) -> str:
        return self.query_one(f"#filter-{key}", SafeInput).value.strip()
