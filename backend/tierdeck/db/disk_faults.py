"""What a disk error comes from, as far as it can be known: SQLite says "disk I/O error" of a full disk too.

It says "full" only of a write into the file. Before the first read it makes the log's shared memory beside the
file, and on a full disk that fails with another error.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

import apsw

# SQLite's shared memory takes 32 KiB at once, and a page of an index 64.
_LEAST_ROOM_BYTES = 65_536
_MAKE_ROOM = "make room and try again"
_SEE_LIMITS = "see whether a quota or a limit on the size of files is reached"
_REMEDIES = {errno.ENOSPC: _MAKE_ROOM, errno.EDQUOT: _SEE_LIMITS, errno.EFBIG: _SEE_LIMITS}
_WRITING = frozenset(
    {
        apsw.SQLITE_IOERR_WRITE,
        apsw.SQLITE_IOERR_FSYNC,
        apsw.SQLITE_IOERR_DIR_FSYNC,
        apsw.SQLITE_IOERR_TRUNCATE,
        apsw.SQLITE_IOERR_SHMSIZE,
        apsw.SQLITE_IOERR_SHMOPEN,
    }
)


@dataclass(frozen=True, slots=True)
class DiskFault:
    """Why the disk did not do it, as the end of a sentence, and what to do; None where nobody can say.

    `is_of_writing`: who only reads may get by without.
    """

    why: str
    remedy: str | None = None
    is_of_writing: bool = False


def disk_fault(e: apsw.Error | OSError, path: Path) -> DiskFault | None:
    """What the disk did, where the error is one of its own; None for any other.

    Args:
        e: of the system's own errors only those of want of room count.
        path: the database; how much room its disk has is asked now.
    """
    if isinstance(e, OSError):
        remedy = _REMEDIES.get(e.errno or 0)
        return DiskFault(os.strerror(e.errno or 0), remedy, is_of_writing=True) if remedy else None
    code = getattr(e, "extendedresult", 0)
    is_of_writing = code in _WRITING or isinstance(e, apsw.FullError | apsw.CantOpenError)
    if isinstance(e, apsw.FullError) or (is_of_writing and not _has_room(path)):
        return DiskFault("the disk is full", _MAKE_ROOM, is_of_writing=True)
    if not isinstance(e, apsw.IOError):
        return None
    named = f"{e}, {apsw.mapping_extended_result_codes.get(code, code)}"
    if is_of_writing:
        return DiskFault(f"the disk takes no more ({named})", _SEE_LIMITS, is_of_writing=True)
    return DiskFault(f"the disk gave an error ({named})")


def _has_room(path: Path) -> bool:
    """Whether the disk that the file itself is on takes another page and another file, as far as it says."""
    try:
        disk = os.statvfs(os.path.dirname(os.path.realpath(path)))  # `Path.resolve` raises on a loop of links
    except OSError:
        return True
    has_files_left = disk.f_files == 0 or disk.f_favail > 0  # some file systems count none
    return disk.f_bavail * disk.f_frsize >= _LEAST_ROOM_BYTES and has_files_left
