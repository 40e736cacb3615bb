"""How a connection is opened, for each use; one small function for each rule.

Traps that decide what stands here:
- `PRAGMA journal_mode=wal; CREATE …` in one execute is lazy: what follows a row-returning pragma runs only when
  the rows are read. Each pragma is its own call, and its rows are consumed.
- apsw's transactions are deferred by default: a read followed by a write then fails with BusyError at once,
  whatever the timeout. Writers are IMMEDIATE.
- A connection opened with the READONLY flag would make attached files read-only too, so `mode=ro` is said in the
  URI while the flags stay READWRITE.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import apsw

from tierdeck.db.driver_errors import BUSY_TIMEOUT_MS, driver_errors
from tierdeck.db.file_system import is_network_file_system
from tierdeck.db.index_connection import IndexConnection
from tierdeck.errors import ModelUnavailableError

# What SQLite may put beside a database: it belongs to the file, and is moved and removed with it.
LOG_SUFFIXES = ("-wal", "-shm", "-journal")
WAL_LIMIT_BYTES = 64_000_000
# A bulk add of 100,000 memories takes 10 % less CPU than with SQLite's 2 MB; 64 MB give nothing more.
WRITER_CACHE_KIB = 16_000
# Of 100,000 memories a search reads 700 pages from the system with SQLite's 2 MB, 350 with 4 MB, and 290 with 8 MB,
# which lie so far apart in memory that it takes no less time.
READER_CACHE_KIB = 4_000
INDEX_PAGE_BYTES = 65_536
# Who reads an index waits for nobody but one that locks it whole: search by word need not wait long for that.
INDEX_READER_TIMEOUT_MS = 500
INDEX_APPLICATION_ID = 0x7D_1DEC  # stands in the file's head, so that no other file is taken for an index
# CREATE is allowed or not by the URI's mode.
URI_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


def open_writer(path: Path, *, timeout_ms: int = BUSY_TIMEOUT_MS) -> apsw.Connection:
    """A connection that writes: IMMEDIATE transactions, WAL where the file system is local, foreign keys on.

    Raises:
        StoreNotFoundError, StoreBusyError, DamagedStoreError: the file stays as it was.
    Spec: SPEC-02.04
    """
    with driver_errors(path, "open"):
        conn = apsw.Connection(file_uri(path, "mode=rwc"), flags=URI_FLAGS)
        set_common(conn, timeout_ms)
        conn.transaction_mode = "IMMEDIATE"
        return conn


def set_writer_cache(conn: apsw.Connection) -> None:
    """Memory for a store's writer; not part of `open_writer`, since the setting reads the file's head."""
    conn.pragma("cache_size", -WRITER_CACHE_KIB)


def set_journal_mode(conn: apsw.Connection, path: Path) -> str:
    """WAL on a local file system, a rollback journal on a network one; gives what is now in force."""
    wanted = "delete" if is_network_file_system(path) else "wal"
    mode = str(conn.pragma("journal_mode", wanted))
    conn.pragma("journal_size_limit", WAL_LIMIT_BYTES)
    return mode


def empty_wal(conn: apsw.Connection) -> bool:
    """Bring what the write-ahead log holds into the file and empty it; False while another program reads it."""
    [(is_busy, _, _)] = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not is_busy


def open_reader(path: Path, *, timeout_ms: int = BUSY_TIMEOUT_MS) -> apsw.Connection:
    """A connection that only reads a store of ours; may leave `-shm` and `-wal` beside it, as any reader does."""
    with driver_errors(path, "open"):
        conn = apsw.Connection(file_uri(path, "mode=ro"), flags=URI_FLAGS)
        set_common(conn, timeout_ms)
        conn.pragma("query_only", True)
        conn.pragma("cache_size", -READER_CACHE_KIB)
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
    timeout_ms = BUSY_TIMEOUT_MS if is_writing else INDEX_READER_TIMEOUT_MS
    with driver_errors(path, "open", waited_ms=timeout_ms):
        conn = IndexConnection(file_uri(path, "mode=rwc" if is_writing else "mode=ro"), flags=URI_FLAGS)
        try:
            set_common(conn, timeout_ms)
            conn.pragma("cache_size", -65_536)
            conn.pragma("mmap_size", 1 << 40)
            if is_writing:
                conn.transaction_mode = "IMMEDIATE"
                if not conn.pragma("page_count"):
                    conn.pragma("page_size", INDEX_PAGE_BYTES)
                    # With a map of the pages SQLite need not read a chunk's one after the other to find a vector in
                    # the last: a hop takes 0.02 µs instead of 1, of 96. After the size, which it would fix.
                    conn.pragma("auto_vacuum", "incremental")
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


def set_common(conn: apsw.Connection, timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
    """What every connection to a store has: patience, foreign keys, no trust in what a schema calls."""
    conn.set_busy_timeout(timeout_ms)
    conn.pragma("foreign_keys", True)
    conn.pragma("trusted_schema", False)


def file_uri(path: Path, query: str) -> str:
    """A path as SQLite's URI, whatever characters it holds."""
    return f"file:{quote(os.fsencode(path.absolute()))}?{query}"
