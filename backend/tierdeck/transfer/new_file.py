"""A file that is either there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tierdeck.errors import InvalidValueError, TransferError


@contextmanager
def new_file(target: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file to write that takes the target's name only when everything in it is on the disk (0600).

    Raises:
        InvalidValueError: the target exists and `overwrite` is off, or it is a folder; it stays as it was.
        TransferError: the disk refuses; nothing is left behind.
    """
    if target.is_dir():
        raise InvalidValueError(f"write {target}: it is a folder")
    if target.exists() and not overwrite:
        raise InvalidValueError(f"write {target}: it exists", hint="name another file, or give --force")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    except OSError as e:
        raise TransferError(f"write {target}: {e.strerror}") from e
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except OSError as e:
        Path(name).unlink(missing_ok=True)
        raise TransferError(f"write {target}: {e.strerror or e}") from e
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
