"""One open store: whose it is, how it is read, how it is written.

Readers and the writer are kept apart. `read` hands a function a connection inside one short read transaction, and
may run it again: a store that we must not touch is opened anew for each read, and what was read while its owner
changed it is read again. `writing` is one IMMEDIATE transaction on the process's only writer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeVar

import apsw

from tierdeck import db
from tierdeck.errors import ReadOnlyStoreError, StoreError
from tierdeck.migrate import StoreKind
from tierdeck.store.change_numbers import newest_number, spread_numbers
from tierdeck.store.raw_row import table_columns
from tierdeck.store.readers import ReaderPool
from tierdeck.store.untouched import UntouchedReader
from tierdeck.times import now_ms

T = TypeVar("T")


class ReadOnlyReason(StrEnum):
    """Why a store can't be written, as the operator reads it."""

    ASKED = "it was opened for reading"
    FOREIGN = "it is another program's store, not adopted"
    NO_PERMISSION = "you may not write the file or its folder"


_HINTS = {
    ReadOnlyReason.ASKED: "open it without --read-only",
    ReadOnlyReason.FOREIGN: "`tierdeck adopt` makes it writable, after a backup",
    ReadOnlyReason.NO_PERMISSION: "see who owns them",
}


class Store:
    """One open store. Made by `open_store`; safe to use from several threads; close it when done.

    `clock` gives the time that is written, in milliseconds since the epoch; a test may replace it.
    """

    def __init__(
        self,
        path: Path,
        kind: StoreKind,
        *,
        writer: apsw.Connection | None = None,
        read_only_reason: ReadOnlyReason | None = None,
        busy_timeout_ms: int = db.BUSY_TIMEOUT_MS,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.path = path
        self.kind = kind
        self.read_only_reason = read_only_reason
        self.clock = clock
        self._busy_timeout_ms = busy_timeout_ms
        self._writer = writer
        self._write_lock = threading.RLock()
        self._readers = (
            ReaderPool(path, busy_timeout_ms) if writer is not None else UntouchedReader(path, busy_timeout_ms)
        )
        self._companions: list[Callable[[], object]] = []
        self._objects: frozenset[tuple[str, str]] | None = None
        self._columns: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def read_only(self) -> bool:
        """Whether writes are refused; `read_only_reason` says why."""
        return self.read_only_reason is not None

    def close(self) -> None:
        """Close every connection, after a write under way; closing twice is allowed."""
        while self._companions:
            self._companions.pop()()
        self._readers.close()
        with self._write_lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def when_closed(self, deed: Callable[[], object]) -> None:
        """Do something when the store is closed: for what was opened beside it and lives as long as it does."""
        self._companions.append(deed)

    def read(self, look: Callable[[apsw.Connection], T]) -> T:
        """Run `look` on a connection inside one short read transaction, all of it one snapshot of the store.

        Args:
            look: reads and returns values, no cursor; it may be run again when the owner of an untouched store
                wrote meanwhile, so it must have no effect but its result.

        Raises:
            DamagedStoreError, StoreBusyError, StoreNotFoundError, StoreError: nothing was changed.
        """
        with db.driver_errors(self.path, "read", waited_ms=self._busy_timeout_ms):
            return self._readers.read(look)

    @contextmanager
    def writing(self, *, is_synced: bool = True) -> Iterator[apsw.Connection]:
        """One IMMEDIATE transaction on the writer: all of it, or on an error none.

        Args:
            is_synced: whether the commit waits until the disk has it; without it, a crash of the process loses
                nothing, one of the machine what was committed last.

        Raises:
            ReadOnlyStoreError: the store was opened for reading.
            StoreBusyError: another program holds the store; nothing was changed.
        """
        if self.read_only_reason is not None:
            raise ReadOnlyStoreError(
                f"write {self.path}: {self.read_only_reason}", hint=_HINTS[self.read_only_reason]
            )
        with self._write_lock, db.driver_errors(self.path, "write", waited_ms=self._busy_timeout_ms):
            if self._writer is None:
                raise StoreError(f"write {self.path}: the store was closed")
            counts = self.kind is StoreKind.OWN and self.has_table("td_change")
            with db.transaction(self._writer, is_synced=is_synced):
                newest = newest_number(self._writer) if counts else 0
                yield self._writer
                if counts:
                    spread_numbers(self._writer, newest)

    def now_ms(self) -> int:
        """The time by the store's clock, in milliseconds since the epoch."""
        return self.clock()

    def data_version(self) -> int:
        """A number that changes when anybody wrote to the store, this process too (5 µs).

        It says that, and nothing more: neither what changed nor how often.
        """
        with db.driver_errors(self.path, "read", waited_ms=self._busy_timeout_ms):
            return self._readers.data_version()

    def has_table(self, name: str) -> bool:
        """Whether the store has the table; ours are absent in a store that was not adopted."""
        return ("table", name) in self._schema()

    def has_index(self, name: str) -> bool:
        """Whether the store has the index; an older store of ours that is only read lacks the latest."""
        return ("index", name) in self._schema()

    def columns(self, table: Literal["nodes", "hyperedges", "membership"]) -> tuple[str, ...]:
        """The table's columns in their order, as this store has them."""
        if table not in self._columns:
            self._columns[table] = tuple(self.read(lambda conn: table_columns(conn, table)))
        return self._columns[table]

    def edge_type_column(self) -> Literal["type", "edge_type"]:
        """What this store calls a relation's type: some versions of the family say `edge_type`."""
        return "type" if "type" in self.columns("hyperedges") else "edge_type"

    def _schema(self) -> frozenset[tuple[str, str]]:
        if self._objects is None:
            rows = self.read(lambda c: c.execute("SELECT type, name FROM sqlite_master").fetchall())
            self._objects = frozenset((str(kind), str(name)) for kind, name in rows)
        return self._objects
