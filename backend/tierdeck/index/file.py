"""The index file: what can be made again from the store. Made, opened, checked, thrown away.

Apart from the store, so that the store stays as small as it was, its own program never meets a table whose module
it lacks, and the index gets the page size it needs. The two files never commit together: each vector carries the
hash of the text it was made from, and a vector whose hash does not fit its text counts as none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.errors import IndexBusyError, IndexFileError, NotAStoreError, StoreBusyError, StoreError
from tierdeck.index.path import beside_index_path, index_path
from tierdeck.index.schema import INDEX_VERSION, complete, is_complete
from tierdeck.store import Store, StoreKind

VECTORS = "node_embeddings"
NEXT_VECTORS = "node_embeddings_next"
_BUSY_HINT = "try again when it is done; search by word works meanwhile"
_SOURCE = "source_path"
_WORDS_HINT = "search by word works without it"
REBUILD = "tierdeck embed --rebuild"
REBUILD_HINT = f"`{REBUILD}` makes it anew; search by word works without it"
_DIMENSIONS = re.compile(r"embedding FLOAT\[(\d+)\]", re.IGNORECASE)


def open_for_writing(store: Store) -> apsw.Connection:
    """The store's index file, open for writing; made when it is not there (0600, its folder 0700).

    A store of ours that is only read begins with a copy of the index beside it, whose vectors may have cost money.

    Raises:
        IndexFileError: a file is there that is no index of ours, is damaged, or is of another version.
        IndexBusyError: another program holds the index file.
        ModelUnavailableError: sqlite-vec can't be loaded.
    """
    path = index_path(store)
    if not path.exists():
        _copy_beside(path, store)
        _make_file(path, store)
    conn = _open(path, is_writing=True)
    try:
        with index_errors(path):
            if not _is_made(conn, path) or _is_older(conn) or not is_complete(conn):
                with conn:  # all of it or nothing: a half-made file has no table and is made at the next opening
                    complete(conn)
                    set_setting(conn, "index_version", INDEX_VERSION)
            _name_source(conn, store)
    except BaseException:
        conn.close()
        raise
    return conn


def open_for_reading(store: Store) -> apsw.Connection | None:
    """The store's index file, open for reading; None when there is none yet. Raises as `open_for_writing`.

    A store of ours that is only read has a copy of the index beside it made first.
    """
    path = index_path(store)
    if not path.exists():
        _copy_beside(path, store)
    if not path.exists() or path.stat().st_size == 0:
        return None
    conn = _open(path, is_writing=False)
    try:
        with index_errors(path):
            if _is_made(conn, path):
                return conn
    except BaseException:
        conn.close()
        raise
    conn.close()  # another process is making it just now
    return None


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """Turn what the driver raises about the index file into errors of ours; the store's own pass through."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as e:
        raise IndexBusyError(f"use index {path}: another program holds it", hint=_BUSY_HINT) from e
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as e:
        raise _refused(f"use index {path}", db.disk_fault(e, path) or db.DiskFault(str(e))) from e
    except apsw.Error as e:
        # vec0 raises a plain SQLError when its own tables lack what they must hold.
        raise IndexFileError(f"use index {path}: it is damaged ({e})", remedy=REBUILD, hint=REBUILD_HINT) from e


def rebuild_index(store: Store) -> Path | None:
    """Make room for a new index file; the next run of the indexer fills it. Not while another one runs.

    Everything in an index can be made again, so one of ours, damaged or not, is removed. A file that is no index of
    ours is moved aside instead.

    Returns:
        Where a file or folder that is not ours lies now; None when there was none.

    Raises:
        IndexFileError: it can't be removed.
    """
    path = index_path(store)
    aside = _free_name(path) if path.is_dir() or _is_anothers(path) else None
    try:
        if aside is not None:
            path.rename(aside)
        for suffix in ("", *db.LOG_SUFFIXES):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError as e:
        raise IndexFileError(f"remove index {path}: {e.strerror}", hint="see who may write its folder") from e
    return aside


def dimensions_of(conn: apsw.Connection, table: str) -> int | None:
    """The vectors' length in a vec0 table as it really is; None when the table is not there.

    `CREATE ... IF NOT EXISTS` keeps an old table's length without a word, so it is read from the schema.
    """
    row = conn.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    found = _DIMENSIONS.search(str(row[0])) if row else None
    return int(found.group(1)) if found else None


def create_vectors(conn: apsw.Connection, table: str, dimensions: int) -> None:
    """Make a vec0 table for vectors of that length. Spec: SPEC-09.03"""
    conn.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} "
        f"USING vec0(node_id TEXT PRIMARY KEY, embedding FLOAT[{int(dimensions)}])"
    )


def get_setting(conn: apsw.Connection, key: str) -> object:
    """The value the index file holds under the key; None when there is none."""
    row = conn.execute("SELECT value FROM index_setting WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def set_setting(conn: apsw.Connection, key: str, value: str | int | None) -> None:
    """Set a value in the index file; inside the caller's transaction."""
    conn.execute("INSERT OR REPLACE INTO index_setting (key, value) VALUES (?, ?)", (key, value))


def source_of(file: Path) -> Path | None:
    """The store that an index file says it was made from; None when it says nothing, as while it is being made.

    Raises:
        StoreError: it can't be read.
    """
    with closing(db.open_untouched(file)) as conn, db.driver_errors(file, "read"):
        found = get_setting(conn, _SOURCE) if _has_settings(conn) else None
    return Path(found) if isinstance(found, str) else None


def _name_source(conn: apsw.Connection, store: Store) -> None:
    """Let the index say whose it is; that of a copied store still names the store it was copied from."""
    source = str(store.path.resolve())
    if _has_settings(conn) and get_setting(conn, _SOURCE) != source:
        with conn:
            set_setting(conn, _SOURCE, source)


def _has_settings(conn: apsw.Connection) -> bool:
    return conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'index_setting'").fetchone() is not None


def _open(path: Path, *, is_writing: bool) -> apsw.Connection:
    try:
        return db.open_index(path, is_writing=is_writing)
    except StoreBusyError as e:
        raise IndexBusyError(e.message.replace("open", "use index", 1), hint=_BUSY_HINT) from e
    except StoreError as e:
        fault = _disk_fault(e, path)
        if fault is not None:  # its vectors may be sound, and have cost money
            raise _refused(f"use index {path}", fault) from e
        message = e.message.replace("open", "use index", 1)
        raise IndexFileError(message, remedy=REBUILD, hint=REBUILD_HINT) from e


def _is_made(conn: apsw.Connection, path: Path) -> bool:
    """Whether the file is an index that we can use; False for one without any table, an error for any other.

    An older version lacks tables and nothing else: whoever reads goes on without them, whoever writes adds them.
    """
    if conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return False
    if conn.pragma("application_id") != db.INDEX_APPLICATION_ID:
        raise IndexFileError(
            f"use index {path}: it is not an index of ours", remedy=REBUILD, hint=f"`{REBUILD}` moves it aside"
        )
    version = get_setting(conn, "index_version")
    if not isinstance(version, int) or not 1 <= version <= INDEX_VERSION:
        raise IndexFileError(
            f"use index {path}: its version is {version}, this program's {INDEX_VERSION}",
            remedy=REBUILD,
            hint=REBUILD_HINT,
        )
    # In the head of the file: with small pages a chunk of vectors is a chain of thousands.
    page_bytes = conn.pragma("page_size")
    if page_bytes != db.INDEX_PAGE_BYTES:
        raise IndexFileError(
            f"use index {path}: its pages have {page_bytes} bytes, not {db.INDEX_PAGE_BYTES}",
            remedy=REBUILD,
            hint=REBUILD_HINT,
        )
    return True


def _is_older(conn: apsw.Connection) -> bool:
    return get_setting(conn, "index_version") != INDEX_VERSION


def _is_anothers(path: Path) -> bool:
    """Whether the file is sound and not ours, or no database at all; a damaged index counts as ours."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        with closing(db.open_reader(path)) as conn, db.driver_errors(path, "use index"):
            has_tables = conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
            return has_tables and conn.pragma("application_id") != db.INDEX_APPLICATION_ID
    except NotAStoreError:
        return True
    except StoreError:
        return False


def _free_name(path: Path) -> Path:
    count = 1
    while (aside := path.with_name(f"{path.name}.aside-{count}")).exists():
        count += 1
    return aside


def _make_file(path: Path, store: Store) -> None:
    _make_folder(path, store)
    with _making(path), suppress(FileExistsError):  # copied just now, or another process makes it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))


def _make_folder(path: Path, store: Store) -> None:
    if path.parent != store.path.parent:
        with _making(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def _making(path: Path) -> Iterator[None]:
    """Translate what the system refuses while a file or its folder is made."""
    try:
        yield
    except OSError as e:
        raise _refused(f"make index {path}", db.disk_fault(e, path) or db.DiskFault(str(e.strerror))) from e


def _has_beside(path: Path, store: Store) -> bool:
    """Whether the index of a store that is only read can begin as a copy of the one beside it."""
    beside = beside_index_path(store.path)
    return path != beside and store.kind is not StoreKind.FOREIGN and beside.exists()


def _copy_beside(path: Path, store: Store) -> None:
    """Begin with a copy of the index beside the store, its name given when it is whole; one that is there stays.

    What is damaged is not copied: it is made anew. What there is no room for, or what is held, may have cost money,
    and is not.
    """
    if not _has_beside(path, store):
        return
    beside = beside_index_path(store.path)
    _make_folder(path, store)
    try:
        with closing(db.open_untouched(beside)) as source:
            db.copy_database(source, path, lambda copy: _name_source(copy, store))
    except StoreBusyError as e:
        raise IndexBusyError(f"copy index {beside}: another program holds it", hint=_BUSY_HINT) from e
    except StoreError as e:
        fault = _disk_fault(e, path)
        if fault is not None and not path.exists():  # else another process was faster
            raise _refused(f"copy index {beside} to {path.parent}", fault) from e


def _disk_fault(e: StoreError, path: Path) -> db.DiskFault | None:
    """What the disk did, where that was the cause of the error; None for any other cause."""
    cause = e.__cause__
    return db.disk_fault(cause, path) if isinstance(cause, apsw.Error | OSError) else None


def _refused(what: str, fault: db.DiskFault) -> IndexFileError:
    """The error for what only the disk or a folder refuses."""
    hint = f"{fault.remedy}; search by word works meanwhile" if fault.remedy else _WORDS_HINT
    return IndexFileError(f"{what}: {fault.why}", remedy=fault.remedy, hint=hint)
