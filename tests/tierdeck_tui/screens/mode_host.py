"""A mode's screen in the real app: keys are pressed on it, dialogs answered, what is painted is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from textual.pilot import Pilot
from textual.widgets import Input

from tests.tierdeck_tui.settled import QUICK_REST_S, settled, until
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.widgets.dialog_button import DialogButton

S = TypeVar("S", bound=FrameScreen)


class ModeHost(Generic[S]):
    """The screen `kind` of a running app, which `key` leads to."""

    kind: type[S]
    key: ClassVar[str]

    def __init__(self, app: TierdeckApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> S:
        """The screen, also while a dialog lies over it."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, self.kind))

    @property
    def told(self) -> str:
        """What the toasts say."""
        return "\n".join(toast.message for toast in self.app._notifications)

    def painted(self) -> str:
        """Every line of the terminal."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def settle(self) -> None:
        """Wait until what was asked for is there."""
        await settled(self.pilot, pause_s=QUICK_REST_S + 0.02)

    async def open(self) -> None:
        """Go to the screen."""
        await self.press(self.key)

    async def press(self, *keys: str) -> None:
        """Press keys and wait for what they ask for."""
        await self.pilot.press(*keys)
        await self.settle()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something that a thread brings about."""
        await until(self.pilot, is_so)

    async def asked(self, key: str) -> str:
        """What the dialog says that this key opens."""
        await self.pilot.press(key)
        await self.until(lambda: self.app.screen is not self.screen)
        await self.pilot.pause()
        await self.pilot.pause()
        return self.painted()

    async def confirm(self, typed: str = "", *, button: str = "confirm") -> None:
        """Press the dialog's own button, with this typed where something is asked for."""
        dialog = self.app.screen
        if typed:
            dialog.query_one("#reason", Input).value = typed
            await self.pilot.pause()
        dialog.query_one(f"#{button}", DialogButton).press()
        await self.until(lambda: self.app.screen is self.screen)
        await self.until(lambda: not any(w.group == "change" and not w.is_finished for w in self.app.workers))
        await self.settle()
