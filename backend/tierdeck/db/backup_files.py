"""Which files beside a store are its backups, and which are what a crash left of one."""

from __future__ import annotations

import glob
from pathlib import Path

PART_SUFFIX = ".part"
_NO_COPY = (PART_SUFFIX, "-wal", "-shm", "-journal")


def backups_of(path: Path) -> list[Path]:
    """The backups beside a store, in no order; a copy that was cut short is none, nor is a log beside one."""
    return [file for file in _named(path, ".backup-*") if not file.name.endswith(_NO_COPY)]


def remains_of(path: Path) -> list[Path]:
    """What crashes left of copies of a store: it may hold everything that the store held, and nothing reads it."""
    parts = [file for file in _named(path, ".backup-*") if file.name.endswith(_NO_COPY)]
    return parts + list(path.parent.glob(f".{glob.escape(path.name)}.restoring-*"))


def _named(path: Path, pattern: str) -> list[Path]:
    return list(path.parent.glob(f"{glob.escape(path.name)}{pattern}"))
