"""Where a checkpoint file's bytes come from: an ordinary file, which is opened with care, or memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tierdeck.errors import CheckpointError, NotFoundError


class Bytes(Protocol):
    """Where a file's bytes come from."""

    def read(self, offset: int, length: int) -> bytes:
        """So many bytes from there; fewer at the end."""

    def size(self) -> int:
        """How many there are."""


class InMemory:
    """A file's bytes that are in memory already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, offset: int, length: int) -> bytes:
        """So many bytes from there; fewer at the end."""
        return self._data[offset : offset + length]

    def size(self) -> int:
        """How many there are."""
        return len(self._data)


@contextmanager
def open_bytes(path: Path | str, *, watch: Callable[[int], None] | None = None) -> Iterator[Bytes]:
    """The bytes of an ordinary file, while the block runs; what the system refuses in it is a CheckpointError.

    Args:
        watch: called after each read with the bytes it gave; what it raises ends the reading.

    Raises:
        NotFoundError: no file is there.
        CheckpointError: it can't be read, or is a link, a pipe or a folder.
    """
    fd, size = _opened(path)
    try:
        yield _OpenFile(fd, size, watch)
    except OSError as e:
        raise CheckpointError(f"read checkpoint {path}: {e.strerror or e}") from e
    finally:
        os.close(fd)


class _OpenFile:
    def __init__(self, fd: int, size: int, watch: Callable[[int], None] | None) -> None:
        self._fd = fd
        self._size = size
        self._watch = watch

    def read(self, offset: int, length: int) -> bytes:
        pieces = []
        while length > 0 and (piece := os.pread(self._fd, length, offset)):
            pieces.append(piece)
            offset, length = offset + len(piece), length - len(piece)
        if self._watch is not None:
            self._watch(sum(map(len, pieces)))
        return b"".join(pieces)

    def size(self) -> int:
        return self._size


def _opened(path: Path | str) -> tuple[int, int]:
    """A descriptor of an ordinary file, and its size."""
    try:
        # A pipe would hold an ordinary open until somebody writes.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as e:
        raise NotFoundError(f"read checkpoint {path}: no such file") from e
    except OSError as e:
        raise CheckpointError(f"read checkpoint {path}: {e.strerror}", hint="a link is not followed") from e
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode):
        os.close(fd)
        raise CheckpointError(f"read checkpoint {path}: it is no ordinary file")
    return fd, facts.st_size
