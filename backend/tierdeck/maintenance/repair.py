"""What doctor found and can mend: in the store each in one transaction, after a backup."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from tierdeck import migrate
from tierdeck.errors import InvalidValueError, ReadOnlyStoreError
from tierdeck.maintenance.backup import backup
from tierdeck.maintenance.index_repair import INDEX_REPAIRS
from tierdeck.maintenance.promotion_checks import REPAIR_LOG
from tierdeck.maintenance.row_checks import delete_orphans
from tierdeck.maintenance.schema_check import promised_objects, real_objects
from tierdeck.promote.evidence.facts_sql import has_confidence_log
from tierdeck.promote.log.breaks import accept_break
from tierdeck.promote.log.rebuild import rebuild_all_facts
from tierdeck.store import Store, StoreKind


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was mended: (name of the check, what was done) in the order of `REPAIRS`; the backup made before.

    `backup` is None where only the index file was mended.
    """

    backup: Path | None
    done: tuple[tuple[str, str], ...]


def repair(store: Store, names: Sequence[str], *, actor: str = "doctor") -> RepairReport:
    """Mend what the checks of those names found; what is in order already comes out the same.

    Memories, relations and their history stay as they are.

    Args:
        names: of `REPAIRS`: "search-index" builds the full-text index anew from the memories, "orphans" deletes our
            rows of memories that are gone, "schema" puts back a missing index or trigger in a store of ours,
            "promotion-counts" counts the accesses anew, "promotion-log" lets a log whose end was cut off go on,
            "vector-bits" makes the bits of the vectors anew, without asking a model, "extra-terms" the terms that
            search inside words goes by, and "word-list" takes the store's words in anew: these three in the index
            file alone, also of a store that is only read.
        actor: who mends; stands in the record that the log keeps.

    Raises:
        InvalidValueError: a name is none that can be mended; nothing was changed.
        ReadOnlyStoreError: the store is open for reading, and more than its index file is to be mended.
        DamagedStoreError: the file itself is damaged; nothing was changed.
        IndexFileError: the index file can't be used; what came before in the order is mended.
    """
    unknown = [name for name in names if name not in REPAIRS]
    if unknown or not names:
        what = f"{unknown[0]!r} is none of" if unknown else "name at least one of"
        raise InvalidValueError(f"repair {store.path}: {what} {', '.join(REPAIRS)}")
    in_store = [name for name in _STORE_REPAIRS if name in names]
    if in_store and store.read_only:
        raise ReadOnlyStoreError(
            f"repair {store.path}: it is open for reading", hint="adopt it first, or open it to write"
        )
    kept = backup(store, migrate.backup_path(store.path, "repair")).path if in_store else None
    done = []
    for name in in_store:
        with store.writing() as conn:
            done.append((name, _STORE_REPAIRS[name](_Patient(store, conn, actor))))
    done += [(name, mend(store)) for name, mend in INDEX_REPAIRS.items() if name in names]
    return RepairReport(kept, tuple(done))


@dataclass(frozen=True, slots=True)
class _Patient:
    """The store to mend, its transaction, and who mends it."""

    store: Store
    conn: apsw.Connection
    actor: str


def rebuild_search_index(conn: apsw.Connection, kind: StoreKind) -> str:
    """Make `content_fts` anew from `nodes`, inside the caller's transaction.

    Dropped and made again by its own statement rather than emptied: deleting from a damaged index fails, and takes
    twice as long on a sound one. In a store of ours each row takes its memory's pk as rowid; in another program's
    the rowids are SQLite's, as that program's own rebuild leaves them.
    """
    sql = str(conn.execute("SELECT sql FROM sqlite_master WHERE name = 'content_fts'").get)
    conn.execute("DROP TABLE content_fts")
    conn.execute(sql)
    if kind is StoreKind.OWN:
        conn.execute(
            "INSERT INTO content_fts (rowid, node_id, content, type) "
            "SELECT pk, id, content, type FROM nodes ORDER BY pk"
        )
    else:
        conn.execute("INSERT INTO content_fts (node_id, content, type) SELECT id, content, type FROM nodes")
    return f"{conn.changes():,} memories indexed anew"


def _rebuild_search_index(patient: _Patient) -> str:
    return rebuild_search_index(patient.conn, patient.store.kind)


def _clear_orphans(patient: _Patient) -> str:
    return f"{delete_orphans(patient.conn):,} rows of memories that are gone were deleted"


def _put_back_objects(patient: _Patient) -> str:
    """Indexes and triggers only: a missing table is lost data, and an empty one in its place would hide that."""
    conn, kind = patient.conn, patient.store.kind
    promised, found = promised_objects(kind, migrate.version_of(conn)), real_objects(conn)
    made = []
    for (what, name), sql in promised.items():
        if what in ("index", "trigger") and (what, name) not in found:
            conn.execute(sql)
            made.append(name)
    return f"put back {', '.join(made)}" if made else "nothing was missing"


def _count_anew(patient: _Patient) -> str:
    rebuild_all_facts(patient.conn, logs_confidence=has_confidence_log(patient.store))
    return f"{patient.conn.execute('SELECT count(*) FROM td_facts').get:,} memories counted anew"


def _go_on_with_log(patient: _Patient) -> str:
    accepted = accept_break(patient.store, patient.actor, REPAIR_LOG)
    if accepted is None:
        return "nothing: it ends where its head says; rows before its end that do not fit stay as they are"
    return f"it goes on from row {accepted.new_head.partition(':')[0]}; that it was cut stays on record"


_STORE_REPAIRS: dict[str, Callable[[_Patient], str]] = {
    "schema": _put_back_objects,
    "search-index": _rebuild_search_index,
    "orphans": _clear_orphans,
    "promotion-counts": _count_anew,
    "promotion-log": _go_on_with_log,
}
REPAIRS = (*_STORE_REPAIRS, *INDEX_REPAIRS)
"""What can be mended, by the name of its check. The schema first: an index is only kept by its triggers."""
