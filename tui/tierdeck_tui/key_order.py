"""Keys one after the other: the next is looked at when the one before has had its whole effect.

Textual hands a key to the widget that has the focus at the moment it arrives, and what the key before has set off
(a binding found only after bubbling up to the app, a focus change, a screen pushed) comes later. In a burst, as
over a slow line, `/postgres` would open the box after `postgres` had gone to the list, each letter as a command.
Here a key that arrives while another is under way waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from textual import events
from textual.app import App
from textual.dom import DOMNode

InputEvent = events.Key | events.Paste

# A key's effect bubbles from the focused widget up to the app; what an action sets off there (focus, messages)
# takes the same way a second time.
CLIMBS = 2
# A widget that is removed while a key is on its way up takes the key's trace with it.
PATIENCE_S = 0.5


class KeyOrder:
    """Lets one key through at a time. `hand_on` gives it to the widget that has the focus."""

    def __init__(self, app: App[None], hand_on: Callable[[InputEvent], Awaitable[None]]) -> None:
        self._app = app
        self._hand_on = hand_on
        self._waiting: deque[InputEvent] = deque()
        self._turn = 0
        self._is_busy = False

    async def take(self, event: InputEvent) -> None:
        """Hand the key on, now or when those before it are through."""
        if self._is_busy:
            if not self._waiting:
                self._app.set_timer(PATIENCE_S, partial(self._app.call_later, self._end, self._turn))
            self._waiting.append(event)
            return
        self._is_busy = True
        await self._begin(event)

    async def _begin(self, event: InputEvent) -> None:
        self._turn += 1
        start = self._app.focused or self._app.screen
        await self._hand_on(event)
        self._climb(start, self._turn, CLIMBS)

    def _climb(self, node: DOMNode, turn: int, climbs: int) -> None:
        """Follow the key: behind it in every queue that it passes, from the widget up to the app."""
        if node is self._app:
            if climbs > 1:
                self._app.call_later(self._climb, self._app.focused or self._app.screen, turn, climbs - 1)
            else:
                self._app.call_later(self._end, turn)
            return
        above = node.parent if isinstance(node.parent, DOMNode) else self._app
        if not node.call_later(self._climb, above, turn, climbs):
            self._climb(above, turn, climbs)

    async def _end(self, turn: int) -> None:
        if turn != self._turn or not self._is_busy:
            return
        if not self._waiting:
            self._is_busy = False
            return
        event = self._waiting.popleft()
        if self._waiting:
            self._app.set_timer(PATIENCE_S, partial(self._app.call_later, self._end, turn + 1))
        await self._begin(event)
