"""The operator's key, which checkpoints are sealed with: read from a file that nobody else can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tierdeck.checkpoint.file.seal import MAX_KEY_BYTES
from tierdeck.errors import CheckpointKeyError, InvalidValueError

_OTHERS_READ_OR_WRITE = 0o077
_OTHERS_WRITE = 0o022
_NEWLINE_BYTES = 2


def read_key_file(path: Path) -> bytes:
    """The key in a file: all its bytes, less one newline at the end.

    As `ssh` has it, a file of this user's that others can read is refused. One of another owner, such as a secret
    that a container is given, may be readable, and is refused when others can write it.

    Raises:
        CheckpointKeyError: the file can't be read, is open to others, or holds no key of 1 to 64 bytes. What stands
            in it is never part of the message.
    Spec: SPEC-09.22
    """
    doing = f"read key file {path}"
    try:
        # A pipe would hold an ordinary open until somebody writes.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as e:
        why = (e.strerror if isinstance(e, OSError) else None) or str(e)
        raise CheckpointKeyError(f"{doing}: {why}") from e
    try:
        _check_mode(os.fstat(fd), doing)
        data = os.read(fd, MAX_KEY_BYTES + _NEWLINE_BYTES + 1)
    except OSError as e:
        raise CheckpointKeyError(f"{doing}: {e.strerror}") from e
    finally:
        os.close(fd)
    key = data.removesuffix(b"\n").removesuffix(b"\r") if data.endswith(b"\n") else data
    if not 1 <= len(key) <= MAX_KEY_BYTES:
        size = "more" if len(key) > MAX_KEY_BYTES else "none"
        raise CheckpointKeyError(
            f"{doing}: a key has 1 to {MAX_KEY_BYTES} bytes, the file holds {size}",
            hint="`head -c 32 /dev/urandom | base64 > FILE` makes one",
        )
    return key


def key_named(path_text: str | None) -> bytes | None:
    """The key in the file that a setting names, a leading `~` or `~user` replaced; None when it names none.

    Raises:
        CheckpointKeyError: as `read_key_file`, or there is no such user.
    """
    if not path_text:
        return None
    try:
        path = Path(path_text).expanduser()
    except RuntimeError as e:
        raise CheckpointKeyError(
            f"read key file {path_text[:200]}: there is no such user", hint="put ./ before a name with ~"
        ) from e
    return read_key_file(path)


def checked_key(key: bytes | None) -> bytes | None:
    """The key, when it is one that a checkpoint can be sealed with. Raises InvalidValueError."""
    if key is not None and (type(key) is not bytes or not 1 <= len(key) <= MAX_KEY_BYTES):
        size = f"{len(key)} bytes" if type(key) is bytes else type(key).__name__
        raise InvalidValueError(f"set checkpoint key: 1 to {MAX_KEY_BYTES} bytes are allowed, this is {size}")
    return key


def _check_mode(found: os.stat_result, doing: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise CheckpointKeyError(f"{doing}: it is no ordinary file")
    is_ours = found.st_uid == os.getuid()
    too_open = found.st_mode & (_OTHERS_READ_OR_WRITE if is_ours else _OTHERS_WRITE)
    if too_open:
        can = "read" if is_ours else "write"
        raise CheckpointKeyError(
            f"{doing}: its mode is {stat.S_IMODE(found.st_mode):04o}, others may {can} it",
            hint="chmod 600 it; a key that others could read is replaced by a new one",
        )
