"""The console's application: its modes, its one action gate, and how it begins and ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.reactive import reactive

from tierdeck.config import Settings
from tierdeck.store import open_store
from tierdeck_tui.actions import BY_ID, bindings_for, checked_keymap
from tierdeck_tui.console import Console
from tierdeck_tui.modes import MODES, Mode
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.status import FrameStatus
from tierdeck_tui.themes import THEMES, textual_name


def run_console(store_path: Path, settings: Settings, read_only: bool) -> int:
    """Open the console on a store and stay until the operator leaves; gives the exit code."""
    checked_keymap(settings.console.keymap)
    app = TierdeckApp(Console(open_store(store_path, read_only=read_only), settings, read_only))
    app.run()
    app.deck.close()
    return app.return_code or 0


class TierdeckApp(App[None]):
    """The console. `status` is what the header shows."""

    CSS_PATH = "theme.tcss"
    TITLE = "tierdeck"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("app"))

    status: reactive[FrameStatus] = reactive(FrameStatus("", "ro"))

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.deck = console
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = textual_name(console.settings.console.theme)
        self.set_keymap(checked_keymap(console.settings.console.keymap))

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that there are, in the header's order."""
        return MODES

    @property
    def is_read_only(self) -> bool:
        """Whether writing actions are refused."""
        return self.deck.read_only

    def on_mount(self) -> None:
        self.status = FrameStatus(self.deck.store.path.name, self.deck.access)
        for mode in MODES:
            self.add_mode(mode.name, partial(mode.make, self.deck))
        self.switch_mode(MODES[0].name)

    def counted(self, memories: int) -> None:
        """Show how many memories the store has."""
        self.status = FrameStatus(self.status.store_name, self.status.access, memories)

    def go_to_mode(self, name: str) -> None:
        """Show a mode's screen as it was left."""
        if name in {mode.name for mode in MODES}:
            self.switch_mode(name)

    def open_search(self, query_text: str) -> None:
        """Show the Search screen with this query."""

    async def run_by_id(self, action_id: str) -> None:
        """Do what an action's key does."""
        await self.run_action(BY_ID[action_id].id, self.focused or self.screen)

    def action_mode_overview(self) -> None:
        """Show the Overview."""
        self.go_to_mode("overview")

    def action_reload(self) -> None:
        """Read the store again."""
        if isinstance(self.screen, FrameScreen):
            self.screen.reload()
