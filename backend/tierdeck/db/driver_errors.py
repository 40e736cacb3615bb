"""What the SQLite driver raises, as errors of ours: the one boundary, so that no caller sees `apsw.*`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from tierdeck.db.backup_files import backups_of
from tierdeck.db.disk_faults import DiskFault, disk_fault
from tierdeck.errors import (
    DamagedStoreError,
    InvalidValueError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreBusyError,
    StoreError,
    StoreNotFoundError,
    TierdeckError,
)

BUSY_TIMEOUT_MS = 5_000
_READING = frozenset({"open", "read"})


@contextmanager
def driver_errors(path: Path, doing: str, *, waited_ms: int = BUSY_TIMEOUT_MS) -> Iterator[None]:
    """Turn what apsw raises inside into our errors.

    Args:
        doing: the verb that the message begins with.
        waited_ms: how long the connection waits for a lock, for the message.
    """
    try:
        yield
    except apsw.Error as e:
        raise _translated(_first_error(e), path, doing, waited_ms) from e
    except UnicodeDecodeError as e:
        raise StoreError(f"{doing} {path}: it holds a text that is not UTF-8 ({e.reason} at byte {e.start})") from e
    except UnicodeEncodeError as e:
        raise InvalidValueError(f"{doing} {path}: a text holds half a character (a lone surrogate)") from e
    except OverflowError as e:
        raise InvalidValueError(f"{doing} {path}: a number is beyond 64 bits ({e})") from e


def is_recovering(e: apsw.Error) -> bool:
    """Whether the error says that the WAL's owner is just setting up its shared memory: a moment later it reads."""
    return isinstance(e, apsw.ReadOnlyError) and getattr(e, "extendedresult", 0) in (
        apsw.SQLITE_READONLY_RECOVERY,
        apsw.SQLITE_READONLY_CANTLOCK,
        apsw.SQLITE_READONLY_CANTINIT,
    )


def damaged(path: Path, doing: str, cause: str) -> DamagedStoreError:
    """The error for a malformed file, pointing at its newest backup where one stands beside it."""
    newest = _newest_backup(path)
    found = (
        f"the newest backup is {newest}, `tierdeck backup --restore` brings it back"
        if newest
        else "no backup stands beside it"
    )
    rest = "it can't be salvaged" if doing == "salvage" else "`tierdeck export --salvage` saves what can be read"
    return DamagedStoreError(f"{doing} {path}: the file is damaged ({cause})", hint=f"{found}; {rest}")


def _newest_backup(path: Path) -> Path | None:
    """The latest of the backups that stand beside a store, by their time of writing."""
    try:
        return max(backups_of(path), key=lambda file: (file.stat().st_mtime_ns, file.name), default=None)
    except OSError:
        return None


def _first_error(e: apsw.Error) -> apsw.Error:
    """What went wrong first: SQLite itself rolls back on a full disk, and then apsw's rollback fails as well."""
    before = e.__context__
    return before if isinstance(before, apsw.Error) and "no transaction is active" in str(e) else e


def _translated(e: apsw.Error, path: Path, doing: str, waited_ms: int) -> TierdeckError:
    what = f"{doing} {path}"
    if is_recovering(e):
        return StoreBusyError(
            f"{what}: its owner is just setting up its log; nothing was changed", hint="try again in a moment"
        )
    if isinstance(e, apsw.BusyError | apsw.LockedError):
        return StoreBusyError(
            f"{what}: another program holds it (waited {waited_ms / 1000:g} s); nothing was changed",
            hint="try again when it is done",
        )
    if isinstance(e, apsw.NotADBError):
        return NotAStoreError(f"{what}: it is not an SQLite file", hint="give the file that your agent writes to")
    if isinstance(e, apsw.CorruptError | apsw.FormatError):
        return damaged(path, doing, str(e))
    if isinstance(e, apsw.ReadOnlyError | apsw.PermissionsError | apsw.AuthError):
        return ReadOnlyStoreError(
            f"{what}: it can only be read ({e})", hint="see who may write the file and its folder"
        )
    if isinstance(e, apsw.CantOpenError):
        return _cannot_open(path, doing, e)
    fault = disk_fault(e, path)
    if fault is not None:
        return _by_disk(fault, what, is_reading=doing in _READING)
    if isinstance(e, apsw.ConstraintError):
        return StoreError(f"{what}: the store's own rules refuse it ({e}); nothing was changed")
    if isinstance(e, apsw.SQLError) and str(e).startswith("no such"):
        return StoreError(f"{what}: its tables are not what a memory store has ({e})", hint="run `tierdeck doctor`")
    return StoreError(f"{what}: {e}")


def _by_disk(fault: DiskFault, what: str, *, is_reading: bool) -> StoreError:
    """Reading leaves a trace beside the file, which a full disk refuses, and which `--read-only` does without."""
    unchanged = "; nothing was changed" if fault.is_of_writing else ""
    also = "`--read-only` reads the store meanwhile" if fault.is_of_writing and is_reading else None
    hint = "; ".join(part for part in (fault.remedy, also) if part)
    return StoreError(f"{what}: {fault.why}{unchanged}", hint=hint or None)


def _cannot_open(path: Path, doing: str, e: apsw.Error) -> StoreError:
    what = f"{doing} {path}"
    if not os.path.lexists(path):
        return StoreNotFoundError(f"{what}: there is no such file")
    if not os.access(path, os.R_OK):
        return StoreError(f"{what}: you may not read it", hint="see who owns the file and its folder")
    fault = disk_fault(e, path)
    if fault is not None:
        return _by_disk(fault, what, is_reading=doing in _READING)
    return StoreError(f"{what}: it can't be opened ({e})")
