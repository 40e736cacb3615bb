"""Reading somebody else's file so that its folder stays byte for byte as it is.

Plain `mode=ro` writes `-shm` and `-wal` beside a file in WAL mode. What stands beside the file decides how it is
opened, and a shared lock keeps that from changing in between.

POSIX locks belong to the process: closing any descriptor of a database file drops the locks that every connection
of ours holds on it. A database file is therefore only ever read through SQLite's own file layer.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

import apsw

from tierdeck.db.connections import URI_FLAGS, file_uri, set_common
from tierdeck.db.driver_errors import BUSY_TIMEOUT_MS, driver_errors, is_recovering
from tierdeck.db.journal_mode import open_raw, says_wal
from tierdeck.errors import NotAStoreError, StoreBusyError, StoreError

FileState = tuple[tuple[int, int, int], ...]
# With its live WAL; as it is, its owner locked out; as it is, its owner free to write; a private copy.
HowRead = Literal["live", "locked", "immutable", "copy"]
_MAGIC = b"SQLite format 3\x00"
_SMALLEST_PAGE_BYTES = 512
_WAL_HEADER_BYTES = 32
_WAL_MAGICS = (bytes.fromhex("377f0682"), bytes.fromhex("377f0683"))  # checksums little- and big-endian
_HOT_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
# A file's time moves in ticks of the kernel's clock (4 ms, 10 on some): a change within the tick of the change
# before leaves no trace in it.
_TICK_NS = 20_000_000
_COPY_BYTES = 4_000_000


class UntouchedConnection(apsw.Connection):
    """Reads somebody else's file and leaves its folder byte for byte as it is; made by `open_untouched`.

    While it is open it holds a shared lock on the file, so that its owner can't tidy its WAL away between our look
    at what stands beside the file and our reading. Keep it for one read only; one that begins while its
    owner starts the WAL anew fails, as `is_recovering` tells, and is to be tried again.
    """

    def __init__(self, uri: str, path: Path, how: HowRead, guard: apsw.VFSFile | None) -> None:
        self._path = path
        self.how = how
        self._guard = guard
        self._opened_ns = time.time_ns()
        self.seen = file_state(path)
        super().__init__(uri, flags=URI_FLAGS)

    def close(self, force: bool = False) -> None:
        """Close, and let go of the file."""
        super().close(force)
        if self._guard is not None:
            _let_go(self._guard)
            self._guard = None

    def is_still_true(self) -> bool:
        """Whether what was read so far is one state of the file; when not, open it anew and read again.

        A file in WAL mode whose WAL is empty is read as immutable, and no lock keeps its owner from writing to it.
        """
        if self.how != "immutable":
            return True
        changed_ns = max(part[2] for part in self.seen)
        return file_state(self._path) == self.seen and abs(self._opened_ns - changed_ns) > _TICK_NS


def open_untouched(path: Path, *, timeout_ms: int = BUSY_TIMEOUT_MS) -> UntouchedConnection:
    """A connection that reads somebody else's file without a trace; close it after one read.

    By what stands beside the file: a filled `-wal` and a `-shm` are read as they are; a filled `-wal` without a
    `-shm`, or the journal of a crashed transaction, is copied with the file, since only recovery, which writes,
    gives the true content; else the file is opened as immutable.

    Raises:
        StoreBusyError: its owner holds it longer than `timeout_ms`.
        StoreNotFoundError, NotAStoreError, DamagedStoreError, StoreError: it can't be read.
    """
    real = Path(os.path.realpath(path))
    deadline = time.monotonic() + timeout_ms / 1000
    with driver_errors(path, "open", waited_ms=timeout_ms):
        while True:
            try:
                return _open_beside(real, timeout_ms)
            except StoreBusyError:  # it changed while it was copied
                if time.monotonic() > deadline:
                    raise
            except apsw.ReadOnlyError as e:
                if not is_recovering(e):
                    raise
                if time.monotonic() > deadline:
                    raise apsw.BusyError(str(e)) from e
            except OSError as e:
                raise StoreError(f"open {path}: it can't be read ({e.strerror})") from e
            time.sleep(0.01)


def file_state(path: Path) -> FileState:
    """Inode, size and time of the file, its WAL and its journal: two equal states mean that nobody wrote.

    What may not be looked at counts as absent; opening it says why.
    """
    return tuple(_stat(path, suffix) for suffix in ("", "-wal", "-journal"))


def _stat(path: Path, suffix: str) -> tuple[int, int, int]:
    try:
        stat = os.stat(f"{path}{suffix}")
    except OSError:
        return (0, -1, 0)
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns)


def _lock_shared(guard: apsw.VFSFile, timeout_ms: int) -> None:
    deadline = time.monotonic() + timeout_ms / 1000
    while True:
        try:
            guard.xLock(apsw.SQLITE_LOCK_SHARED)
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _open_beside(path: Path, timeout_ms: int) -> UntouchedConnection:
    guard = open_raw(path)
    conn = None
    try:
        _lock_shared(guard, timeout_ms)
        conn = _connected(path, guard)
        if conn.how == "live":
            conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except BaseException:
        if conn is not None:
            conn.close()
        else:
            _let_go(guard)
        raise
    return conn


def _connected(path: Path, guard: apsw.VFSFile) -> UntouchedConnection:
    size, has_wal = _stat(path, "")[1], _stat(path, "-wal")[1] > _WAL_HEADER_BYTES
    # SQLite takes a file smaller than a page for an empty database, whatever it holds.
    if size > 0 and (size < _SMALLEST_PAGE_BYTES or guard.xRead(len(_MAGIC), 0) != _MAGIC):
        raise NotAStoreError(
            f"open {path}: it is not an SQLite file", hint="give the file that your agent writes to"
        )
    if has_wal and _stat(path, "-shm")[1] >= 0 and _begins_as_wal(path):
        conn = UntouchedConnection(file_uri(path, "mode=ro&readonly_shm=1"), path, "live", guard)
    elif has_wal or (_has_hot_journal(path) and not guard.xCheckReservedLock()):
        return _copied(path, guard)
    else:
        # Under our shared lock the owner can't commit in rollback mode; in WAL mode it can, by a checkpoint.
        how: HowRead = "immutable" if size > 0 and says_wal(guard) else "locked"
        conn = UntouchedConnection(file_uri(path, "mode=ro&immutable=1"), path, how, guard)
    set_common(conn)
    return conn


def _let_go(guard: apsw.VFSFile) -> None:
    guard.xUnlock(apsw.SQLITE_LOCK_NONE)
    guard.xClose()


def _begins_as_wal(path: Path) -> bool:
    """A WAL whose head is destroyed holds nothing, but only recovery says so: a reader would wait 10 s and fail."""
    with open(f"{path}-wal", "rb") as file:
        return file.read(4) in _WAL_MAGICS


def _has_hot_journal(path: Path) -> bool:
    """A journal that is kept but finished has its first bytes zeroed."""
    try:
        with open(f"{path}-journal", "rb") as file:
            return file.read(len(_HOT_JOURNAL_MAGIC)) == _HOT_JOURNAL_MAGIC
    except FileNotFoundError:
        return False


def _copied(path: Path, guard: apsw.VFSFile) -> UntouchedConnection:
    """Copy the file with what SQLite needs to recover it into a private folder, and open the copy there."""
    with tempfile.TemporaryDirectory(prefix="tierdeck-") as folder:  # 0700
        copy = Path(folder) / "copy.db"
        before = file_state(path)
        _copy_through(guard, copy)
        for suffix in ("-wal", "-journal"):
            if _stat(path, suffix)[1] > 0:
                with suppress(FileNotFoundError):  # gone meanwhile, which the states below tell
                    shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        if file_state(path) != before:
            raise StoreBusyError(f"open {path}: it changed while it was copied", hint="try again")
        conn = UntouchedConnection(file_uri(copy, "mode=rw"), path, "copy", None)
        try:
            set_common(conn)
            # Recovery happens at the first read; the open connection keeps the unlinked files alive.
            conn.execute("SELECT count(*) FROM sqlite_master").fetchall()
            conn.pragma("query_only", True)
        except BaseException:
            conn.close()
            raise
        conn.seen = before
    _let_go(guard)
    return conn


def _copy_through(guard: apsw.VFSFile, target: Path) -> None:
    size, offset = guard.xFileSize(), 0
    with target.open("xb") as file:
        while offset < size:
            offset += file.write(guard.xRead(min(_COPY_BYTES, size - offset), offset))
