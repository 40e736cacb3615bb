"""Whether a backup still holds what was copied, found out without touching its folder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from tierdeck import db, migrate
from tierdeck.errors import DamagedStoreError, StoreError, StoreNotFoundError
from tierdeck.maintenance.fts_drift import find_drift
from tierdeck.maintenance.manifest import count_rows, read_manifest, take_manifest
from tierdeck.migrate import StoreKind
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import log_head
from tierdeck.store import open_store
from tierdeck.store.raw_row import table_columns


@dataclass(frozen=True, slots=True)
class BackupCheck:
    """What looking through a backup gave. `problems` empty means that it can be restored as it is.

    `rows` are counted by table; `notes` say what could not be checked, and what is no fault of the copy. `kind` is
    None when the file is too damaged to tell. `log_head` is where the promotion log ended, as "count:digest": the
    store's own log can be checked against it. None: there was no such log yet.
    """

    path: Path
    kind: StoreKind | None
    made_at_ms: int | None
    rows: Mapping[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    log_head: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems


def verify_backup(path: Path) -> BackupCheck:
    """Look through a backup: structure, references, search index, and rows and digest against its manifest.

    A copy that was made before a migration or an `adopt` carries no manifest: its structure is checked, and a note
    says that nothing vouches for its content.

    Raises:
        StoreNotFoundError: no such file.
        NotAStoreError: it is no SQLite file, or no memory store's.
    """
    if not path.is_file():
        raise StoreNotFoundError(f"verify {path}: there is no such file")
    try:
        with closing(db.open_untouched(path)) as conn, db.driver_errors(path, "verify"):
            check = _look_through(conn, path)
            return check if check.kind is None or check.problems else _with_log(check, conn)
    except DamagedStoreError as e:
        return BackupCheck(path, None, None, {}, (e.message,), ())


def _look_through(conn: apsw.Connection, path: Path) -> BackupCheck:
    kind = migrate.kind_of(conn, path)
    if kind is None:
        return BackupCheck(path, None, None, {}, ("it holds no table",), ())
    found = [str(row[0]) for row in conn.execute("PRAGMA integrity_check")]
    broken = [line for line in found if line != "ok" and not db.is_full_text_fault(line)]
    if broken:
        return BackupCheck(path, kind, None, {}, tuple(f"damaged: {line}" for line in broken[:20]), ())
    notes = _notes(conn, kind) if found == ["ok"] else ["its search index is damaged; doctor can rebuild it"]
    manifest = read_manifest(conn)
    if manifest is None:
        notes.append("it carries no digest of its rows, so only its structure was checked")
        return BackupCheck(path, kind, None, count_rows(conn), (), tuple(notes))
    now = take_manifest(conn, manifest.made_at_ms)
    problems = []
    for table in sorted({*manifest.rows, *now.rows}):
        had, has = manifest.rows.get(table, 0), now.rows.get(table, 0)
        if had != has:
            problems.append(f"{table}: {has:,} rows, {had:,} when it was made")
    if not problems and now.digest != manifest.digest:
        problems.append("the content of its rows is no longer what was copied")
    return BackupCheck(path, kind, manifest.made_at_ms, now.rows, tuple(problems), tuple(notes))


def _with_log(check: BackupCheck, conn: apsw.Connection) -> BackupCheck:
    """The check with what the promotion log in the copy says; a fault of it was one of the store."""
    if not table_columns(conn, "td_promotion_log"):
        return check
    with open_store(check.path, read_only=True) as store:
        head = log_head(store)
        try:
            problem = verify_log(store).problem
        except StoreError as e:
            problem = e.message
    notes = [] if problem is None else [f"its promotion log has a fault that the store had: {problem}"]
    return replace(check, log_head=head, notes=(*check.notes, *notes))


def _notes(conn: apsw.Connection, kind: StoreKind) -> list[str]:
    notes = []
    dangling = len(conn.execute("PRAGMA foreign_key_check").fetchall())
    if dangling:
        notes.append(f"{dangling:,} rows refer to rows that are not there, as they did in the store")
    drift = find_drift(conn, compares_type=kind is StoreKind.OWN)
    if not drift.is_clean:
        notes.append(f"its search index is out of step with the memories ({drift.summary}); doctor can rebuild it")
    return notes
