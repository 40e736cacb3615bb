"""Reading a store that must not be touched: opened anew for each read, and read again when its owner wrote."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from tierdeck import db
from tierdeck.errors import StoreBusyError, StoreError

T = TypeVar("T")
_PAUSE_S = 0.02


class _FileChangedError(Exception):
    """What was read is not one state of the file."""


class UntouchedReader:
    """Reads another program's file and leaves no trace of it. Safe to use from several threads."""

    def __init__(self, path: Path, timeout_ms: int) -> None:
        self._path = path
        self._timeout_ms = timeout_ms
        self._current = threading.local()
        self._copy_lock = threading.Lock()
        # A crashed owner's file has to be copied to be read: once for each of its states, not for each read.
        self._copy: db.UntouchedConnection | None = None
        self._is_closed = False

    def read(self, look: Callable[[apsw.Connection], T]) -> T:
        """What `look` gives, all of it from one state of the file; it may run several times.

        Raises:
            StoreBusyError: its owner held it, or wrote to it during each try, until the timeout.
        """
        outer: apsw.Connection | None = getattr(self._current, "reader", None)
        if outer is not None:
            return look(outer)
        deadline = time.monotonic() + self._timeout_ms / 1000
        while True:
            if self._is_closed:
                raise StoreError(f"read {self._path}: the store was closed")
            try:
                return self._read_once(look)
            except (_FileChangedError, StoreBusyError) as e:
                if time.monotonic() > deadline:
                    raise StoreBusyError(
                        f"read {self._path}: its owner held it or changed it for {self._timeout_ms / 1000:g} s",
                        hint="try again when it is done",
                    ) from e
            time.sleep(_PAUSE_S)

    def data_version(self) -> int:
        """A number that differs when the file, its WAL or its journal was written."""
        return hash(db.file_state(self._path))

    def close(self) -> None:
        """Let go of the copy, if one was needed."""
        self._is_closed = True
        with self._copy_lock:
            self._drop_copy()

    def _read_once(self, look: Callable[[apsw.Connection], T]) -> T:
        with self._copy_lock:
            if self._copy is not None:
                if self._copy.seen == db.file_state(self._path):
                    return self._look(self._copy, look)
                self._drop_copy()
        conn = db.open_untouched(self._path, timeout_ms=self._timeout_ms)
        if conn.how == "copy":
            with self._copy_lock:
                self._drop_copy()
                self._copy = conn
                return self._look(conn, look)
        try:
            return self._look(conn, look)
        finally:
            conn.close()

    def _look(self, conn: db.UntouchedConnection, look: Callable[[apsw.Connection], T]) -> T:
        self._current.reader = conn
        conn.execute("BEGIN")
        try:
            result = look(conn)
        except (apsw.Error, ValueError) as e:
            is_passing = isinstance(e, apsw.Error) and db.is_recovering(e)
            if conn.is_still_true() and not is_passing:
                raise
            raise _FileChangedError from e
        finally:
            self._current.reader = None
            conn.execute("ROLLBACK")
        if not conn.is_still_true():
            raise _FileChangedError
        return result

    def _drop_copy(self) -> None:
        if self._copy is not None:
            self._copy.close()
            self._copy = None
