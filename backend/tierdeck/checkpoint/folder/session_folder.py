"""One session's folder: its checkpoints, where it stands, and what people have marked.

    folder = open_session_folder(checkpoints_root(), "agent-7", create=True)
    saved = folder.save(pack_checkpoint(checkpoint))
    folder.listed()[-1].file == saved.path.name

Whatever changes the folder does so under its lock, which waits for other processes; reading takes no lock and
writes nothing but what verification remembers, so a folder that can only be read can be looked at.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tierdeck.checkpoint.file.publish import TEMP_PREFIX
from tierdeck.checkpoint.folder.disk import disk_errors, read_json, replace_json, sweep
from tierdeck.checkpoint.folder.head_pointer import (
    HeadPointer,
    is_branch,
    next_generation,
    read_head_pointer,
    write_head_pointer,
)
from tierdeck.checkpoint.folder.lease import LEASE_FILE, Lease, take_lease
from tierdeck.checkpoint.folder.locks import is_locked
from tierdeck.checkpoint.folder.names import SESSION_FILE, session_folder_name
from tierdeck.checkpoint.folder.requests import (
    ANSWER_PREFIX,
    CLAIM_FILE,
    REQUEST_FILE,
    Answer,
    AnswerState,
    Request,
    answer_to,
    claim_request,
    expire,
    is_expired,
    put_answer,
    put_request,
    read_request,
    set_aside,
    settle_claim,
    withdraw,
)
from tierdeck.checkpoint.folder.stored import StoredCheckpoints
from tierdeck.checkpoint.folder.tip import current_head
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, Limits
from tierdeck.errors import (
    CheckpointError,
    ConflictError,
    DamagedCheckpointError,
    InvalidValueError,
    NotFoundError,
)


class SessionFolder(StoredCheckpoints):
    """An open session's folder; made by `open_session_folder`. Any number of processes may have one."""

    def head(self) -> HeadPointer | None:
        """Where the session goes on: HEAD, moved on by what was saved on its branch; None for an empty session.

        Without a HEAD file it is the newest checkpoint in generation 0. When the HEAD file can't be read it is the
        newest checkpoint that verifies, generation -1, and `problem` says so. Raises as `listed`.
        """
        try:
            return current_head(self.path, self._owner)
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
            self.check_is_there(file)
            seen = self._generation()
            if seen != expected_generation:
                raise ConflictError(
                    f"switch HEAD: it was switched since (generation {seen}, seen was {expected_generation})",
                    hint="look at the session again",
                )
            pointer = HeadPointer(file, branch, next_generation(seen), last_request)
            write_head_pointer(self.path, pointer)
        return pointer

    def try_lease(self) -> Lease | None:
        """The lease of the agent that runs this session; None when another process has it. Never waits.

        It is given back by `release`, at the end of `with`, or by the kernel when the process ends. What crashed
        processes left in the folder is swept, and a request they were at is settled.

        Raises:
            CheckpointError: the folder can't be written, or is gone.
        """
        lease = take_lease(self.path)
        if lease is not None:
            try:
                with self.locked():
                    sweep(self.path, (TEMP_PREFIX, ANSWER_PREFIX))
                    settle_claim(self.path, self._last_request(), self.clock_ns())
            except BaseException:
                lease.release()
                raise
        return lease

    def ask(self, request: Request) -> str:
        """Ask the agent of this session for something; it sees it at its next turn. Returns the request's id.

        Raises:
            InvalidValueError: something in it is wrong: names it.
            ConflictError: another request waits.
            NotFoundError: it names a checkpoint that is not there.
            CheckpointError: the disk refuses; nothing is left.
        """
        with self.locked():
            if request.file is not None:
                self.check_is_there(request.file)
            return put_request(self.path, request, self.clock_ns())

    def pending_request(self) -> Request | None:
        """The request that waits, for the agent to ask at each turn: one `stat` when there is none.

        One that has expired is answered so and is none any more.

        Raises:
            DamagedCheckpointError: what waits is no request; it is set aside, and not met again.
            CheckpointError: it can't be read.
        """
        if not os.path.lexists(self.path / REQUEST_FILE):
            return None
        with self.locked():
            try:
                request = read_request(self.path)
            except DamagedCheckpointError:
                set_aside(self.path)
                raise
            if request is not None and is_expired(request, self.clock_ns()):
                expire(self.path, request, self.clock_ns())
                return None
            return request

    def claim(self, request_id: str) -> Request:
        """Begin to do the request that waits; nobody can take it back from now on. For the holder of the lease.

        Raises:
            NotFoundError: it was taken back, or expired.
            ConflictError: another one is being done.
        """
        with self.locked():
            return claim_request(self.path, request_id)

    def answer(
        self, request_id: str, state: AnswerState, why: str | None = None, *, file: str | None = None
    ) -> None:
        """Say what became of a claimed request; once it is switched, HEAD says it too, should this be cut short.

        Raises:
            CheckpointError: the disk refuses; the next holder of the lease answers then.
        """
        with self.locked():
            put_answer(self.path, Answer(request_id, state, why, self.clock_ns(), file))

    def answer_to(self, request_id: str) -> Answer | None:
        """What became of a request; None while it waits or is being done.

        "expired" when nobody took it up within 15 minutes, or nothing is known of it any more.

        Raises:
            InvalidValueError: the id is none.
            CheckpointError: it can't be read.
        """
        return answer_to(self.path, request_id, self._last_request(), self.clock_ns(), self.is_live)

    def take_back(self, request_id: str) -> bool:
        """Take a request back; False when the agent is at it already, or it is over. Raises CheckpointError."""
        with self.locked():
            return withdraw(self.path, request_id)

    def requested_file(self) -> str | None:
        """The checkpoint that a request names which waits or is being done. Raises CheckpointError."""
        for file in (CLAIM_FILE, REQUEST_FILE):
            with suppress(DamagedCheckpointError):
                request = read_request(self.path, file)
                if request is not None and request.file is not None:
                    return request.file
        return None

    def switched_head(self) -> HeadPointer | None:
        """HEAD as it was last switched, without what was saved since; None when it never was.

        Raises:
            DamagedCheckpointError: the HEAD file is not what was written.
        """
        return read_head_pointer(self.path)

    def is_live(self) -> bool:
        """Whether a process holds the lease now. Raises CheckpointError when that can't be told."""
        return is_locked(self.path / LEASE_FILE)

    def _generation(self) -> int:
        try:
            pointer = read_head_pointer(self.path)
        except DamagedCheckpointError:
            return -1
        return 0 if pointer is None else pointer.generation

    def _last_request(self) -> str | None:
        try:
            pointer = read_head_pointer(self.path)
        except DamagedCheckpointError:
            return None
        return None if pointer is None else pointer.last_request


def open_session_folder(
    root: Path,
    session_id: str,
    *,
    create: bool = False,
    limits: Limits = CONSOLE_LIMITS,
    key: bytes | None = None,
    clock_ns: Callable[[], int] = time.time_ns,
) -> SessionFolder:
    """The folder of a session.

    Args:
        session_id: any text of 1 to 1,024 bytes; it never becomes part of a path.
        create: make it, for its owner alone, when it is not there.
        limits: what a listing accepts.
        key: the operator's, 1 to 64 bytes: what is saved is sealed with it, and what verifies was.
        clock_ns: nanoseconds since the epoch, for ages; the order never depends on it.

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
    if create and not _names_session(path):
        replace_json(path / SESSION_FILE, {"format": 1, "session_id": session_id})
    return SessionFolder(path, session_id, limits=limits, key=key, clock_ns=clock_ns)


def _names_session(path: Path) -> bool:
    """Whether the file is there that says the id; one that is damaged is made anew, since the id is known."""
    try:
        return read_json(path / SESSION_FILE) is not None
    except DamagedCheckpointError:
        return False


def _check_folder(path: Path, session_id: str) -> None:
    with disk_errors(f"open session folder {path}"):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError as e:
            raise NotFoundError(f"open session {session_id[:80]!r}: it has no checkpoints in {path.parent}") from e
    if not stat.S_ISDIR(mode):
        raise CheckpointError(f"open session folder {path}: it is no folder", hint="a link is not followed")
