"""The application without a store: its looks, palette, help, small terminals, how it is left, crashes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from textual import events
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.geometry import Size
from textual.widgets import Input, TextArea
from textual.worker import WorkerFailed

from tierdeck.config import ConsoleSettings
from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.log_file import log
from tierdeck_tui.screens.help import HelpScreen
from tierdeck_tui.screens.palette import ActionProvider
from tierdeck_tui.screens.too_small import TooSmallScreen, is_too_small
from tierdeck_tui.themes import THEME_NAMES, THEMES, textual_name

TWICE_WITHIN_S = 2.0


class ShellApp(ActionApp):
    """What every screen lives in. `failure` is what ended the app, when that was an error."""

    CSS_PATH = Path(__file__).with_name("theme.tcss")  # absolute: a subclass may stand in another folder
    TITLE = "tierdeck"
    ENABLE_COMMAND_PALETTE = False  # Textual would bind its key without an id; our action opens it

    def __init__(self, settings: ConsoleSettings) -> None:
        # Told at once, for Textual chooses its NO_COLOR filter here: the one for other themes paints greys.
        super().__init__(settings.keymap, ansi_color=True if "NO_COLOR" in os.environ else None)
        self.failure: Exception | None = None
        self._interrupted_at_s = -TWICE_WITHIN_S
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = textual_name("ansi" if self.no_color else settings.theme)

    def on_mount(self) -> None:
        """Paint again after `fg`: Textual takes the terminal back and leaves it empty."""
        self.app_resume_signal.subscribe(self, self._paint_again)

    def _paint_again(self, _: object) -> None:
        self.screen.refresh(layout=True, repaint=True, recompose=False)

    def action_help(self) -> None:
        """Show all keys."""
        self.push_screen(HelpScreen(self.own_keymap, is_read_only=self.is_read_only))

    def action_palette(self) -> None:
        """Open the palette."""
        self.push_screen(CommandPalette([ActionProvider], placeholder="Find an action…"))

    def action_change_theme(self) -> None:
        """The next look; with NO_COLOR there is only one."""
        names = [textual_name(name) for name in THEME_NAMES]
        if self.no_color:
            self.notify("NO_COLOR is set: only the terminal's own colours are used")
        else:
            self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def action_quit_now(self) -> None:
        """Leave, from anywhere."""
        self.exit()

    def action_interrupt(self) -> None:
        """Copy what is selected; pressed twice within two seconds: leave."""
        now = time.monotonic()
        if now - self._interrupted_at_s < TWICE_WITHIN_S:
            self.exit()
            return
        self._interrupted_at_s = now
        selected = self._selected_text()
        if selected:
            self.copy_out(selected, "the selection")
        else:
            self.notify("ctrl+c again leaves", timeout=TWICE_WITHIN_S)

    def action_suspend(self) -> None:
        """Stop, as ctrl+z does elsewhere; the shell's `fg` returns."""
        self.action_suspend_process()

    def _selected_text(self) -> str:
        focused = self.focused
        if isinstance(focused, Input | TextArea) and focused.selected_text:
            return focused.selected_text
        return self.screen.get_selected_text() or ""

    # Small terminals

    def on_resize(self, event: events.Resize) -> None:
        """Cover everything while the terminal is too small, and uncover it when it has grown."""
        self.fit_size(event.size)

    def fit_size(self, size: Size) -> None:
        """Cover or uncover the screens of the current mode as this size of the terminal asks."""
        top = self.screen
        if not is_too_small(size):
            if isinstance(top, TooSmallScreen):
                self.pop_screen()
        elif isinstance(top, TooSmallScreen):
            top.show_size(size)
        else:
            self.push_screen(TooSmallScreen(size))

    # Crashes

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own report prints every local variable, memories too, raw to the terminal.
        cause = error.error if isinstance(error, WorkerFailed) and isinstance(error.error, Exception) else error
        if isinstance(cause, NoMatches) and (self._exit or not self._running):
            # While the screens are taken down, a worker's last message finds its widgets gone.
            log.info("a message came after the end: %s", cause)
            return
        if self.failure is None:
            self.failure = cause
        log.error("the console ends on an error", exc_info=cause)
        super()._handle_exception(error)
        self._exit_renderables.clear()

    def _print_error_renderables(self) -> None:
        # What is left here never passed `_handle_exception`: errors in the style sheet and in the input thread.
        if self._exit_renderables:
            text = "".join(segment.text for part in self._exit_renderables for segment in self.console.render(part))
            log.error("the console ends: %s", text)
            if self.failure is None:
                self.failure = RuntimeError("the terminal's input failed or a style sheet is wrong")
            self._exit_renderables.clear()
