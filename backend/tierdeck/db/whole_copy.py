"""A whole database copied online into a new file, and checked."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import apsw

from tierdeck.db.backup_files import PART_SUFFIX
from tierdeck.db.connections import URI_FLAGS, file_uri
from tierdeck.db.driver_errors import driver_errors
from tierdeck.errors import DamagedStoreError, StoreError


def copy_database(
    source: apsw.Connection, target: Path, finish: Callable[[apsw.Connection], None] | None = None
) -> None:
    """Copy a whole database online into a new file (0600) and check the copy; an existing file is refused.

    The target gets its name only when it is whole; a crash leaves a `….part`, which nothing takes for a copy.

    Args:
        finish: is called with a connection to the copy when all of it is there, before it gets its name.

    Raises:
        StoreError: the target exists, can't be written, or the copy fails its check; a bad copy is removed.
    """
    try:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        descriptor, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=PART_SUFFIX, dir=target.parent)
        os.close(descriptor)
    except OSError as e:
        raise StoreError(f"back up to {target}: {e.strerror}") from e
    part = Path(name)
    try:
        _fill(source, part, target, finish)
        _give_name(part, target)
    except OSError as e:
        raise StoreError(f"back up to {target}: {e.strerror}") from e
    finally:
        part.unlink(missing_ok=True)


def _fill(
    source: apsw.Connection, part: Path, target: Path, finish: Callable[[apsw.Connection], None] | None
) -> None:
    with driver_errors(target, "back up to"):
        copy = apsw.Connection(file_uri(part, "mode=rw"), flags=URI_FLAGS)
        try:
            copy.pragma("journal_mode", "off")  # a part is thrown away whole
            with copy.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(1_000)
            _check(copy, target)
            # A copy in WAL mode would leave -shm and -wal beside the backup at its first look.
            copy.pragma("journal_mode", "delete")
            if finish is not None:
                finish(copy)
        finally:
            copy.close()


def _check(copy: apsw.Connection, target: Path) -> None:
    found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check")]
    # A full-text index out of order is copied as it is: it can be made again, and that needs a backup first.
    faults = [line for line in found if line != "ok" and not is_full_text_fault(line)]
    if faults:
        raise DamagedStoreError(f"back up to {target}: the copy fails SQLite's check ({faults[0]})")


def _give_name(part: Path, target: Path) -> None:
    """Rename without taking the place of a file that came meanwhile."""
    try:
        os.link(part, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.rename(part, target)


def is_full_text_fault(line: str) -> bool:
    """Whether a line of SQLite's integrity check is about a full-text index, which its table can make again."""
    return "fts5" in line.lower()
