"""What the disk refuses, said in our words; and small JSON files that are old or new, never torn."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tierdeck.checkpoint.file.publish import TEMP_PREFIX
from tierdeck.errors import CheckpointError, DamagedCheckpointError

MAX_JSON_BYTES = 32 << 20
STALE_S = 3600
_HINTS = {
    errno.ENOSPC: "free some space, or prune the session's checkpoints",
    errno.EDQUOT: "free some space, or prune the session's checkpoints",
    errno.EFBIG: "the system limits how large a file this process may write",
    errno.EACCES: "this user may not write there",
    errno.EPERM: "this user may not write there",
    errno.EROFS: "the disk is read-only",
    errno.ENOENT: "the folder was moved or deleted",
    errno.ENOTDIR: "the folder was moved or deleted",
}
# A link, and a socket as Linux and macOS refuse it.
_NO_ORDINARY_FILE = frozenset({errno.ELOOP, errno.ENXIO, errno.EOPNOTSUPP})


@contextmanager
def disk_errors(doing: str) -> Iterator[None]:
    """Turn what the system refuses into a CheckpointError that begins with `doing`."""
    try:
        yield
    except OSError as e:
        raise CheckpointError(f"{doing}: {e.strerror or e}", hint=_HINTS.get(e.errno or 0)) from e


def read_json(path: Path) -> dict[str, object] | None:
    """A small file's object; None when there is no such file.

    Raises:
        DamagedCheckpointError: it is no JSON object, no ordinary file, or longer than 32 MB.
        CheckpointError: it can't be read.
    """
    try:
        with disk_errors(f"read {path}"):
            data = _read(path)
    except CheckpointError as e:
        if isinstance(e.__cause__, FileNotFoundError):
            return None
        raise
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise DamagedCheckpointError(f"read {path}: it is no JSON ({str(e)[:80]})") from e
    if type(found) is not dict:
        raise DamagedCheckpointError(f"read {path}: it is no JSON object")
    return found


def as_json(fields: Mapping[str, object]) -> bytes:
    """The bytes of a small file; lone surrogates survive as escapes."""
    return (json.dumps(fields, ensure_ascii=True, sort_keys=True) + "\n").encode("ascii")


def replace_json(path: Path, fields: Mapping[str, object], *, is_durable: bool = True) -> None:
    """Put a small file in the place of the one there: after a crash it is the old one or the new one.

    Args:
        is_durable: after a power cut too; else nothing may be left of either.

    Raises:
        CheckpointError: the disk refuses; the old one is as it was.
    """
    temp = path.with_name(f"{TEMP_PREFIX}{secrets.token_hex(8)}")
    with disk_errors(f"write {path}"):
        try:
            fd = os.open(temp, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(fd, "wb") as file:
                file.write(as_json(fields))
                file.flush()
                if is_durable:
                    os.fsync(fd)
            os.replace(temp, path)
        except BaseException:
            with suppress(OSError):
                temp.unlink()
            raise
        if is_durable:
            flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Have the names in it survive a power cut."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sweep(folder: Path, prefixes: tuple[str, ...], *, now_s: float | None = None) -> int:
    """Unlink what killed processes left: ordinary files that begin so and are older than an hour.

    Returns how many. Raises CheckpointError when the folder can't be read or written.
    """
    before_s = (time.time() if now_s is None else now_s) - STALE_S
    swept = 0
    with disk_errors(f"sweep {folder}"), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefixes) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < before_s:
                        os.unlink(entry.path)
                        swept += 1
    return swept


def _read(path: Path) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as e:
        if e.errno in _NO_ORDINARY_FILE:
            raise DamagedCheckpointError(f"read {path}: a link or a socket is in its place") from e
        raise
    try:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_JSON_BYTES:
            raise DamagedCheckpointError(
                f"read {path}: no ordinary file of at most {MAX_JSON_BYTES:,} bytes, but {state.st_size:,}"
            )
        with open(fd, "rb", closefd=False) as file:
            return file.read(MAX_JSON_BYTES + 1)
    finally:
        # Not left to `open`, which refuses a folder's descriptor and does not close it.
        os.close(fd)
