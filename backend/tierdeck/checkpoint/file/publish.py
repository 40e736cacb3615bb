"""A file put on disk so that it is there whole or not at all, and never takes another's place.

Written under a passing name in the same folder, flushed, then linked to its own: a link fails where a file is
already, a rename would replace it without a word. The folder is flushed too, or the name may be gone after a power
cut though the bytes are there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tierdeck.errors import CheckpointError, ConflictError

TEMP_PREFIX = ".part-"  # what a killed process leaves behind begins with it
_MODE = 0o600
_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW


def publish(path: Path, pieces: Sequence[bytes | memoryview]) -> None:
    """Write a new file, readable by its owner alone.

    Args:
        path: where; its folder is there and nothing has that name yet.
        pieces: its bytes, in order.

    Raises:
        ConflictError: a file of that name is there; it is as it was.
        CheckpointError: the disk is full, the folder is gone or can't be written; nothing is left behind.

    Spec: SPEC-09.22
    """
    temp = path.with_name(f"{TEMP_PREFIX}{secrets.token_hex(8)}")
    try:
        try:
            _write(temp, pieces)
            _give_name(temp, path, pieces)
        finally:
            with suppress(OSError):
                temp.unlink()
        _flush_folder(path.parent)
    except FileExistsError as e:
        raise ConflictError(f"write checkpoint {path}: a file of that name is there") from e
    except OSError as e:
        raise CheckpointError(
            f"write checkpoint {path}: {e.strerror or e}", hint="the checkpoints before it are as they were"
        ) from e


def _write(path: Path, pieces: Sequence[bytes | memoryview]) -> None:
    fd = os.open(path, _FLAGS, _MODE)
    try:
        for piece in pieces:
            view = memoryview(piece)
            while len(view):
                view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _give_name(temp: Path, path: Path, pieces: Sequence[bytes | memoryview]) -> None:
    try:
        os.link(temp, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        # A file system without links. The name is taken first then; a file cut there by a kill shows as damaged.
        try:
            _write(path, pieces)
        except FileExistsError:
            raise
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise


def _flush_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
