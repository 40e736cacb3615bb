"""Connections that read a store of ours, shared by all threads.

A connection for each thread would be left open by every thread that ends; here a thread borrows one for the length
of a read and gives it back, so that there are as many as reads at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from tierdeck import db
from tierdeck.errors import StoreError

T = TypeVar("T")
_MAX_IDLE = 4


class ReaderPool:
    """Borrowed connections, each read one short transaction."""

    def __init__(self, path: Path, timeout_ms: int) -> None:
        self._path = path
        self._timeout_ms = timeout_ms
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._current = threading.local()
        self._watcher: apsw.Connection | None = None

    def read(self, look: Callable[[apsw.Connection], T]) -> T:
        """What `look` gives, all of it from one snapshot; a read within a read shares the outer one's."""
        outer: apsw.Connection | None = getattr(self._current, "reader", None)
        if outer is not None:
            return look(outer)
        with self._borrowed() as reader:
            self._current.reader = reader
            reader.execute("BEGIN")
            try:
                return look(reader)
            finally:
                self._current.reader = None
                reader.execute("ROLLBACK")

    def data_version(self) -> int:
        """SQLite's own number; it means something only on one and the same connection, so one is kept for it."""
        with self._lock:
            self._check_open()
            if self._watcher is None:
                self._watcher = db.open_reader(self._path, timeout_ms=self._timeout_ms)
            return int(self._watcher.pragma("data_version"))

    def close(self) -> None:
        """Close every idle connection; one that is out is closed when it comes back."""
        with self._lock:
            self._is_closed = True
            for reader in self._idle:
                reader.close()
            self._idle.clear()
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None

    @contextmanager
    def _borrowed(self) -> Iterator[apsw.Connection]:
        with self._lock:
            self._check_open()
            reader = self._idle.pop() if self._idle else None
        if reader is None:
            reader = db.open_reader(self._path, timeout_ms=self._timeout_ms)
        try:
            yield reader
        finally:
            with self._lock:
                is_kept = not self._is_closed and len(self._idle) < _MAX_IDLE and not reader.in_transaction
                if is_kept:
                    self._idle.append(reader)
            if not is_kept:
                reader.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"read {self._path}: the store was closed")
