"""What a database file's own header says of how it is written, without opening it as a database."""

from __future__ import annotations

from pathlib import Path

_WAL_VERSIONS = b"\x02\x02"  # bytes 18 and 19: the write and the read version of the format


def asks_for_wal(path: Path) -> bool:
    """Whether the file asks for a write-ahead log; False where it can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(20)[18:20] == _WAL_VERSIONS
    except OSError:
        return False
