"""The checkpoints of one session on disk: saved, listed, marked; each change under the session's lock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tierdeck.checkpoint.file.pack import Packed
from tierdeck.checkpoint.file.publish import publish
from tierdeck.checkpoint.file.seal import seal
from tierdeck.checkpoint.folder.disk import disk_errors
from tierdeck.checkpoint.folder.head_pointer import read_head_pointer
from tierdeck.checkpoint.folder.listing import Listed, Owner, file_names, list_files, list_one
from tierdeck.checkpoint.folder.locks import WAIT_S, locked
from tierdeck.checkpoint.folder.marks import Marks, checked_label, read_marks, write_marks
from tierdeck.checkpoint.folder.names import (
    LOCK_FILE,
    MAX_SEQUENCE,
    TRASH_FOLDER,
    FileName,
    parse_file_name,
    parse_trash_name,
)
from tierdeck.checkpoint.folder.tip import current_head, tip_of
from tierdeck.checkpoint.folder.verified import read_verified
from tierdeck.checkpoint.folder.verify import verify
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, Limits
from tierdeck.errors import (
    CheckpointError,
    InvalidValueError,
    NotFoundError,
)


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint that was written and will be there after a power cut."""

    path: Path
    sequence: int
    size_bytes: int


class Skipped(NamedTuple):
    """A checkpoint that was passed over, and why."""

    file: str
    why: str


class StoredCheckpoints:
    """The checkpoints in one session's folder; the part of `SessionFolder` that has to do with files."""

    def __init__(
        self,
        path: Path,
        session_id: str,
        *,
        limits: Limits = CONSOLE_LIMITS,
        key: bytes | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.path = path
        self.session_id = session_id
        self.limits = limits
        self.key = key
        self.clock_ns = clock_ns
        self.lock_wait_s = WAIT_S
        self._owner = Owner(session_id, limits)

    def listed(self) -> list[Listed]:
        """All checkpoints by sequence, oldest first. 4 KB of each are read and nothing is verified.

        Marks or a HEAD that can't be read are left out here; `problems` names them.

        Raises:
            CheckpointError: the folder can't be read, or is gone.

        Spec: SPEC-09.22
        """
        found = list_files(self.path, self._owner, read_verified(self.path))
        try:
            tip = tip_of(found, read_head_pointer(self.path))
        except CheckpointError:
            tip = None
        _mark(found, self._readable_marks(), tip)
        return found

    def listed_one(self, file: str) -> Listed | None:
        """One of them; None when it is not there. Raises as `listed`."""
        if parse_file_name(file) is None:
            return None
        found = list_one(self.path / file, self._owner, read_verified(self.path))
        if found is None:
            return None
        try:
            pointer = current_head(self.path, self._owner)
        except CheckpointError:
            pointer = None
        _mark([found], self._readable_marks(), None if pointer is None else pointer.file)
        return found

    def problems(self) -> list[str]:
        """What is wrong with the small files beside the checkpoints; empty when nothing is."""
        found = []
        for read in (read_marks, read_head_pointer):
            try:
                read(self.path)
            except CheckpointError as e:
                found.append(e.message)
        return found

    def save(self, packed: Packed) -> SavedCheckpoint:
        """Write a checkpoint as the newest of its session: there whole, or not at all; with the folder's key.

        The order is that in which saves come here, by the sequence in the name; clocks play no part.

        Args:
            packed: of this session.

        Raises:
            InvalidValueError: it is of another session, or its id or label can't be listed.
            CheckpointError: the disk is full, the folder can't be written or is gone, or the lock was not given
                within 30 s. Nothing is left behind; the checkpoints before it are as they were.

        Spec: SPEC-09.22
        """
        summary = packed.summary
        if summary.session_id != self.session_id:
            raise InvalidValueError(
                f"save checkpoint: it is of session {summary.session_id[:80]!r}, "
                f"this is the folder of {self.session_id[:80]!r}"
            )
        sealed = seal(packed, key=self.key)
        with self.locked():
            name = FileName(self._next_sequence(), summary.turn, summary.checkpoint_id[:8])
            path = self.path / str(name)
            publish(path, sealed.pieces)
        return SavedCheckpoint(path, name.sequence, sealed.file_bytes)

    def newest_good(self, limits: Limits = CONSOLE_LIMITS) -> tuple[Listed | None, tuple[Skipped, ...]]:
        """The newest checkpoint that verifies, and those newer than it that do not, newest first.

        Only what has not been verified as it is gets read. Raises as `listed`.
        """
        skipped = []
        for each in reversed(self.listed()):
            if each.summary is None:
                skipped.append(Skipped(each.file, each.why or each.state))
                continue
            try:
                result = verify(each.path, limits, key=self.key)
            except (CheckpointError, NotFoundError) as e:
                skipped.append(Skipped(each.file, e.message))
                continue
            if result.state == "ok":
                each.set_ok()
                return each, tuple(skipped)
            skipped.append(Skipped(each.file, result.why or result.state))
        return None, tuple(skipped)

    def set_label(self, file: str, label: str | None) -> None:
        """Give a checkpoint a label, or take it away; the file itself stays as it was.

        Raises:
            InvalidValueError: the label is blank or longer than 200 characters.
            NotFoundError: no such checkpoint is there.
            DamagedCheckpointError: the marks can't be read; they are as they were.
            CheckpointError: the disk refuses; the marks are as they were.
        """
        checked_label(label)
        self._change_marks(file, lambda marks: replace(marks, labels={**marks.labels, file: label}))

    def set_pin(self, file: str, is_pinned: bool) -> None:
        """Have retention never touch a checkpoint, or let it again. Raises as `set_label`."""
        self._change_marks(
            file, lambda marks: replace(marks, pins=marks.pins | {file} if is_pinned else marks.pins - {file})
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The session's lock. It is not given twice, also not to the same thread. Raises as `locks.locked`."""
        with locked(self.path / LOCK_FILE, wait_s=self.lock_wait_s):
            yield

    def _change_marks(self, file: str, change: Callable[[Marks], Marks]) -> None:
        with self.locked():
            self.check_is_there(file)
            write_marks(self.path, change(read_marks(self.path)))

    def _readable_marks(self) -> Marks:
        try:
            return read_marks(self.path)
        except CheckpointError:
            return Marks()

    def check_is_there(self, file: str) -> None:
        """Raises NotFoundError when the folder has no checkpoint of that name."""
        if parse_file_name(file) is None or not os.path.lexists(self.path / file):
            raise NotFoundError(f"find checkpoint {file[:80]!r}: session {self.session_id[:80]!r} has none")

    def _next_sequence(self) -> int:
        """One more than the greatest given so far, also to what lies in the trash or is gone from it."""
        given = [name.sequence for name, _ in file_names(self.path)]
        with disk_errors(f"list trash of {self.path}"), suppress(FileNotFoundError):
            trashed = map(parse_trash_name, os.listdir(self.path / TRASH_FOLDER))
            given += [both[1].sequence for both in trashed if both is not None]
        last = max([*given, self._readable_marks().highest_sequence])
        if last >= MAX_SEQUENCE:
            raise CheckpointError(
                f"save checkpoint: one in {self.path} has the sequence {last:,}, which is the last there is",
                hint="a file with so high a number was put there by hand: move it away",
            )
        return last + 1


def _mark(found: list[Listed], marks: Marks, tip: str | None) -> None:
    if not marks.labels and not marks.pins:
        marked = [each for each in found[-1:] if each.file == tip] or [each for each in found if each.file == tip]
    else:
        marked = found
    for each in marked:
        each.is_head = each.file == tip
        each.is_pinned = each.file in marks.pins
        if each.file in marks.labels:
            each.set_label(marks.labels[each.file])
