"""The only file that opens SQLite; one small function for each connection rule.

Traps that decide what stands here:
- `PRAGMA journal_mode=wal; CREATE …` in one execute is lazy: what follows a row-returning pragma runs only when
  the rows are read. Each pragma is its own call, and its rows are consumed.
- apsw's transactions are deferred by default: a read followed by a write then fails with BusyError at once,
  whatever the timeout. Writers are IMMEDIATE.
- Reading another program's WAL store with plain `mode=ro` writes `-shm` and `-wal` into its folder. What stands
  beside the file decides how it is opened (`open_untouched`).
- A connection opened with the READONLY flag would make attached files read-only too, so `mode=ro` is said in the
  URI while the flags stay READWRITE.
- POSIX locks belong to the process: closing any descriptor of a database file drops the locks that every
  connection of ours holds on it. A database file is therefore only ever read through SQLite's own file layer.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import apsw

from tierdeck.driver_errors import BUSY_TIMEOUT_MS, damaged, driver_errors
from tierdeck.errors import DamagedStoreError, ModelUnavailableError, NotAStoreError, StoreBusyError, StoreError
from tierdeck.file_system import file_system_type, is_network_file_system

__all__ = [
    "BUSY_TIMEOUT_MS",
    "FileState",
    "HowRead",
    "UntouchedConnection",
    "copy_database",
    "damaged",
    "driver_errors",
    "file_state",
    "file_system_type",
    "is_full_text_fault",
    "is_network_file_system",
    "load_vec",
    "open_index",
    "open_reader",
    "open_scratch",
    "open_untouched",
    "open_writer",
    "set_journal_mode",
]

WAL_LIMIT_BYTES = 64_000_000
# A bulk add of 100,000 memories takes 10 % less CPU than with SQLite's 2 MB; 64 MB give nothing more.
WRITER_CACHE_KIB = 16_000
INDEX_PAGE_BYTES = 65_536
INDEX_APPLICATION_ID = 0x7D_1DEC  # stands in the file's head, so that no other file is taken for an index
_URI_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
_MAGIC = b"SQLite format 3\x00"
_SMALLEST_PAGE_BYTES = 512
_WAL_HEADER_BYTES = 32
_HOT_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
# A file's time moves in ticks of the kernel's clock (4 ms, 10 on some): a change within the tick of the change
# before leaves no trace in it.
_TICK_NS = 20_000_000
_COPY_BYTES = 4_000_000

FileState = tuple[tuple[int, int, int], ...]
# With its live WAL; as it is, its owner locked out; as it is, its owner free to write; a private copy.
HowRead = Literal["live", "locked", "immutable", "copy"]


def open_writer(path: Path, *, timeout_ms: int = BUSY_TIMEOUT_MS) -> apsw.Connection:
    """A connection that writes: IMMEDIATE transactions, WAL where the file system is local, foreign keys on.

    Raises:
        StoreNotFoundError, StoreBusyError, DamagedStoreError: the file stays as it was.
    Spec: SPEC-02.04
    """
    with driver_errors(path, "open"):
        conn = apsw.Connection(_uri(path, "mode=rwc"), flags=_URI_FLAGS)
        _set_common(conn, timeout_ms)
        conn.pragma("cache_size", -WRITER_CACHE_KIB)
        conn.transaction_mode = "IMMEDIATE"
        return conn


def set_journal_mode(conn: apsw.Connection, path: Path) -> str:
    """WAL on a local file system, a rollback journal on a network one; gives what is now in force."""
    wanted = "delete" if is_network_file_system(path) else "wal"
    mode = str(conn.pragma("journal_mode", wanted))
    conn.pragma("journal_size_limit", WAL_LIMIT_BYTES)
    return mode


def open_reader(path: Path, *, timeout_ms: int = BUSY_TIMEOUT_MS) -> apsw.Connection:
    """A connection that only reads a store of ours; may leave `-shm` and `-wal` beside it, as any reader does."""
    with driver_errors(path, "open"):
        conn = apsw.Connection(_uri(path, "mode=ro"), flags=_URI_FLAGS)
        _set_common(conn, timeout_ms)
        conn.pragma("query_only", True)
        return conn


def open_index(path: Path, *, is_writing: bool) -> apsw.Connection:
    """A connection to the index file, sqlite-vec loaded; a writer also makes an empty file ready (64 KiB pages).

    A vec0 chunk is one blob of megabytes: 64 KiB pages make inserts several times and look-ups 5 to 30 times
    faster than the default, and without mmap the search over them is 10 times slower. The size takes only on an
    empty file, before WAL and before any write.

    Raises:
        ModelUnavailableError: sqlite-vec can't be loaded.
        NotAStoreError, DamagedStoreError, StoreBusyError, StoreNotFoundError: the file stays as it was.
    """
    with driver_errors(path, "open"):
        conn = apsw.Connection(_uri(path, "mode=rwc" if is_writing else "mode=ro"), flags=_URI_FLAGS)
        try:
            _set_common(conn)
            conn.pragma("cache_size", -65_536)
            conn.pragma("mmap_size", 1 << 40)
            if is_writing:
                conn.transaction_mode = "IMMEDIATE"
                if not conn.pragma("page_count"):
                    conn.pragma("page_size", INDEX_PAGE_BYTES)
                    conn.pragma("application_id", INDEX_APPLICATION_ID)
                if conn.pragma("application_id") == INDEX_APPLICATION_ID:  # else the caller will refuse the file
                    set_journal_mode(conn, path)
                conn.pragma("synchronous", "NORMAL")
            else:
                conn.pragma("query_only", True)
            load_vec(conn)
        except BaseException:
            conn.close()
            raise
        return conn


class UntouchedConnection(apsw.Connection):
    """Reads somebody else's file and leaves its folder byte for byte as it is; made by `open_untouched`.

    While it is open it holds a shared lock on the file, so that its owner can't tidy its WAL away between our look
    at what stands beside the file and our reading. Keep it for one read only.
    """

    def __init__(self, uri: str, path: Path, how: HowRead, guard: apsw.VFSFile | None) -> None:
        self._path = path
        self.how = how
        self._guard = guard
        self._opened_ns = time.time_ns()
        self.seen = file_state(path)
        super().__init__(uri, flags=_URI_FLAGS)

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
        return file_state(self._path) == self.seen and self._opened_ns - changed_ns > _TICK_NS


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
            except apsw.ReadOnlyError as e:
                if not is_recovering(e):
                    raise
                if time.monotonic() > deadline:
                    raise apsw.BusyError(str(e)) from e
            time.sleep(0.01)


def is_recovering(e: apsw.ReadOnlyError) -> bool:
    """Whether the error says that the WAL's owner is just setting up its shared memory: a moment later it reads."""
    return getattr(e, "extendedresult", 0) in (
        apsw.SQLITE_READONLY_RECOVERY,
        apsw.SQLITE_READONLY_CANTLOCK,
        apsw.SQLITE_READONLY_CANTINIT,
    )


def file_state(path: Path) -> FileState:
    """Inode, size and time of the file, its WAL and its journal: two equal states mean that nobody wrote."""
    return tuple(_stat(path, suffix) for suffix in ("", "-wal", "-journal"))


def copy_database(source: apsw.Connection, target: Path) -> None:
    """Copy a whole database online into a new file (0600) and check the copy; an existing file is refused.

    Raises:
        StoreError: the target exists, can't be written, or the copy fails its check; a bad copy is removed.
    """
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    except OSError as e:
        raise StoreError(f"back up to {target}: {e.strerror}") from e
    is_good = False
    try:
        with driver_errors(target, "back up to"):
            copy = apsw.Connection(_uri(target, "mode=rw"), flags=_URI_FLAGS)
            try:
                with copy.backup("main", source, "main") as backup:
                    while not backup.done:
                        backup.step(1_000)
                found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check")]
                # A copy in WAL mode would leave -shm and -wal beside the backup at its first look.
                copy.pragma("journal_mode", "delete")
            finally:
                copy.close()
        # A full-text index out of order is copied as it is: it can be made again, and that needs a backup first.
        faults = [line for line in found if line != "ok" and not is_full_text_fault(line)]
        if faults:
            raise DamagedStoreError(f"back up to {target}: the copy fails SQLite's check ({faults[0]})")
        is_good = True
    finally:
        if not is_good:
            target.unlink(missing_ok=True)


def is_full_text_fault(line: str) -> bool:
    """Whether a line of SQLite's integrity check is about a full-text index, which its table can make again."""
    return "fts5" in line.lower()


def open_scratch() -> apsw.Connection:
    """A private database that is gone when it is closed; what memory can't hold goes to a temporary file."""
    return apsw.Connection("")


def load_vec(conn: apsw.Connection) -> None:
    """Load sqlite-vec into a connection, without importing its package (that would pull in numpy, 0.2 s)."""
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailableError("load sqlite-vec: the package is not installed", hint="pip install sqlite-vec")
    try:
        conn.enable_load_extension(True)
        conn.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
        conn.enable_load_extension(False)
    except apsw.Error as e:
        raise ModelUnavailableError(f"load sqlite-vec: {e}", hint="keyword search works without it") from e


def _set_common(conn: apsw.Connection, timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
    conn.set_busy_timeout(timeout_ms)
    conn.pragma("foreign_keys", True)
    conn.pragma("trusted_schema", False)


def _uri(path: Path, query: str) -> str:
    return f"file:{quote(os.fsencode(path.absolute()))}?{query}"


def _stat(path: Path, suffix: str) -> tuple[int, int, int]:
    try:
        stat = os.stat(f"{path}{suffix}")
    except FileNotFoundError:
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
    guard = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
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
    if has_wal and _stat(path, "-shm")[1] >= 0:
        conn = UntouchedConnection(_uri(path, "mode=ro&readonly_shm=1"), path, "live", guard)
    elif has_wal or (_has_hot_journal(path) and not guard.xCheckReservedLock()):
        return _copied(path, guard)
    else:
        # Under our shared lock the owner can't commit in rollback mode; in WAL mode it can, by a checkpoint.
        is_wal_mode = size > 0 and guard.xRead(2, 18) == b"\x02\x02"
        how: HowRead = "immutable" if is_wal_mode else "locked"
        conn = UntouchedConnection(_uri(path, "mode=ro&immutable=1"), path, how, guard)
    _set_common(conn)
    return conn


def _let_go(guard: apsw.VFSFile) -> None:
    guard.xUnlock(apsw.SQLITE_LOCK_NONE)
    guard.xClose()


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
        try:
            _copy_through(guard, copy)
            for suffix in ("-wal", "-journal"):
                if _stat(path, suffix)[1] > 0:
                    shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        except OSError as e:
            raise StoreError(f"open {path}: it can't be copied for reading: {e.strerror}") from e
        if file_state(path) != before:
            raise StoreBusyError(f"open {path}: it changed while it was copied", hint="try again")
        conn = UntouchedConnection(_uri(copy, "mode=rw"), path, "copy", None)
        _set_common(conn)
        # Recovery happens at the first read; the open connection keeps the unlinked files alive.
        conn.execute("SELECT count(*) FROM sqlite_master").fetchall()
        conn.pragma("query_only", True)
        conn.seen = before
    _let_go(guard)
    return conn


def _copy_through(guard: apsw.VFSFile, target: Path) -> None:
    size, offset = guard.xFileSize(), 0
    with target.open("xb") as file:
        while offset < size:
            offset += file.write(guard.xRead(min(_COPY_BYTES, size - offset), offset))
