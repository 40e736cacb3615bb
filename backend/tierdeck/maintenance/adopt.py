"""Taking another program's store into use, and giving it back as it was.

To adopt a store is to add our tables, all named `td_…`, and nothing else: no lasting pragma, no trigger and no
index on its tables. Its own program goes on working in it, without our code and without sqlite-vec.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from tierdeck import db, migrate
from tierdeck.errors import InvalidValueError, NotAStoreError, StoreNotFoundError
from tierdeck.index.path import beside_index_path, cached_index_path
from tierdeck.maintenance.backup import backup_before
from tierdeck.maintenance.index_move import move_index, remove_index
from tierdeck.migrate import StoreKind
from tierdeck.store.rows import quoted_name

# GLOB, not LIKE: its underscore is an underscore.
_OURS = "name GLOB 'td_*'"


@dataclass(frozen=True, slots=True)
class AdoptReport:
    """What adopting did. `tables` were added; `backup` None means that the store was adopted before.

    `index` is where the store's vectors now lie, when some had been made while it was only read.
    """

    path: Path
    backup: Path | None
    tables: tuple[str, ...]
    index: Path | None

    @property
    def was_adopted(self) -> bool:
        """Whether there was nothing left to do."""
        return self.backup is None


@dataclass(frozen=True, slots=True)
class UnadoptPreview:
    """What giving a store back takes out of it: our tables with their rows, and the index file with its bytes.

    `losses` are sentences for the operator; empty when nothing that a person or an agent made would go.
    """

    path: Path
    is_adopted: bool
    rows: Mapping[str, int]
    index_bytes: int
    losses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnadoptReport:
    """What giving a store back did. `backup` None means that it was not adopted, and nothing was done."""

    path: Path
    backup: Path | None
    removed: Mapping[str, int]
    index_removed: bool


def adoptable_kind(path: Path) -> StoreKind:
    """Whether a store waits to be adopted (`FOREIGN`) or is (`ADOPTED`), without touching the store's folder.

    Raises:
        StoreNotFoundError: no such file.
        InvalidValueError: tierdeck made the store itself.
        NotAStoreError, DamagedStoreError: it is nothing that could be adopted.
    """
    kind = _kind_of(path, "adopt")
    if kind is StoreKind.OWN:
        raise InvalidValueError(f"adopt {path}: tierdeck made this store", hint="open it as it is")
    return kind


def adopt(path: Path) -> AdoptReport:
    """Add our tables to another program's store, after a backup; that program may have it open meanwhile.

    A store that is adopted already is left as it is.

    Raises:
        StoreNotFoundError: no such file.
        InvalidValueError: tierdeck made the store itself.
        NotAStoreError, DamagedStoreError, StoreBusyError: the store stays as it was; a backup made stays too.
    """
    if adoptable_kind(path) is StoreKind.ADOPTED:
        return AdoptReport(path, None, (), None)
    with closing(db.open_writer(path)) as conn, db.driver_errors(path, "adopt"):
        kept = backup_before(conn, path, "adopt")
        migrate.migrate(conn, StoreKind.ADOPTED)
        tables = tuple(_our_rows(conn))
    moved = move_index(cached_index_path(path), beside_index_path(path))
    return AdoptReport(path, kept, tables, moved)


def preview_unadopt(path: Path) -> UnadoptPreview:
    """What `unadopt` would take out, found out without touching the store's folder.

    Raises:
        InvalidValueError: tierdeck made the store; nothing of it is another program's.
    """
    kind = _unadoptable_kind(path)
    with closing(db.open_untouched(path)) as conn, db.driver_errors(path, "read"):
        rows = _our_rows(conn)
    index = beside_index_path(path)
    size = index.stat().st_size if index.exists() else 0
    return UnadoptPreview(path, kind is StoreKind.ADOPTED, rows, size, _losses(rows, size))


def unadopt(path: Path) -> UnadoptReport:
    """Take everything of ours out of an adopted store, after a backup; what its program wrote stays as it is.

    Memories that were added, edited or archived through tierdeck stay as they are now: they are the store's. What
    goes is in `preview_unadopt`. A store that is not adopted is left as it is.

    Raises:
        InvalidValueError: tierdeck made the store; nothing of it is another program's.
        StoreBusyError: another program was writing; nothing was removed.
    """
    if _unadoptable_kind(path) is StoreKind.FOREIGN:
        return UnadoptReport(path, None, {}, index_removed=False)
    with closing(db.open_writer(path)) as conn, db.driver_errors(path, "unadopt"):
        kept = backup_before(conn, path, "unadopt")
        removed = _our_rows(conn)
        # Dropping a table first deletes its rows, and ours refer to each other.
        conn.pragma("foreign_keys", False)
        with conn:
            _drop_ours(conn)
    return UnadoptReport(path, kept, removed, remove_index(beside_index_path(path)))


def _kind_of(path: Path, doing: str) -> StoreKind:
    if not path.is_file():
        raise StoreNotFoundError(f"{doing} {path}: there is no such file")
    with closing(db.open_untouched(path)) as conn:
        kind = migrate.kind_of(conn, path)
    if kind is None:
        raise NotAStoreError(f"{doing} {path}: it holds no tables")
    return kind


def _unadoptable_kind(path: Path) -> StoreKind:
    kind = _kind_of(path, "unadopt")
    if kind is StoreKind.OWN:
        raise InvalidValueError(
            f"unadopt {path}: tierdeck made this store, there is no other program to give it back to",
            hint="`tierdeck export` takes its memories out",
        )
    return kind


def _our_rows(conn: apsw.Connection) -> dict[str, int]:
    names = [
        str(row[0])
        for row in conn.execute(f"SELECT name FROM sqlite_master WHERE type = 'table' AND {_OURS} ORDER BY name")
    ]
    return {name: int(conn.execute(f"SELECT count(*) FROM {quoted_name(name)}").get) for name in names}


def _drop_ours(conn: apsw.Connection) -> None:
    """Drop each of our objects and what SQLite counted for our tables; indexes go with their table."""
    for kind in ("trigger", "view", "table"):
        names = conn.execute(f"SELECT name FROM sqlite_master WHERE type = ? AND {_OURS}", (kind,)).fetchall()
        for (name,) in names:
            conn.execute(f"DROP {kind} {quoted_name(str(name))}")
    conn.execute(f"DELETE FROM sqlite_sequence WHERE {_OURS}")


def _losses(rows: Mapping[str, int], index_bytes: int) -> tuple[str, ...]:
    named = (
        ("td_revision", "change can", "changes can", "no longer be undone"),
        ("td_access", "access is", "accesses are", "lost, and what promotion would count"),
        ("td_session", "session is", "sessions are", "lost"),
        (
            "td_promotion_log",
            "row of the promotion log is",
            "rows of the promotion log are",
            "lost: who moved what and why, and what could be undone",
        ),
        ("td_hold", "hold is", "holds are", "lost, released ones included"),
        ("td_confidence", "change of a confidence is", "changes of confidences are", "lost"),
        ("td_no_embedding", "memory loses its", "memories lose their", "mark against being embedded"),
    )
    losses = [
        f"{rows[table]:,} {one if rows[table] == 1 else many} {rest}"
        for table, one, many, rest in named
        if rows.get(table)
    ]
    if index_bytes:
        losses.append(f"the index file ({index_bytes:,} bytes) is removed; `tierdeck embed` can make it again")
    return tuple(losses)
