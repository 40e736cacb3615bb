"""One open store: whose it is, how it is read, how it is written.

Readers and the writer are kept apart. `read` hands a function a connection inside one short read transaction, and
may run it again: a store that we must not touch is opened anew for each read, and what was read while its owner
changed it is read again. `writing` is one IMMEDIATE transaction on the process's only writer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import apsw

from tierdeck import db, migrate
from tierdeck.errors import ReadOnlyStoreError, StoreBusyError, StoreNotFoundError
from tierdeck.migrate import StoreKind
from tierdeck.times import now_ms

T = TypeVar("T")
_READ_TRIES = 20


def default_path() -> Path:
    """The store that is used when none is named: `RLM_MEMORY_DB`, else the family's place.

    Spec: SPEC-02.02, SPEC-02.03
    """
    named = os.environ.get("RLM_MEMORY_DB")
    return Path(named).expanduser() if named else Path.home() / ".claude" / "rlm-memory.db"


def open_store(path: Path | str, *, create: bool = False, read_only: bool = False) -> Store:
    """Open a memory store; another program's store that was not adopted is opened read-only as it is.

    An older store of ours is backed up beside itself and migrated, unless it is opened read-only.

    Args:
        path: the SQLite file.
        create: make an empty store where there is no file (folders too, 0700).
        read_only: refuse writes, and leave the folder byte for byte as it was.

    Raises:
        StoreNotFoundError: no file there and `create` is off.
        NotAStoreError, DamagedStoreError, StoreBusyError: the file stays as it was.
        SchemaVersionError: a newer tierdeck made it and it was to be written.
    Spec: SPEC-02.01 to SPEC-02.04
    """
    path = Path(path).expanduser()
    if not path.exists():
        if not create or read_only:
            raise StoreNotFoundError(
                f"open {path}: there is no such file",
                hint="name a store with --db, make one with `tierdeck add`, or try `tierdeck demo`",
            )
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    elif path.is_dir():
        raise StoreNotFoundError(f"open {path}: it is a folder, not a file")
    is_empty = path.stat().st_size == 0
    if is_empty and not create:
        raise db.damaged(path, "open", "it has 0 bytes")
    kind = StoreKind.OWN if is_empty else _look(path)
    if kind is StoreKind.FOREIGN or read_only:
        return Store(path, kind, read_only=True)
    writer = db.open_writer(path)
    try:
        _bring_up_to_date(writer, path, kind, is_empty=is_empty)
    except BaseException:
        writer.close()
        raise
    return Store(path, kind, read_only=False, writer=writer)


def _look(path: Path) -> StoreKind:
    conn = db.open_untouched(path)
    try:
        kind = migrate.kind_of(conn, path)
    finally:
        conn.close()
    return kind or StoreKind.OWN


def _bring_up_to_date(writer: apsw.Connection, path: Path, kind: StoreKind, *, is_empty: bool) -> None:
    with db.driver_errors(path, "open"):
        has_tables = not is_empty and migrate.kind_of(writer, path) is not None
        version = migrate.version_of(writer) if has_tables else 0
        migrate.check_version(version, path)
        if kind is StoreKind.OWN:
            db.set_journal_mode(writer, path)
        if version == migrate.SCHEMA_VERSION:
            return
        if has_tables:
            db.copy_database(writer, migrate.backup_path(path, f"schema-{version}"))
        migrate.migrate(writer, kind, version)


class Store:
    """One open store. Made by `open_store`; safe to use from several threads; close it when done."""

    def __init__(
        self, path: Path, kind: StoreKind, *, read_only: bool, writer: apsw.Connection | None = None
    ) -> None:
        self.path = path
        self.kind = kind
        self.read_only = read_only
        self._writer = writer
        self._write_lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._readers_lock = threading.Lock()
        self._schema: set[str] | None = None
        self._columns: dict[str, tuple[str, ...]] = {}
        self.clock: Callable[[], int] = now_ms

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection; closing twice is allowed."""
        with self._readers_lock:
            for reader in self._readers:
                reader.close()
            self._readers.clear()
        with self._write_lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def read(self, look: Callable[[apsw.Connection], T]) -> T:
        """Run `look` on a connection inside one short read transaction, all of it one snapshot of the store.

        Args:
            look: reads and returns; it may be run again when the owner of an untouched store wrote meanwhile, so
                it must have no effect but its result.

        Raises:
            DamagedStoreError, StoreBusyError, StoreNotFoundError: nothing was changed.
        """
        with db.driver_errors(self.path, "read"):
            return self._read_untouched(look) if self.read_only else self._read_own(look)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One IMMEDIATE transaction on the writer: all of it, or on an error none.

        Raises:
            ReadOnlyStoreError: the store was opened for reading.
            StoreBusyError: another program holds the store; nothing was changed.
        """
        if self._writer is None:
            raise ReadOnlyStoreError(
                f"write {self.path}: it is open for reading",
                hint="`tierdeck adopt` makes another program's store writable, after a backup"
                if self.kind is StoreKind.FOREIGN
                else "open it without --read-only",
            )
        with self._write_lock, db.driver_errors(self.path, "write"), self._writer:
            yield self._writer

    def now_ms(self) -> int:
        """The store's clock, in milliseconds since the epoch; `clock` may be replaced."""
        return self.clock()

    def data_version(self) -> int:
        """A number that changes when another connection wrote to the store (5 µs)."""
        if self.read_only:
            return hash(db.file_state(self.path))
        return int(self._reader().pragma("data_version"))

    def has_table(self, name: str) -> bool:
        """Whether the store has the table; ours are absent in a store that was not adopted."""
        if self._schema is None:
            rows = self.read(lambda c: c.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall())
            self._schema = {str(row[0]) for row in rows}
        return name in self._schema

    def columns(self, table: Literal["nodes", "hyperedges", "membership"]) -> tuple[str, ...]:
        """The table's columns in their order, as this store has them."""
        if table not in self._columns:
            rows = self.read(lambda c: c.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall())
            self._columns[table] = tuple(str(row[0]) for row in rows)
        return self._columns[table]

    def edge_type_column(self) -> str:
        """What this store calls a relation's type: some versions of the family say `edge_type`."""
        return "type" if "type" in self.columns("hyperedges") else "edge_type"

    def _reader(self) -> apsw.Connection:
        reader: apsw.Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = db.open_reader(self.path)
            self._local.reader = reader
            with self._readers_lock:
                self._readers.append(reader)
        return reader

    def _read_own(self, look: Callable[[apsw.Connection], T]) -> T:
        reader = self._reader()
        if reader.in_transaction:  # a read inside a read shares its snapshot
            return look(reader)
        reader.execute("BEGIN")
        try:
            return look(reader)
        finally:
            reader.execute("ROLLBACK")

    def _read_untouched(self, look: Callable[[apsw.Connection], T]) -> T:
        for _ in range(_READ_TRIES):
            before = db.file_state(self.path)
            conn = db.open_untouched(self.path)
            try:
                with conn:
                    result = look(conn)
            except (apsw.CorruptError, apsw.NotADBError):
                if db.file_state(self.path) == before:
                    raise
                continue
            finally:
                conn.close()
            if db.file_state(self.path) == before or before[3]:  # a live WAL gives a true snapshot by itself
                return result
        raise StoreBusyError(f"read {self.path}: it changed during each of {_READ_TRIES} tries", hint="try again")
