"""The index file as a file: moved beside a store that was adopted, removed when the store is given back."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

from tierdeck import db
from tierdeck.errors import StoreError


def move_index(source: Path, target: Path) -> Path | None:
    """Move an index file with all that its log holds; None when there is none, or a program is using it.

    It is never worth a failure: an index that stays where it was can be made again.
    """
    if not source.is_file() or target.exists() or not _is_settled(source):
        return None
    try:
        os.replace(source, target)
    except OSError:  # the cache may lie on another file system
        part = target.with_name(f"{target.name}.moving-{os.getpid()}")
        try:
            shutil.copyfile(source, part)
            part.chmod(0o600)
            os.replace(part, target)
        except OSError:
            part.unlink(missing_ok=True)
            return None
        source.unlink()
    return target


def remove_index(path: Path) -> bool:
    """Remove an index file with its logs; whether there was one."""
    existed = path.exists()
    for end in ("", *db.LOG_SUFFIXES):
        Path(f"{path}{end}").unlink(missing_ok=True)
    return existed


def _is_settled(path: Path) -> bool:
    """Bring the log into the file; False when another program has it open or it is no database."""
    try:
        with closing(db.open_writer(path)) as conn, db.driver_errors(path, "move"):
            conn.set_busy_timeout(0)
            db.empty_wal(conn)
    except StoreError:
        return False
    return not any(Path(f"{path}{end}").exists() for end in db.LOG_SUFFIXES)
