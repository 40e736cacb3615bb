"""What a database file's own header says of how it is written, read without opening it as a database.

Through SQLite's file layer and never by `open()`: closing a descriptor of a file drops every POSIX lock that this
process holds on it, and then another program may take the store from under our open connections.
"""

from __future__ import annotations

from pathlib import Path

import apsw

_VERSIONS_AT = 18
_WAL_VERSIONS = b"\x02\x02"  # the write and the read version of the format


def open_raw(path: Path) -> apsw.VFSFile:
    """A database file as bytes, through SQLite's own file layer; `xClose` it."""
    return apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])


def says_wal(file: apsw.VFSFile) -> bool:
    """Whether the file's header asks for a write-ahead log."""
    return file.xRead(len(_WAL_VERSIONS), _VERSIONS_AT) == _WAL_VERSIONS


def asks_for_wal(path: Path) -> bool:
    """Whether the file at the path asks for a write-ahead log; False where it can't be read."""
    try:
        file = open_raw(path)
    except apsw.Error:
        return False
    try:
        return says_wal(file)
    except apsw.Error:
        return False
    finally:
        file.xClose()
