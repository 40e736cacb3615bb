"""All there is to see of a folder, so that a test can say that nothing in it was touched."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

FolderState = dict[str, tuple[int, int, int, int, str]]


def folder_state(folder: Path) -> FolderState:
    """For each name: inode, mode, size, time of writing, digest of its bytes; the folder itself is `.`."""
    state = {".": _entry(folder, b"")}
    for path in sorted(folder.rglob("*")):
        state[str(path.relative_to(folder))] = _entry(path, path.read_bytes() if path.is_file() else b"")
    return state


def _entry(path: Path, data: bytes) -> tuple[int, int, int, int, str]:
    stat = path.lstat()
    return (stat.st_ino, stat.st_mode, stat.st_size, stat.st_mtime_ns, sha256(data).hexdigest())
