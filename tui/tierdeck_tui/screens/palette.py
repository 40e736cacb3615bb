"""The palette's source: our own actions and nothing else.

Textual parses a hit's help, and a title that is a string, as markup; ours are contents, for `[` is a key.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.actions import ACTIONS, Action
from tierdeck_tui.keys import key_text


class ActionProvider(Provider):
    """Offers every action that can be done where the palette was opened, one line each."""

    async def discover(self) -> Hits:
        """All of them, in the table's order."""
        for _, title, run in self._offers():
            yield DiscoveryHit(Content(title), run, text=title)

    async def search(self, query: str) -> Hits:
        """Those whose sentence or footer word fits what is typed."""
        matcher = self.matcher(query)
        for action, title, run in self._offers():
            score = max(matcher.match(title), matcher.match(action.label))
            if score > 0:
                yield Hit(score, matcher.highlight(title), run, text=title)

    def _offers(self) -> Iterator[tuple[Action, str, Callable[[], Awaitable[None]]]]:
        app = cast("ActionApp", self.app)
        origin = self.focused or self.screen
        for action in ACTIONS:
            if action.in_palette and app.node_for(action.id, origin) is not None:
                keys = " ".join(key_text(key) for key in app.keys_for(action))
                refused = " · read-only" if action.writes and app.is_read_only else ""
                yield action, f"{action.tooltip}  ({keys}){refused}", partial(app.run_by_id, action.id, origin)
