"""Checkpoints of a session on their way to disk: looked at on the agent's thread, written on another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import CodeType

from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.file.pack import Packed, pack
from tierdeck.checkpoint.file.snapshot import Snapshot, take_snapshot
from tierdeck.checkpoint.file.summary import Summary
from tierdeck.checkpoint.folder import SavedCheckpoint, SessionFolder
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.checkpoint.running.saver import BackgroundSaver
from tierdeck.checkpoint.running.troubles import Troubles, sentence
from tierdeck.errors import TierdeckError


@dataclass(frozen=True, slots=True)
class SaveReport:
    """What became of a checkpoint that was asked for: `saved`, or why it was not.

    `is_deferred`: asked for in the middle of a turn, it is made when the turn ends.
    """

    saved: SavedCheckpoint | None = None
    problem: str | None = None
    is_deferred: bool = False


class Saves:
    """Nothing here raises for what can't be looked at or written; `troubles` is told.

    Args:
        after_save: called on the background thread when a checkpoint is on disk; tidies up.
    """

    def __init__(
        self, folder: SessionFolder, troubles: Troubles, after_save: Callable[[SessionFolder], None] | None = None
    ) -> None:
        self._folder = folder
        self._troubles = troubles
        self._after_save = after_save
        self._saver = BackgroundSaver(self._write, troubles.save_failed)
        self._at_head: str | None = None
        self._last: Summary | None = None

    @property
    def last(self) -> Summary | None:
        """Of the checkpoint that was written last; None before the first."""
        return self._last

    def later(self, checkpoint: Checkpoint, source_text: Mapping[CodeType, str] | None = None) -> None:
        """Look now and write in the background; an earlier one that still waits is not written then."""
        snapshot = self._snapshot(checkpoint, source_text)
        if snapshot is not None:
            self._saver.submit(snapshot, is_automatic=True)

    def now(self, checkpoint: Checkpoint, source_text: Mapping[CodeType, str] | None = None) -> SaveReport:
        """Look and write, and wait until it is on disk."""
        self._saver.flush()  # at most one large state waits in memory
        snapshot = self._snapshot(checkpoint, source_text)
        if snapshot is None:
            return SaveReport(problem=self._troubles.save_problem)
        save = self._saver.submit(snapshot, is_automatic=False)
        self._saver.flush()
        return SaveReport(save.saved, save.problem)

    def flush(self) -> None:
        """Wait until what was handed over is written, or has failed."""
        self._saver.flush()

    def _snapshot(self, checkpoint: Checkpoint, source_text: Mapping[CodeType, str] | None) -> Snapshot | None:
        try:
            return take_snapshot(checkpoint, source_text=source_text, limits=AGENT_LIMITS)
        except Exception as e:  # noqa: BLE001  # a dict that another thread changes, memory: the agent goes on
            self._troubles.save_failed(e)
            return None

    def _write(self, snapshot: Snapshot) -> SavedCheckpoint:
        packed = pack(snapshot)
        if self._last is not None and self._last.branch == packed.summary.branch:
            # Only now is it known which of those before it came to disk.
            packed = replace(packed, summary=replace(packed.summary, parent=self._last.checkpoint_id))
        saved = self._folder.save(packed)
        self._last = packed.summary
        self._troubles.save_worked()
        try:
            self._have_head_follow(packed, saved)
            if self._after_save is not None:
                self._after_save(self._folder)
        except TierdeckError as e:
            self._troubles.tell(sentence(e))
        return saved

    def _have_head_follow(self, packed: Packed, saved: SavedCheckpoint) -> None:
        """A session that began anew is on a branch that HEAD, once it was switched, knows nothing of."""
        branch = packed.summary.branch
        if branch == self._at_head or packed.summary.reason == "pre-restore":
            return
        pointer = self._folder.head()
        if pointer is not None and pointer.branch != branch:
            self._folder.switch_head(saved.path.name, branch, expected_generation=pointer.generation)
        self._at_head = branch
