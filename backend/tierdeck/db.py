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
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import apsw

from tierdeck.errors import (
    DamagedStoreError,
    ModelUnavailableError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreBusyError,
    StoreError,
    StoreNotFoundError,
)

BUSY_TIMEOUT_MS = 5_000
WAL_LIMIT_BYTES = 64_000_000
INDEX_PAGE_BYTES = 65_536
INDEX_APPLICATION_ID = 0x7D_1DEC  # stands in the file's head, so that no other file is taken for an index
SQLITE_MAGIC = b"SQLite format 3\x00"
_URI_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
# Where WAL's shared memory does not reach all users of the file.
_NETWORK_FILE_SYSTEMS = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "afpfs",
        "9p",
        "sshfs",
        "fuse.sshfs",
        "ceph",
        "glusterfs",
        "lustre",
    }
)


@contextmanager
def driver_errors(path: Path, doing: str) -> Iterator[None]:
    """Turn what apsw raises inside into our errors, so that no caller sees the driver."""
    try:
        yield
    except apsw.BusyError as e:
        raise StoreBusyError(
            f"{doing} {path}: another program holds it (waited {BUSY_TIMEOUT_MS / 1000:g} s); nothing was changed",
            hint="try again when it is done",
        ) from e
    except apsw.NotADBError as e:
        raise NotAStoreError(f"{doing} {path}: it is not an SQLite file") from e
    except apsw.CorruptError as e:
        raise damaged(path, doing, str(e)) from e
    except apsw.ReadOnlyError as e:
        raise ReadOnlyStoreError(f"{doing} {path}: it can only be read ({e})") from e
    except apsw.CantOpenError as e:
        raise StoreNotFoundError(f"{doing} {path}: it can't be opened ({e})") from e
    except apsw.FullError as e:
        raise StoreError(f"{doing} {path}: the disk is full; nothing was changed") from e
    except apsw.IOError as e:
        raise StoreError(f"{doing} {path}: the disk gave an error ({e})") from e


def damaged(path: Path, doing: str, cause: str) -> DamagedStoreError:
    """The error for a malformed file, pointing at its newest backup where one stands beside it."""
    backups = sorted(path.parent.glob(f"{path.name}.backup-*"), key=lambda p: p.stat().st_mtime)
    newest = f"the newest backup is {backups[-1]}; " if backups else "no backup stands beside it; "
    return DamagedStoreError(
        f"{doing} {path}: the file is damaged ({cause})",
        hint=f"{newest}`tierdeck export --salvage` saves what can still be read",
    )


def open_writer(path: Path) -> apsw.Connection:
    """A connection that writes: IMMEDIATE transactions, WAL where the file system is local, foreign keys on.

    Raises:
        StoreNotFoundError, StoreBusyError, DamagedStoreError: the file stays as it was.
    Spec: SPEC-02.04
    """
    with driver_errors(path, "open"):
        conn = apsw.Connection(_uri(path, "mode=rwc"), flags=_URI_FLAGS)
        _set_common(conn)
        conn.transaction_mode = "IMMEDIATE"
        return conn


def set_journal_mode(conn: apsw.Connection, path: Path) -> str:
    """WAL on a local file system, a rollback journal on a network one; gives what is now in force."""
    wanted = "delete" if is_network_file_system(path) else "wal"
    mode = str(conn.pragma("journal_mode", wanted))
    conn.pragma("journal_size_limit", WAL_LIMIT_BYTES)
    return mode


def open_reader(path: Path) -> apsw.Connection:
    """A connection that only reads a store of ours; may leave `-shm` and `-wal` beside it, as any reader does."""
    with driver_errors(path, "open"):
        conn = apsw.Connection(_uri(path, "mode=ro"), flags=_URI_FLAGS)
        _set_common(conn)
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


def open_untouched(path: Path) -> apsw.Connection:
    """A connection that reads somebody else's file and leaves its folder byte for byte as it is.

    Opened anew for each read (0.26 ms): a reader that stays open would stop the owner from tidying its WAL. What
    an immutable connection saw holds only if `FileState` is the same before and after; the caller compares.
    """
    how = _untouched_uri(path)
    if how is None:
        return _open_copy(path)
    with driver_errors(path, "open"):
        conn = apsw.Connection(how, flags=_URI_FLAGS)
        _set_common(conn)
        return conn


def file_state(path: Path) -> tuple[object, ...]:
    """Size and time of the file, and whether a live WAL or journal stands beside it; compared around a read."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return ()
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns, _size(path, "-wal") > 0, _size(path, "-journal") > 0)


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
                found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(3)")]
                # A copy in WAL mode would leave -shm and -wal beside the backup at its first look.
                copy.pragma("journal_mode", "delete")
            finally:
                copy.close()
        if found != ["ok"]:
            raise DamagedStoreError(f"back up to {target}: the copy fails SQLite's check ({found[0]})")
        is_good = True
    finally:
        if not is_good:
            target.unlink(missing_ok=True)


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


def is_network_file_system(path: Path) -> bool:
    """Whether the file lies where WAL's shared memory does not reach every user of it (Linux; else False)."""
    return file_system_type(path) in _NETWORK_FILE_SYSTEMS


def file_system_type(path: Path) -> str:
    """The kind of file system the path lies on, as the kernel names it; "unknown" where it can't be told."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown"
    best, kind = "", "unknown"
    here = str(path.resolve())
    for line in mounts:
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        mount = parts[1].replace("\\040", " ")
        is_above = mount == "/" or here == mount or here.startswith(mount + "/")
        if is_above and len(mount) >= len(best):
            best, kind = mount, parts[2]
    return kind


def _set_common(conn: apsw.Connection) -> None:
    conn.set_busy_timeout(BUSY_TIMEOUT_MS)
    conn.pragma("foreign_keys", True)
    conn.pragma("trusted_schema", False)


def _uri(path: Path, query: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{query}"


def _size(path: Path, suffix: str) -> int:
    try:
        return os.stat(f"{path}{suffix}").st_size
    except FileNotFoundError:
        return -1


def _untouched_uri(path: Path) -> str | None:
    """How to open the file without a trace; None when only a copy can be opened."""
    if _size(path, "-journal") > 0:
        return None  # a crashed rollback: only recovery, which writes, gives the true content
    if _size(path, "-wal") <= 0:
        return _uri(path, "mode=ro&immutable=1")
    if _size(path, "-shm") < 0:
        return None
    return _uri(path, "mode=ro&readonly_shm=1")


def _open_copy(path: Path) -> apsw.Connection:
    """Copy the file with what SQLite needs to recover it into a private folder and open the copy there."""
    with tempfile.TemporaryDirectory(prefix="tierdeck-") as folder:  # mkdtemp makes it 0700
        copy = Path(folder) / "copy.db"
        before = file_state(path)
        for suffix in ("", "-wal", "-journal"):
            if suffix == "" or _size(path, suffix) >= 0:
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        if file_state(path) != before:
            raise StoreBusyError(f"open {path}: it changed while it was copied", hint="try again")
        with driver_errors(path, "open"):
            conn = apsw.Connection(_uri(copy, "mode=rw"), flags=_URI_FLAGS)
            _set_common(conn)
            # Recovery happens at the first read; the open connection keeps the unlinked files alive.
            conn.execute("SELECT count(*) FROM sqlite_master").fetchall()
            return conn
