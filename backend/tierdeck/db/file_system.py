"""What kind of file system a path lies on, since WAL's shared memory does not reach across a network."""

from __future__ import annotations

from pathlib import Path

_NETWORK = frozenset(
    {
        "9p", "afpfs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "lustre",
        "nfs", "nfs4", "smb3", "smbfs", "sshfs",
    }
)  # fmt: skip


def is_network_file_system(path: Path) -> bool:
    """Whether the file lies where WAL's shared memory does not reach every user of it (Linux; else False)."""
    return file_system_type(path) in _NETWORK


def file_system_type(path: Path) -> str:
    """The kind of file system the path lies on, as the kernel names it; "unknown" where it can't be told."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown"
    best, kind = "", "unknown"
    here = str(path.resolve())
    for line in mounts:
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        mount = parts[1].replace("\\040", " ")
        is_above = mount == "/" or here == mount or here.startswith(mount + "/")
        if is_above and len(mount) >= len(best):
            best, kind = mount, parts[2]
    return kind
