"""The program's own parts, and the store as a file: where it lies, how it is written, whether it is whole."""

from __future__ import annotations

import platform
import sys
from contextlib import closing
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.errors import ModelUnavailableError
from tierdeck.maintenance.backup import list_backups
from tierdeck.maintenance.health import DETAILS, REBUILD_SEARCH_INDEX, Check
from tierdeck.store import Store, StoreKind


def check_driver() -> list[Check]:
    """The versions of what everything stands on; sqlite-vec is loaded to see that it can be."""
    driver = f"apsw {apsw.apsw_version()}, SQLite {apsw.sqlite_lib_version()}"
    checks = [
        Check("python", "ok", f"Python {platform.python_version()} on {sys.platform} {platform.machine()}"),
        Check("driver", "ok", driver),
    ]
    with closing(db.open_scratch()) as conn:
        try:
            db.load_vec(conn)
            checks.append(Check("sqlite-vec", "ok", f"sqlite-vec {conn.execute('SELECT vec_version()').get}"))
        except ModelUnavailableError as e:
            checks.append(Check("sqlite-vec", "bad", f"{e.message}; search by meaning is off", e.hint))
    return checks


def check_place(store: Store) -> list[Check]:
    """Where the store lies, who else may read it, and how it is written."""
    return [_check_file(store), _check_journal(store.path), _check_backups(store.path)]


def check_integrity(conn: apsw.Connection, *, is_thorough: bool) -> Check:
    """SQLite's own check, full-text index included; thorough also compares each index with its table."""
    pragma = "integrity_check" if is_thorough else "quick_check"
    found = [str(row[0]) for row in conn.execute(f"PRAGMA {pragma}({DETAILS})")]
    if found == ["ok"]:
        return Check("integrity", "ok", f"SQLite's {pragma.replace('_', ' ')} finds nothing")
    if all(db.is_full_text_fault(line) for line in found):
        return Check(
            "integrity",
            "bad",
            "the full-text index is damaged; the memories are whole",
            REBUILD_SEARCH_INDEX,
            tuple(found),
        )
    return damaged_check(found[0], tuple(found))


def damaged_check(cause: str, details: tuple[str, ...] = ()) -> Check:
    """The check of a file that SQLite finds malformed."""
    fix = "tierdeck backup --restore, or tierdeck export --salvage"
    return Check("integrity", "bad", f"the file is damaged: {cause}", fix, details[:DETAILS])


def _check_file(store: Store) -> Check:
    path, stat = store.path, store.path.stat()
    whose = {
        StoreKind.OWN: "made by tierdeck",
        StoreKind.ADOPTED: "another program's, adopted",
        StoreKind.FOREIGN: "another program's, only read",
    }[store.kind]
    text = f"{path} ({whose}) on {db.file_system_type(path)}"
    if stat.st_mode & 0o077:
        mode = f"{stat.st_mode & 0o777:o}"
        text = f"{text}; other users of this machine may read it (mode {mode})"
        if store.kind is StoreKind.OWN:
            return Check("file", "warn", text, f"chmod 600 {path}")
        return Check("file", "info", text)
    return Check("file", "ok", text)


def _check_journal(path: Path) -> Check:
    is_wal = db.asks_for_wal(path)
    mode = "write-ahead log" if is_wal else "rollback journal"
    wal = Path(f"{path}-wal")
    wal_bytes = wal.stat().st_size if wal.exists() else 0
    text = f"{mode}, {wal_bytes:,} bytes in the log"
    if db.is_network_file_system(path):
        kind = db.file_system_type(path)
        if is_wal:
            fix = "move the store to a local disk"
            return Check("journal", "bad", f"{text}: unsafe on {kind}, where its memory is not shared", fix)
        return Check("journal", "info", f"{text}: the log is off because {kind} does not share its memory")
    if wal_bytes > db.WAL_LIMIT_BYTES:
        limit = f"more than {db.WAL_LIMIT_BYTES:,}"
        return Check("journal", "warn", f"{text}, {limit}: some program keeps reading and never lets go")
    return Check("journal", "ok", text)


def _check_backups(path: Path) -> Check:
    found = list_backups(path)
    if not found:
        return Check("backups", "info", "no backup stands beside it", "tierdeck backup")
    size = sum(file.stat().st_size for file in found)
    names = tuple(str(file) for file in found[:DETAILS])
    return Check(
        "backups", "info", f"{len(found)} beside it, {size:,} bytes; the newest is {found[0].name}", None, names
    )
