"""The application without a store: keys and the gate they pass, toasts, palette, help, small terminals, crashes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.actions import ActionParseResult
from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.widgets import Input, TextArea
from textual.worker import WorkerFailed

from tierdeck.config import ConsoleSettings
from tierdeck.errors import TierdeckError
from tierdeck_tui.actions import BY_ID, Action, bindings_for, checked_keymap, keys_of
from tierdeck_tui.clipboard import write_copied
from tierdeck_tui.key_order import KeyOrder
from tierdeck_tui.log_file import log
from tierdeck_tui.screens.help import HelpScreen
from tierdeck_tui.screens.palette import ActionProvider
from tierdeck_tui.screens.too_small import TooSmallScreen, is_too_small
from tierdeck_tui.themes import THEME_NAMES, THEMES, textual_name
from tierdeck_tui.view.sanitise import visible

TWICE_WITHIN_S = 2.0
ERROR_TOAST_S = 10.0


class ShellApp(App[None]):
    """What every screen lives in. `failure` is what ended the app, when that was an error."""

    CSS_PATH = Path(__file__).with_name("theme.tcss")  # absolute: a subclass may stand in another folder
    TITLE = "tierdeck"
    ENABLE_COMMAND_PALETTE = False  # Textual would bind its key without an id; our action opens it
    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("app"))

    def __init__(self, settings: ConsoleSettings) -> None:
        # Told at once, for Textual chooses its NO_COLOR filter here: the one for other themes paints greys.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.failure: Exception | None = None
        self.last_key = ""  # a dialog must not be confirmed by the key that opened it
        self._key_order = KeyOrder(self, self._hand_on)
        self._interrupted_at_s = -TWICE_WITHIN_S
        self._own_keymap = checked_keymap(settings.keymap)
        self.set_keymap(self._own_keymap)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = textual_name("ansi" if self.no_color else settings.theme)

    @property
    def is_read_only(self) -> bool:
        """Whether actions that write are refused."""
        return True

    @property
    def read_only_reason(self) -> str:
        """Why they are, and what to do about it."""
        return "the store is read-only"

    def on_mount(self) -> None:
        """Paint again after `fg`: Textual takes the terminal back and leaves it empty."""
        self.app_resume_signal.subscribe(self, self._paint_again)

    def _paint_again(self, _: object) -> None:
        self.screen.refresh(layout=True, repaint=True, recompose=False)

    # Actions: one gate for keys, footer and palette

    def keys_for(self, action: Action) -> tuple[str, ...]:
        """The keys that an action answers to, the settings' changes applied."""
        return keys_of(action, self._own_keymap)

    def node_for(self, action_id: str, origin: DOMNode) -> DOMNode | None:
        """Who does the action when it is asked for at `origin`: that widget or one around it; None: nobody."""
        for node in origin.ancestors_with_self:
            if hasattr(node, f"action_{action_id}"):
                return node
        return None

    async def run_by_id(self, action_id: str, origin: DOMNode | None = None) -> None:
        """Do what the action's key does at `origin`, by default where the focus is."""
        node = self.node_for(action_id, origin or self.focused or self.screen)
        if node is not None:
            await self.run_action(action_id, node)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do an action; one that writes is refused, and said so, where the store is read-only."""
        found = BY_ID.get(action) if isinstance(action, str) else None
        if found is not None and found.writes and self.is_read_only:
            self.notify(f"{found.label}: {self.read_only_reason}", severity="warning")
            return True
        return await super().run_action(action, default_namespace, namespaces)

    async def on_event(self, event: events.Event) -> None:
        """Let keys and pastes through one after the other."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._key_order.take(event)
        else:
            await super().on_event(event)

    async def _hand_on(self, event: events.Key | events.Paste) -> None:
        if isinstance(event, events.Key):
            self.last_key = event.key
        await super().on_event(event)

    def action_help(self) -> None:
        """Show all keys."""
        self.push_screen(HelpScreen(self._own_keymap, is_read_only=self.is_read_only))

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

    # What is said

    def copy_out(self, text: str, what: str) -> None:
        """Copy a text by the terminal's own sequence, and into a file for terminals that refuse it."""
        self.copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))  # a lone surrogate would raise
        path = write_copied(text)
        also = f"; also written to {path}" if path else ""
        self.notify(f"copied {what} ({len(text):,} characters){also}")

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002 - never: a message may quote anybody's text
    ) -> None:
        """Show a toast. The text may be anybody's: it is shown literally."""
        title = visible(title or ("" if severity == "information" else severity), one_line=True)
        super().notify(visible(message), title=title, severity=severity, timeout=timeout, markup=False)

    def show_error(self, error: TierdeckError) -> None:
        """Show an error as one: what failed, and what to do."""
        hint = f"\n{error.hint}" if error.hint else ""
        self.notify(error.message + hint, severity="error", timeout=ERROR_TOAST_S)

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
