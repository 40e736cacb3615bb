"""Copies of a store: made while it is in use, and put back.

A backup is one file, private to its owner (0600), of the whole store as it was at one moment. The index file is
left out: it can be made again, and the hash of each text decides which of its vectors still hold.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from tierdeck import db, migrate
from tierdeck.db.backup_files import backups_of
from tierdeck.errors import ConflictError, DamagedStoreError, InvalidValueError, NotAStoreError, StoreBusyError
from tierdeck.maintenance.backup_check import BackupCheck, verify_backup
from tierdeck.maintenance.manifest import count_rows, drop_manifest, take_manifest, write_manifest
from tierdeck.migrate import StoreKind
from tierdeck.store import Store
from tierdeck.store.change_numbers import skip_numbers
from tierdeck.times import now_ms


@dataclass(frozen=True, slots=True)
class BackupReport:
    """One backup: where it lies, its size, its rows by table; `has_digest` when it can vouch for its content."""

    path: Path
    size_bytes: int
    rows: Mapping[str, int]
    has_digest: bool


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was put back where. `kept` is the copy of what stood there before; None when nothing did."""

    source: Path
    target: Path
    kept: Path | None
    check: BackupCheck


def backup(store: Store, target: Path | None = None) -> BackupReport:
    """Copy a store, also while other programs use it, and check the copy.

    The copy holds one moment of the store, what stands in its write-ahead log included. The store itself and the
    other files of its folder stay as they are.

    Args:
        target: a file that does not exist yet; None makes `<store>.backup-<UTC time>-manual` beside the store.

    Raises:
        InvalidValueError: the target exists; it stays as it was.
        StoreError: the copy can't be written or fails its check; nothing is left behind.
    """
    if target is not None and (target.exists() or target.is_symlink()):
        raise InvalidValueError(f"back up to {target}: it exists", hint="name a file that does not exist yet")
    chosen = target or migrate.backup_path(store.path, "manual")
    has_our_tables = store.kind is not StoreKind.FOREIGN
    rows: dict[str, int] = {}

    def finish(copy: apsw.Connection) -> None:
        rows.update(_vouch(copy) if has_our_tables else count_rows(copy))

    def copy(conn: apsw.Connection) -> None:
        if rows:  # the read is run again when the owner of an untouched store wrote meanwhile
            chosen.unlink(missing_ok=True)
            rows.clear()
        _copy_snapshot(conn, chosen, finish)

    store.read(copy)
    return BackupReport(chosen, chosen.stat().st_size, rows, has_digest=has_our_tables)


def backup_before(conn: apsw.Connection, path: Path, reason: str) -> Path:
    """Copy a store beside itself before something changes it; the copy's name ends in the reason.

    Args:
        conn: a connection to the store that is in no transaction.
    """
    target = migrate.backup_path(path, reason)
    conn.execute("BEGIN")
    try:
        _copy_snapshot(conn, target)
    finally:
        conn.execute("ROLLBACK")
    return target


def list_backups(path: Path) -> list[Path]:
    """The backups beside a store, newest first; also those that a migration, a repair or `adopt` made."""
    return sorted(backups_of(path), reverse=True)


def restore_backup(source: Path, target: Path) -> RestoreReport:
    """Put a backup in the place of a store; what stood there is kept in a copy beside it.

    The backup is verified first and stays as it is. The new file takes the old one's place in one step, so that at
    any moment either the old or the new store stands there, whole.

    Args:
        source: a backup that `verify_backup` finds nothing wrong with.
        target: where the store shall stand; other programs must not have it open.

    Raises:
        DamagedStoreError: the backup has problems; the target is untouched.
        StoreBusyError: another program has the target open; it is untouched.
        ConflictError: source and target are the same file.
        StoreNotFoundError, NotAStoreError: what is given as a backup is none.
    """
    if target.exists() and source.exists() and target.samefile(source):
        raise ConflictError(f"restore {source}: it is the store itself")
    check = verify_backup(source)
    if not check.is_good:
        raise DamagedStoreError(f"restore {source}: {check.problems[0]}", hint="try an older backup")
    fresh = target.with_name(f".{target.name}.restoring-{os.getpid()}")
    try:
        _write_fresh(source, fresh, in_wal=db.asks_for_wal(target))
        kept = _set_aside(target) if target.exists() else None
        os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)
    return RestoreReport(source, target, kept, check)


def _copy_snapshot(
    conn: apsw.Connection, target: Path, finish: Callable[[apsw.Connection], None] | None = None
) -> None:
    """Copy what the open transaction sees.

    Without a first read the transaction holds no snapshot yet, and each write of another program makes SQLite
    begin the copy anew.
    """
    conn.execute("SELECT count(*) FROM sqlite_master").fetchall()
    try:
        db.copy_database(conn, target, finish)
    except DamagedStoreError as e:
        # For `Store.read`, which tells a torn read of an untouched file from true damage, and reads again.
        raise apsw.CorruptError(e.message) from e


def _vouch(copy: apsw.Connection) -> Mapping[str, int]:
    """Write the manifest into a fresh copy; a store without our tables has no place for one."""
    manifest = take_manifest(copy, now_ms())
    with copy:
        write_manifest(copy, manifest)
    return manifest.rows


def _write_fresh(source: Path, fresh: Path, *, in_wal: bool) -> None:
    """The backup as a store again: without its manifest, in the journal mode that the old store had."""
    fresh.unlink(missing_ok=True)
    with closing(db.open_untouched(source)) as old, db.driver_errors(source, "restore"):
        db.copy_database(old, fresh)
    with closing(db.open_writer(fresh)) as conn, db.driver_errors(fresh, "restore"):
        with conn:
            drop_manifest(conn)
            skip_numbers(conn)
        if in_wal:
            conn.pragma("journal_mode", "wal")


def _set_aside(target: Path) -> Path:
    """Keep what stands at the target, whole or damaged, and see that no other program has it open."""
    if target.stat().st_size == 0 and not Path(f"{target}-wal").exists():
        return _copy_of_bytes(target)
    conn = db.open_writer(target)
    try:
        conn.set_busy_timeout(0)
        # In this mode the first read takes the file for itself, and fails when anybody else has it open at all.
        conn.pragma("locking_mode", "exclusive")
        with db.driver_errors(target, "restore to"):
            kept = backup_before(conn, target, "restore")
    except StoreBusyError as e:
        raise StoreBusyError(
            f"restore to {target}: another program has it open; nothing was changed",
            hint="close that program, or restore to another file",
        ) from e
    except (DamagedStoreError, NotAStoreError):
        kept = _copy_of_bytes(target)
    finally:
        conn.close()
    for end in db.LOG_SUFFIXES:  # a log of the old file must not be taken for one of the new
        Path(f"{target}{end}").unlink(missing_ok=True)
    return kept


def _copy_of_bytes(target: Path) -> Path:
    """A damaged file as it is, with its log: what can be salvaged later may stand there."""
    kept = migrate.backup_path(target, "damaged")
    for end in ("", *db.LOG_SUFFIXES):
        part = Path(f"{target}{end}")
        if part.exists():
            descriptor = os.open(f"{kept}{end}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with part.open("rb") as old, os.fdopen(descriptor, "wb") as new:
                shutil.copyfileobj(old, new)
    return kept


def _sync_folder(folder: Path) -> None:
    """Make the rename last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
