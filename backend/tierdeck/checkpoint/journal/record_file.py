"""Records one after the other in a file, each with its length and checksum, each on disk before it counts.

    0   8  magic 89 'R' 'L' 'M' 'J' 0D 0A 1A
    8   2  major   10 2 minor   12 4 mark   16 4 CRC-32 of bytes 0 to 15
    then for each record: 4 the mark   4 length   4 CRC-32 of the record   the record

Numbers are little-endian. A kill in mid-write leaves a torn record at the end, which was never relied on: it is cut
off. Damage before the end is something else: the mark lets a reader find the records behind it. It is random, so
that no text a model gives can hold what looks like a record.
"""

from __future__ import annotations

import os
import secrets
import stat
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from tierdeck.checkpoint.folder.disk import disk_errors, flush_folder
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.errors import CheckpointError, CheckpointLimitError, DamagedCheckpointError, NewerCheckpointError

MAGIC = b"\x89RLMJ\r\n\x1a"
MAJOR, MINOR = 1, 0
_HEADER = struct.Struct("<8sHH4sI")
_RECORD = struct.Struct("<4sII")
_MODE = 0o600
_MAX_PASSES = 4
_FIRST_BYTES = 16_384  # the first record has a session's id, of at most 1,024 bytes, and some numbers
_HINT = "put it right, or move it away and go on without knowing which calls were made"
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Records:
    """What a file holds.

    `mark` is the one of its records. `end` is where the next record goes; `torn_bytes` lie behind it, and count for
    nothing. `damaged_bytes` lie between records that are sound.
    """

    records: tuple[bytes, ...]
    mark: bytes
    end: int
    torn_bytes: int = 0
    damaged_bytes: int = 0


def read_records(path: Path) -> Records | None:
    """All records in order; None when there is no such file. Nothing is changed.

    Raises:
        DamagedCheckpointError: it is no journal.
        NewerCheckpointError: a newer version wrote it.
        CheckpointError: it can't be read.
    """
    try:
        with disk_errors(f"read journal {path}"):
            fd = os.open(path, os.O_RDONLY | _OPEN)
    except CheckpointError as e:
        if isinstance(e.__cause__, FileNotFoundError):
            return None
        raise
    try:
        return _parse(_read(fd, path), path)
    finally:
        os.close(fd)


def read_first_record(path: Path) -> bytes | None:
    """The record that a file begins with, of the first 16 KB; None when there is none. Raises as `read_records`."""
    try:
        with disk_errors(f"read journal {path}"):
            fd = os.open(path, os.O_RDONLY | _OPEN)
            try:
                data = os.read(fd, _FIRST_BYTES)
            finally:
                os.close(fd)
    except CheckpointError as e:
        if isinstance(e.__cause__, FileNotFoundError):
            return None
        raise
    return next(iter(_parse(data, path).records), None)


class RecordFile:
    """A file that records are added to; made when it is not there. Safe to use from several threads.

    Opening it cuts off a torn tail; what was found is in `found`. It belongs to the process that opened it: a
    forked child would write where its parent does.

    Args:
        max_bytes: it never grows beyond, since no reader would take it then.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointError: as `read_records`; nothing was changed.
    """

    def __init__(self, path: Path, *, max_bytes: int = AGENT_LIMITS.file_bytes) -> None:
        self._path = path
        self._pid = os.getpid()
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        with disk_errors(f"open journal {path}"):
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | _OPEN, _MODE)
        try:
            with disk_errors(f"open journal {path}"):
                self.found = self._begin()
        except BaseException:
            os.close(self._fd)
            raise
        self._end, self._mark = self.found.end, self.found.mark

    def append(self, *records: bytes, is_flushed: bool = True) -> None:
        """Add records; they are on disk when this returns, unless `is_flushed` is off.

        Raises:
            CheckpointError: the disk is full, the file is gone or would grow too large, or this is a forked child;
                the records before stand.
        """
        if os.getpid() != self._pid:
            raise CheckpointError(f"write journal {self._path}: it is the parent process that has it")
        if self._end + sum(_RECORD.size + len(each) for each in records) > self._max_bytes:
            raise CheckpointLimitError(
                f"write journal {self._path}: it would be larger than {self._max_bytes:,} bytes",
                hint="a fork or a rewind begins a new one",
            )
        data = b"".join(_RECORD.pack(self._mark, len(each), crc32(each)) + each for each in records)
        with self._lock:
            # A file that was unlinked takes every write and keeps none; no reader looks behind where one was cut.
            found = None if self._fd < 0 else os.fstat(self._fd)
            if found is None or found.st_nlink == 0:
                raise CheckpointError(f"write journal {self._path}: the file is gone")
            if found.st_size < self._end:
                raise CheckpointError(
                    f"write journal {self._path}: somebody has cut it to {found.st_size:,} of {self._end:,} bytes"
                )
            with disk_errors(f"write journal {self._path}"):
                try:
                    _write(self._fd, data, self._end)
                    if is_flushed:
                        os.fsync(self._fd)
                except OSError:
                    with suppress(OSError):
                        os.ftruncate(self._fd, self._end)
                    raise
            self._end += len(data)

    @property
    def size_bytes(self) -> int:
        """How large it is."""
        return self._end

    def close(self) -> None:
        """Close the file; what was added is there."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _begin(self) -> Records:
        found = _parse(_read(self._fd, self._path), self._path)
        if found.end == 0:
            mark = secrets.token_bytes(4)
            os.ftruncate(self._fd, 0)
            _write(self._fd, _header(mark), 0)
            os.fsync(self._fd)
            flush_folder(self._path.parent)
            return Records((), mark, _HEADER.size, found.torn_bytes)
        if found.torn_bytes:
            os.ftruncate(self._fd, found.end)
            os.fsync(self._fd)
        return found


def _header(mark: bytes) -> bytes:
    return _HEADER.pack(MAGIC, MAJOR, MINOR, mark, crc32(_HEADER.pack(MAGIC, MAJOR, MINOR, mark, 0)[:-4]))


def _parse(data: bytes, path: Path) -> Records:
    if len(data) < _HEADER.size:
        if not MAGIC.startswith(data[: len(MAGIC)]):
            raise DamagedCheckpointError(f"read journal {path}: it is no journal", hint=_HINT)
        return Records((), b"", 0, len(data))
    magic, major, minor, mark, checksum = _HEADER.unpack_from(data)
    if magic != MAGIC or major < 1:
        raise DamagedCheckpointError(f"read journal {path}: it is no journal", hint=_HINT)
    if major > MAJOR:
        raise NewerCheckpointError(
            f"read journal {path}: written by a newer version ({major}.{minor}); this one reads up to {MAJOR}.x"
        )
    if checksum != crc32(data[: _HEADER.size - 4]):
        raise DamagedCheckpointError(f"read journal {path}: its header was changed", hint=_HINT)
    records, end, damaged = [], _HEADER.size, 0
    for start, record in _sound(data, mark, end):
        damaged += start - end
        records.append(record)
        end = start + _RECORD.size + len(record)
    return Records(tuple(records), mark, end, len(data) - end, damaged)


def _sound(data: bytes, mark: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The records whose checksum fits, and where each begins."""
    left = _MAX_PASSES * len(data)  # a file full of marks that claim much would take the square of its length
    while (at := data.find(mark, at)) >= 0 and at + _RECORD.size <= len(data) and left > 0:
        _, length, checksum = _RECORD.unpack_from(data, at)
        start, end = at + _RECORD.size, at + _RECORD.size + length
        left -= length if end <= len(data) else 0
        if end <= len(data) and crc32(memoryview(data)[start:end]) == checksum:
            yield at, data[start:end]
            at = end
        else:
            at += 1


def _read(fd: int, path: Path) -> bytes:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise CheckpointError(f"read journal {path}: it is no ordinary file", hint=_HINT)
    if found.st_size > AGENT_LIMITS.file_bytes:
        raise CheckpointLimitError(
            f"read journal {path}: {found.st_size:,} bytes, the limit is {AGENT_LIMITS.file_bytes:,}"
        )
    pieces, at = [], 0
    while piece := os.pread(fd, 1 << 20, at):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def _write(fd: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while len(view):
        done = os.pwrite(fd, view, at)
        view, at = view[done:], at + done
