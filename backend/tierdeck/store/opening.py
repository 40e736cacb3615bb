"""Which store is opened, and how: whose it is, what it may be used for, and bringing its schema up to date."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import apsw

from tierdeck import db, migrate
from tierdeck.errors import InvalidValueError, NotAStoreError, StoreError, StoreNotFoundError
from tierdeck.migrate import StoreKind
from tierdeck.store.store import ReadOnlyReason, Store
from tierdeck.store.untouched import UntouchedReader
from tierdeck.times import now_ms


def default_path() -> Path:
    """The store that is used when none is named: `RLM_MEMORY_DB`, else the family's place.

    Spec: SPEC-02.02, SPEC-02.03
    """
    named = os.environ.get("RLM_MEMORY_DB")
    return _checked_path(named) if named else Path.home() / ".claude" / "rlm-memory.db"


def open_store(
    path: Path | str,
    *,
    create: bool = False,
    read_only: bool = False,
    busy_timeout_ms: int = db.BUSY_TIMEOUT_MS,
    clock: Callable[[], int] = now_ms,
) -> Store:
    """Open a memory store; another program's store that was not adopted is opened read-only as it is.

    An older store of ours is backed up beside itself and migrated, unless it is opened read-only. One that this
    user may not write is opened read-only too; `Store.read_only_reason` says why.

    Args:
        path: the SQLite file.
        create: make an empty store where there is no file (folders too, 0700).
        read_only: refuse writes, and leave the folder byte for byte as it was.
        busy_timeout_ms: how long a read or write waits for another program.
        clock: what time is written, in milliseconds since the epoch; a test or a replay may give another.

    Raises:
        StoreNotFoundError: no file there and `create` is off.
        NotAStoreError, DamagedStoreError, StoreBusyError, StoreError: the file stays as it was.
        SchemaVersionError: a newer tierdeck made it and it was to be written.
    Spec: SPEC-02.01 to SPEC-02.04
    """
    path = _checked_path(path)
    may_make = create and not read_only
    if not _is_file(path):
        if not may_make:
            raise StoreNotFoundError(
                f"open {path}: there is no such file",
                hint="name a store with --db, make one with `tierdeck add`, or try `tierdeck demo`",
            )
        _make_file(path)
    if path.stat().st_size == 0 and not may_make:
        raise db.damaged(path, "open", "it has 0 bytes")
    kind, version = _look(path, busy_timeout_ms, read_only=read_only)
    if kind is None and not may_make:
        raise NotAStoreError(f"open {path}: it is an SQLite file without any table")
    kind = kind or StoreKind.OWN
    reason = _why_read_only(path, kind, asked=read_only)
    if reason is not None:
        return Store(path, kind, read_only_reason=reason, busy_timeout_ms=busy_timeout_ms, clock=clock)
    migrate.check_version(version, path)
    writer = db.open_writer(path, timeout_ms=busy_timeout_ms)
    try:
        with db.driver_errors(path, "open", waited_ms=busy_timeout_ms):
            _bring_up_to_date(writer, path, kind, clock())
    except BaseException:
        writer.close()
        raise
    return Store(path, kind, writer=writer, busy_timeout_ms=busy_timeout_ms, clock=clock)


def _checked_path(path: Path | str) -> Path:
    try:
        found = Path(path).expanduser()
        str(found).encode()
    except (ValueError, RuntimeError) as e:  # half a character, an unknown ~user
        raise InvalidValueError(f"open {str(path)!r}: it is not a path ({e})") from e
    if "\0" in str(found):
        raise InvalidValueError(f"open {str(path)!r}: it is not a path (it holds a NUL character)")
    return found


def _is_file(path: Path) -> bool:
    """Whether a file stands there; False when nothing does."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    except OSError as e:
        raise StoreError(f"open {path}: {e.strerror}") from e
    if stat.S_ISDIR(mode):
        raise StoreNotFoundError(f"open {path}: it is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise StoreNotFoundError(f"open {path}: it is a device or a pipe, not a file")
    return True


def _make_file(path: Path) -> None:
    """An empty file that only its owner reads, in folders that only its owner enters."""
    try:
        for folder in reversed([p for p in path.parents if not p.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as e:
        raise StoreError(f"make store {path}: {e.strerror}") from e


def _look(path: Path, timeout_ms: int, *, read_only: bool) -> tuple[StoreKind | None, int]:
    """Whose store it is, seen without a trace, and its schema version: 0 for one not ours, or only to be read."""

    def look(conn: apsw.Connection) -> tuple[StoreKind | None, int]:
        kind = migrate.kind_of(conn, path)
        is_ours = kind in (StoreKind.OWN, StoreKind.ADOPTED)
        return kind, migrate.version_of(conn) if is_ours and not read_only else 0

    reader = UntouchedReader(path, timeout_ms)
    try:
        with db.driver_errors(path, "open", waited_ms=timeout_ms):
            return reader.read(look)
    finally:
        reader.close()


def _why_read_only(path: Path, kind: StoreKind, *, asked: bool) -> ReadOnlyReason | None:
    if asked:
        return ReadOnlyReason.ASKED
    if kind is StoreKind.FOREIGN:
        return ReadOnlyReason.FOREIGN
    if not os.access(path, os.W_OK) or not os.access(path.resolve().parent, os.W_OK):
        return ReadOnlyReason.NO_PERMISSION
    return None


def _bring_up_to_date(writer: apsw.Connection, path: Path, kind: StoreKind, at_ms: int) -> None:
    has_tables = migrate.kind_of(writer, path) is not None
    version = migrate.version_of(writer) if has_tables else 0
    migrate.check_version(version, path)
    db.set_writer_cache(writer)
    if kind is StoreKind.OWN:
        db.set_journal_mode(writer, path)
    if version == migrate.SCHEMA_VERSION:
        return
    if has_tables:
        db.copy_database(writer, migrate.backup_path(path, f"schema-{version}"))
    migrate.migrate(writer, kind, at_ms=at_ms)
