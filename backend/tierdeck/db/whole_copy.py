"""A whole database copied online into a new file, and checked."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from tierdeck.db.connections import URI_FLAGS, file_uri
from tierdeck.db.driver_errors import driver_errors
from tierdeck.errors import DamagedStoreError, StoreError


def copy_database(source: apsw.Connection, target: Path) -> None:
    """Copy a whole database online into a new file (0600) and check the copy; an existing file is refused.

    Raises:
        StoreError: the target exists, can't be written, or the copy fails its check; a bad copy is removed.
    """
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    except OSError as e:
        raise StoreError(f"back up to {target}: {e.strerror}") from e
    is_good = False
    try:
        with driver_errors(target, "back up to"):
            copy = apsw.Connection(file_uri(target, "mode=rw"), flags=URI_FLAGS)
            try:
                with copy.backup("main", source, "main") as backup:
                    while not backup.done:
                        backup.step(1_000)
                found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check")]
                # A copy in WAL mode would leave -shm and -wal beside the backup at its first look.
                copy.pragma("journal_mode", "delete")
            finally:
                copy.close()
        # A full-text index out of order is copied as it is: it can be made again, and that needs a backup first.
        faults = [line for line in found if line != "ok" and not is_full_text_fault(line)]
        if faults:
            raise DamagedStoreError(f"back up to {target}: the copy fails SQLite's check ({faults[0]})")
        is_good = True
    finally:
        if not is_good:
            target.unlink(missing_ok=True)


def is_full_text_fault(line: str) -> bool:
    """Whether a line of SQLite's integrity check is about a full-text index, which its table can make again."""
    return "fts5" in line.lower()
