"""The Overview: what the store holds and how it is doing, each line a way into the Search screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from textual import on, work
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.worker import get_current_worker

from tierdeck.errors import TierdeckError
from tierdeck.model import NodeType, Tier
from tierdeck_tui.console import Console
from tierdeck_tui.overview_facts import OverviewFacts, read_facts
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.widgets.card import Card, CardLine

if TYPE_CHECKING:
    from tierdeck_tui.app import TierdeckApp


class OverviewScreen(FrameScreen):
    """Cards that are read in a worker; the screen is painted before the store has answered."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]  # noqa: RUF012 - Textual types it so

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._deck = console

    def compose_body(self) -> Iterable[Widget]:
        """Two columns of cards, one below 72 columns."""
        with VerticalScroll(id="overview", can_focus=False):
            yield Card("By tier", id="tiers")
            yield Card("By type", id="types")
            yield Card("Store", id="store")

    def on_mount(self) -> None:
        self.reload()

    def reload(self) -> None:
        """Read everything again."""
        self._read()

    @on(Card.Opened)
    def _open(self, event: Card.Opened) -> None:
        cast("TierdeckApp", self.app).open_search(event.query)

    @work(thread=True, exclusive=True, group="overview")
    def _read(self) -> None:
        worker = get_current_worker()
        try:
            facts = read_facts(self._deck)
        except TierdeckError as e:
            if not worker.is_cancelled:
                self.app.call_from_thread(self._show_error, e)
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show, facts)

    def _show(self, facts: OverviewFacts) -> None:
        self.query_one("#tiers", Card).show(_counts("tier", [t.value for t in Tier], facts.by_tier, facts.memories))
        self.query_one("#types", Card).show(
            _counts("type", [t.value for t in NodeType], facts.by_type, facts.memories)
        )
        self.query_one("#store", Card).show(
            [CardLine("path", facts.path), CardLine("kind", facts.kind), CardLine("access", facts.access)]
        )

    def _show_error(self, error: TierdeckError) -> None:
        for card in self.query(Card):
            card.show([CardLine(error.message, state="bad")])


def _counts(key: str, names: list[str], found: Mapping[str, int], total: int) -> list[CardLine]:
    return [
        CardLine(
            name,
            f"{found.get(name, 0):,}",
            share=found.get(name, 0) / total if total else 0.0,
            query=f"{key}:{name}",
        )
        for name in names
    ]
