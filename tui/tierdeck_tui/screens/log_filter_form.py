"""The form that says which rows of the promotion log to list."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from tierdeck.model import Tier
from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.promotion.log_ask import KINDS, RULES, LogAsk
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.safe_input import SafeInput

_ANY = "any"


class LogFilterForm(ModalScreen[LogAsk | None]):
    """Actor, tier, kind, rule and time. The answer is what was asked for; None when cancelled.

    Args:
        now_ms: the clock that `7d` counts back from.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("form"))
    AUTO_FOCUS = "#log-tier"
    CSS_PATH = "form.tcss"

    def __init__(self, ask: LogAsk, *, now_ms: int) -> None:
        super().__init__()
        self._ask = ask
        self._now_ms = now_ms

    def compose(self) -> ComposeResult:
        """One field a line."""
        ask = self._ask
        with Vertical(classes="form") as box:
            box.border_title = Content("Filter the log")
            box.border_subtitle = Content("tab next · ← → choose · enter apply · esc cancel")
            tiers = OptionRow([_ANY, *Tier], {ask.tier or _ANY}, is_single=True, id="log-tier")
            yield from self._field("tier", tiers)
            yield from self._field(
                "actor", SafeInput(ask.actor, placeholder="who did it", compact=True, id="log-actor")
            )
            yield from self._field(
                "kind", SafeInput(ask.kind, placeholder=", ".join(KINDS), compact=True, id="log-kind")
            )
            yield from self._field(
                "rule",
                SafeInput(
                    ask.rule,
                    placeholder=f"{RULES[0]}, {RULES[1]}, …",
                    compact=True,
                    id="log-rule",
                ),
            )
            for name in ("since", "until"):
                hint = "7d, 12h, 2w or 2026-01-31"
                box_of = SafeInput(getattr(ask, name), placeholder=hint, compact=True, id=f"log-{name}")
                yield from self._field(name, box_of)
            yield Static("", markup=False, classes="form-note", id="log-note")

    def action_submit_form(self) -> None:
        """Give back what is asked for, if every field can be read."""
        tier = self.query_one("#log-tier", OptionRow).chosen[0]
        ask = replace(
            self._ask,
            tier="" if tier == _ANY else tier,
            actor=self._value("actor"),
            kind=self._value("kind"),
            rule=self._value("rule"),
            since=self._value("since"),
            until=self._value("until"),
        )
        try:
            ask.meaning(self._now_ms)
        except ValueError as e:
            self.query_one("#log-note", Static).update(Content(visible(str(e), one_line=True)))
        else:
            self.dismiss(ask)

    def action_leave_form(self) -> None:
        """Close without doing anything."""
        self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a box applies the form."""
        event.stop()
        self.action_submit_form()

    def _field(self, label: str, widget: Widget) -> ComposeResult:
        with Horizontal(classes="form-field"):
            yield Static(label, markup=False, classes="form-label")
            yield widget

    def _value(self, name: str) -> str:
        return self.query_one(f"#log-{name}", SafeInput).value.strip()
