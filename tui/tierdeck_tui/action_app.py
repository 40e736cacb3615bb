"""The application as its screens and widgets know it: one gate that every action passes, and what is said.

Screens and widgets import this and nothing above it; the application itself imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import events
from textual.actions import ActionParseResult
from textual.app import App
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.notifications import SeverityLevel
from textual.reactive import reactive

from tierdeck.errors import TierdeckError
from tierdeck_tui.actions import BY_ID, Action, bindings_for, checked_keymap, keys_of
from tierdeck_tui.clipboard import write_copied
from tierdeck_tui.key_order import KeyOrder
from tierdeck_tui.status import FrameStatus
from tierdeck_tui.view.sanitise import visible

ERROR_TOAST_S = 10.0


class ActionApp(App[None]):
    """What a screen may ask of its application. `status` is what the header shows on every screen.

    Args:
        keymap: the settings' changes of keys, by action id.
        ansi_color: as Textual has it: only the terminal's own colours.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("app"))
    status: reactive[FrameStatus] = reactive(FrameStatus("", ""))

    def __init__(self, keymap: Mapping[str, str], *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        # A dialog must not be confirmed by the key that opened it; the time is the event's, when it was pressed.
        self.last_key = ""
        self.last_key_at_s = 0.0
        self.own_keymap = checked_keymap(keymap)
        self.set_keymap(self.own_keymap)
        self._key_order = KeyOrder(self, self._hand_on)

    @property
    def is_read_only(self) -> bool:
        """Whether actions that write are refused."""
        return True

    @property
    def read_only_reason(self) -> str:
        """Why they are, and what to do about it."""
        return "the store is read-only"

    # Actions: one gate for keys, footer and palette

    def keys_for(self, action: Action) -> tuple[str, ...]:
        """The keys that an action answers to, the settings' changes applied."""
        return keys_of(action, self.own_keymap)

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
            self.last_key, self.last_key_at_s = event.key, event.time
        await super().on_event(event)

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
