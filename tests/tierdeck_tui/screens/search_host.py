"""The Search screen in the real app, and what a test looks at on it."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tierdeck_tui.settled import QUICK_REST_S, settled
from tierdeck.config import ConsoleSettings, EmbeddingSettings, Settings
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.screens.search import SearchScreen
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.memory_row import memory_of
from tierdeck_tui.widgets.alpha_bar import AlphaBar
from tierdeck_tui.widgets.detail import Detail
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.memory_list import MemoryList
from tierdeck_tui.widgets.query_box import QueryBox
from tierdeck_tui.widgets.text_view import TextView

DEBOUNCE_MS = 20
_KEYS = {" ": "space", "/": "slash", "[": "left_square_bracket", "]": "right_square_bracket", ":": "colon"}


def words_only(**console: object) -> Settings:
    """Settings without a model, with a debounce that does not make tests wait."""
    return Settings(
        embedding=EmbeddingSettings(provider="off"),
        console=ConsoleSettings(**{"debounce_ms": DEBOUNCE_MS, **console}),  # type: ignore[arg-type]
    )


class Seen:
    """What is on the Search screen of a running app."""

    def __init__(self, app: TierdeckApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> SearchScreen:
        """The screen, also while a dialog lies over it."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, SearchScreen))

    @property
    def results(self) -> MemoryList:
        return self.screen.query_one("#results", MemoryList)

    @property
    def detail(self) -> Detail:
        return self.screen.query_one("#detail", Detail)

    @property
    def box(self) -> QueryBox:
        return self.screen.query_one(QueryBox)

    @property
    def alpha(self) -> float:
        return self.screen.query_one(AlphaBar).alpha

    @property
    def status(self) -> str:
        return self.screen.query_one("#status", LineBar).text

    @property
    def chips(self) -> str:
        return self.screen.query_one("#chips", LineBar).text

    @property
    def detail_text(self) -> str:
        return "\n".join(text_of(line) for line in self.detail.query_one(TextView).lines)

    @property
    def cursor_text(self) -> str:
        row = self.results.cursor_row
        return memory_of(row).excerpt if row is not None else ""

    @property
    def focused(self) -> str | None:
        return self.app.focused.id if self.app.focused else None

    def rows(self) -> list[str]:
        """The second line of each row in view, as far as there are rows."""
        lines = [self.results.render_line(y).text for y in range(self.results.size.height)]
        return [line.strip(" ▌✓") for line in lines[1::2] if line.strip(" ▌✓")]

    def painted(self) -> list[str]:
        """Every line of the terminal."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    async def settle(self) -> None:
        """Wait until what was asked for is there."""
        await settled(self.pilot, pause_s=max(QUICK_REST_S, DEBOUNCE_MS / 1000) + 0.02)

    async def press(self, *keys: str) -> None:
        """Press keys and wait for what they ask for."""
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text where the focus is."""
        await self.press(*(_KEYS.get(char, char) for char in text))

    async def ask(self, query: str) -> None:
        """Ask a query as the operator does."""
        await self.pilot.press("slash")
        self.box.set_query(query)
        await self.press("enter")
