"""Taking back: the last change made here, or the newest of the memory looked at, be it a move or an edit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from textual import work

from tierdeck.errors import TierdeckError
from tierdeck.model import Node, Revision
from tierdeck.promote.moves.undo import undo_move, undoable
from tierdeck.promote.records import LogEntry
from tierdeck.store import get_node, revisions, undo
from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.view.change_preview import undo_preview
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.newest_deed import Deed, newest_deed

DeedKey = tuple[type[Deed], int]


class UndoActionsScreen(FrameScreen):
    """A screen whose changes can be taken back. Subclasses say what is looked at, and read again what changed."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.deck = console
        # What the last change made here was, by memory; forgotten once it was offered to be taken back.
        self._last_change: Mapping[str, DeedKey] = {}

    def subject_id(self) -> str | None:
        """The memory that is looked at."""
        raise NotImplementedError

    def subject_entry(self) -> LogEntry | None:
        """The row of the promotion log that is looked at; only the Promotions screen has one."""
        return None

    def changed(self) -> None:
        """Read again what a change may have moved."""
        raise NotImplementedError

    def action_undo(self) -> None:
        """Take back the last change made here; once that was offered, the last one of the memory looked at."""
        self._undo(self.subject_id(), self.subject_entry())

    @property
    def shell(self) -> ActionApp:
        """The application."""
        return cast("ActionApp", self.app)

    async def changed_here(self, ids: Sequence[str], message: str) -> None:
        """Say what was done, and remember it for `u`."""
        self._last_change = {node.id: _key(change) for node, change in await self._standing(ids)}
        self.done(f"{message}; u takes it back" if self._last_change else message)

    def done(self, message: str) -> None:
        """Say what was done, and show what came of it."""
        self.notify(message)
        self.changed()

    @work(group="change", description="change memories")
    async def _undo(self, node_id: str | None, entry: LogEntry | None) -> None:
        last, self._last_change = self._last_change, {}
        try:
            changes = [
                (node, change) for node, change in await self._standing(last) if last[node.id] == _key(change)
            ]
            is_elsewhere = bool(changes) and all(node.id != node_id for node, _ in changes)
            if not changes and node_id is not None:
                changes = await (self._standing([node_id]) if entry is None else self._at_row(entry))
                if not changes:
                    self.notify("no change of this memory stands that could be taken back")
            if not changes or not await self._confirm_undo(changes, is_elsewhere=is_elsewhere):
                return
            await asyncio.to_thread(self._take_back, changes, self.deck.operator())
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            [(_, first), *others] = changes
            also = f" and {counted(len(others), 'more', 'more')}" if others else ""
            self.done(f"took back #{first.id}{also}")

    async def _confirm_undo(self, changes: Sequence[tuple[Node, Deed]], *, is_elsewhere: bool) -> bool:
        many = counted(len(changes), "memory", "memories")
        title = f"Undo a change of {changes[0][0].short_id if len(changes) == 1 else many}"
        text = undo_preview(changes)
        if is_elsewhere:
            text += "\n\nIt is the last change made here. After Cancel, undo means the memory you look at."
        is_sure = await self.app.push_screen_wait(ConfirmDialog(title, text, confirm="Take back"))
        return is_sure is True

    async def _standing(self, ids: Iterable[str]) -> list[tuple[Node, Deed]]:
        """The change of each memory that an undo would take back; a memory without one is left out."""

        def read() -> list[tuple[Node, Deed]]:
            store = self.deck.store
            found: list[tuple[Node, Deed]] = []
            for node_id in ids:
                deed = newest_deed(revisions(store, node_id), undoable(store, node_id))
                if deed is not None:
                    found.append((get_node(store, node_id), deed))
            return found

        return await asyncio.to_thread(read)

    async def _at_row(self, entry: LogEntry) -> list[tuple[Node, Deed]]:
        """That row's own move, which the library refuses, with the reason, where it no longer stands."""
        return [(await asyncio.to_thread(get_node, self.deck.store, entry.node_id), entry)]

    def _take_back(self, changes: Sequence[tuple[Node, Deed]], actor: str) -> None:
        with self.deck.store.writing():  # all or none
            for node, change in changes:
                if isinstance(change, Revision):
                    undo(self.deck.store, node.id, actor=actor, revision_id=change.id)
                else:
                    undo_move(self.deck.store, node.id, actor=actor, log_id=change.id)


def _key(change: Deed) -> DeedKey:
    return type(change), change.id
