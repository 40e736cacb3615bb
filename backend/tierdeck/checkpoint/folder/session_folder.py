"""One session's folder: its checkpoints, where it stands, and what people have marked.

    folder = open_session_folder(checkpoints_root(), "agent-7", create=True)
    saved = folder.save(pack_checkpoint(checkpoint))
    folder.listed()[-1].file == saved.path.name

Whatever changes the folder does so under its lock, which waits for other processes; reading takes no lock and
writes nothing, so a folder that can only be read can be looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tierdeck.checkpoint.folder.disk import disk_errors, read_json, replace_json, sweep
from tierdeck.checkpoint.folder.head_pointer import (
    HeadPointer,
    is_branch,
    next_generation,
    read_head_pointer,
    write_head_pointer,
)
from tierdeck.checkpoint.folder.lease import LEASE_FILE, Lease, take_lease
from tierdeck.checkpoint.folder.listing import Listed, file_names, list_files, list_one
from tierdeck.checkpoint.folder.locks import is_locked, locked
from tierdeck.checkpoint.folder.marks import Marks, checked_label, read_marks, write_marks
from tierdeck.checkpoint.folder.names import FileName, parse_file_name, session_folder_name
from tierdeck.checkpoint.folder.tip import current_head, tip_of
from tierdeck.checkpoint.folder.verified import read_verified
from tierdeck.checkpoint.folder.verify import verify
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, Limits
from tierdeck.checkpoint.pack import Packed
from tierdeck.checkpoint.publish import TEMP_PREFIX, publish
from tierdeck.checkpoint.seal import seal
from tierdeck.errors import (
    CheckpointError,
    ConflictError,
    DamagedCheckpointError,
    InvalidValueError,
    NotFoundError,
)

LOCK_FILE = "lock"
SESSION_FILE = "session.json"
TRASH = "trash"


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


class SessionFolder:
    """An open session's folder; made by `open_session_folder`. Any number of processes may have one."""

    def __init__(self, path: Path, session_id: str, *, limits: Limits = CONSOLE_LIMITS) -> None:
        self.path = path
        self.session_id = session_id
        self.limits = limits

    def listed(self) -> list[Listed]:
        """All checkpoints by sequence, oldest first. 4 KB of each are read and nothing is verified.

        Marks or a HEAD that can't be read are left out here; `problems` names them.

        Raises:
            CheckpointError: the folder can't be read, or is gone.

        Spec: SPEC-09.22
        """
        found = list(list_files(self.path, self.session_id, self.limits, read_verified(self.path)))
        try:
            tip = tip_of(found, read_head_pointer(self.path))
        except DamagedCheckpointError:
            tip = None
        marks = self._readable_marks()
        return [_marked(each, marks, tip) for each in found]

    def listed_one(self, file: str) -> Listed | None:
        """One of them; None when it is not there. Raises as `listed`."""
        if parse_file_name(file) is None:
            return None
        known = read_verified(self.path).get(file)
        found = list_one(self.path / file, self.limits, known, session_id=self.session_id)
        if found is None:
            return None
        try:
            pointer = current_head(self.path, self.session_id, self.limits)
        except DamagedCheckpointError:
            pointer = None
        return _marked(found, self._readable_marks(), None if pointer is None else pointer.file)

    def problems(self) -> list[str]:
        """What is wrong with the small files beside the checkpoints; empty when nothing is."""
        found = []
        for read in (read_marks, read_head_pointer):
            try:
                read(self.path)
            except CheckpointError as e:
                found.append(e.message)
        return found

    def save(self, packed: Packed, *, key: bytes | None = None) -> SavedCheckpoint:
        """Write a checkpoint as the newest of its session: there whole, or not at all.

        The order is that in which saves come here, by the sequence in the name; clocks play no part.

        Args:
            packed: of this session.
            key: the operator's, for a trailer nobody else can make.

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
        sealed = seal(packed, key=key)
        with self.locked():
            name = FileName(self._last_sequence() + 1, summary.turn, summary.checkpoint_id[:8])
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
            result = verify(each.path, limits)
            if result.state == "ok":
                return replace(each, state="ok", why=None), tuple(skipped)
            skipped.append(Skipped(each.file, result.why or result.state))
        return None, tuple(skipped)

    def head(self) -> HeadPointer | None:
        """Where the session goes on: HEAD, moved on by what was saved on its branch; None for an empty session.

        Without a HEAD file it is the newest checkpoint in generation 0. When the HEAD file can't be read it is the
        newest checkpoint that verifies, generation -1, and `problem` says so. Raises as `listed`.
        """
        try:
            return current_head(self.path, self.session_id, self.limits)
        except DamagedCheckpointError as e:
            good, _ = self.newest_good(self.limits)
            if good is None or good.summary is None:
                return None
            problem = f"{e.message}; {good.file} is the newest checkpoint that verifies"
            return HeadPointer(good.file, good.summary.branch, -1, None, problem)

    def switch_head(
        self, file: str, branch: str, *, expected_generation: int, last_request: str | None = None
    ) -> HeadPointer:
        """Have the session go on from another checkpoint, on that branch; after a crash it is done or not.

        Args:
            file: a checkpoint of this session.
            branch: 8 hex digits; a new one, or what is saved next would seem to follow what it does not.
            expected_generation: HEAD's, as the caller saw it.
            last_request: the id of the request this fulfils.

        Raises:
            ConflictError: HEAD was switched since; it is as it was.
            NotFoundError: no such checkpoint is there.
            InvalidValueError: the branch is none.
            CheckpointError: the disk refuses; HEAD is as it was.
        """
        if not is_branch(branch):
            raise InvalidValueError(f"switch HEAD: {branch[:40]!r} is no branch, that is 8 hex digits")
        with self.locked():
            self._check_is_there(file)
            seen = self._generation()
            if seen != expected_generation:
                raise ConflictError(
                    f"switch HEAD: it was switched since (generation {seen}, seen was {expected_generation})",
                    hint="look at the session again",
                )
            pointer = HeadPointer(file, branch, next_generation(seen), last_request)
            write_head_pointer(self.path, pointer)
        return pointer

    def set_label(self, file: str, label: str | None) -> None:
        """Give a checkpoint a label, or take it away; the file itself stays as it was.

        Raises:
            InvalidValueError: the label is blank or longer than 200 characters.
            NotFoundError: no such checkpoint is there.
            DamagedCheckpointError: the marks can't be read; they are as they were.
            CheckpointError: the disk refuses; the marks are as they were.
        """
        checked_label(label)
        self._mark(file, lambda marks: replace(marks, labels={**marks.labels, file: label}))

    def set_pin(self, file: str, is_pinned: bool) -> None:
        """Have retention never touch a checkpoint, or let it again. Raises as `set_label`."""
        self._mark(
            file, lambda marks: replace(marks, pins=marks.pins | {file} if is_pinned else marks.pins - {file})
        )

    def try_lease(self) -> Lease | None:
        """The lease of the agent that runs this session; None when another process has it. Never waits.

        It is given back by `release`, at the end of `with`, or by the kernel when the process ends. What crashed
        processes left in the folder is swept.

        Raises:
            CheckpointError: the folder can't be written, or is gone.
        """
        lease = take_lease(self.path)
        if lease is not None:
            try:
                with self.locked():
                    sweep(self.path, (TEMP_PREFIX,))
            except BaseException:
                lease.release()
                raise
        return lease

    def is_live(self) -> bool:
        """Whether a process holds the lease now. Raises CheckpointError when that can't be told."""
        return is_locked(self.path / LEASE_FILE)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The session's lock. It is not given twice, also not to the same thread. Raises as `locks.locked`."""
        with locked(self.path / LOCK_FILE):
            yield

    def _mark(self, file: str, change: Callable[[Marks], Marks]) -> None:
        with self.locked():
            self._check_is_there(file)
            write_marks(self.path, change(read_marks(self.path)))

    def _readable_marks(self) -> Marks:
        try:
            return read_marks(self.path)
        except DamagedCheckpointError:
            return Marks()

    def _check_is_there(self, file: str) -> None:
        if parse_file_name(file) is None or not os.path.lexists(self.path / file):
            raise NotFoundError(f"find checkpoint {file[:80]!r}: session {self.session_id[:80]!r} has none")

    def _generation(self) -> int:
        try:
            pointer = read_head_pointer(self.path)
        except DamagedCheckpointError:
            return -1
        return 0 if pointer is None else pointer.generation

    def _last_sequence(self) -> int:
        """The greatest given so far, also to what lies in the trash or is gone from it."""
        given = [name.sequence for name, _ in file_names(self.path)]
        return max(given, default=0)


def open_session_folder(
    root: Path, session_id: str, *, create: bool = False, limits: Limits = CONSOLE_LIMITS
) -> SessionFolder:
    """The folder of a session.

    Args:
        session_id: any text of 1 to 1,024 bytes; it never becomes part of a path.
        create: make it, for its owner alone, when it is not there.

    Raises:
        NotFoundError: there is none and it was not to be made.
        InvalidValueError: the id is empty or too long.
        CheckpointError: it can't be made or read, or a link or file is in its place.

    Spec: SPEC-09.22
    """
    path = root / session_folder_name(session_id)
    if create:
        with disk_errors(f"make session folder {path}"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_folder(path, session_id)
    if create and read_json(path / SESSION_FILE) is None:
        replace_json(path / SESSION_FILE, {"format": 1, "session_id": session_id})
    return SessionFolder(path, session_id, limits=limits)


def _check_folder(path: Path, session_id: str) -> None:
    with disk_errors(f"open session folder {path}"):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError as e:
            raise NotFoundError(f"open session {session_id[:80]!r}: it has no checkpoints in {path.parent}") from e
    if not stat.S_ISDIR(mode):
        raise CheckpointError(f"open session folder {path}: it is no folder", hint="a link is not followed")


def _marked(each: Listed, marks: Marks, tip: str | None) -> Listed:
    own = None if each.summary is None else each.summary.label
    label = marks.labels.get(each.file, own)
    is_pinned, is_head = each.file in marks.pins, each.file == tip
    if label is None and not is_pinned and not is_head:
        return each
    return replace(each, label=label, is_pinned=is_pinned, is_head=is_head)
