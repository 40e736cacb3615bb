"""A session of many checkpoints: listing it beside a bare scandir and stat, and verification beside plain BLAKE2b.

    python -m tests.bench.checkpoint_folder [count] [--dir DIR]

The files are made once and kept in DIR, by default a folder beside other temporary files. Each line gives the best
of several rounds in which both were measured one after the other. Asked of us: a listing of 10,000 at most 6 times
a bare scandir and stat of the same files; a quick verification at least 0.8 of the speed of BLAKE2b alone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from tests.tierdeck.checkpoint.sample import sample
from tierdeck.checkpoint import AGENT_LIMITS, pack_checkpoint, seal
from tierdeck.checkpoint.folder import SessionFolder, list_sessions, open_session_folder, verify
from tierdeck.checkpoint.folder.names import FileName
from tierdeck.checkpoint.limits import MB

ROUNDS = 7
SESSION = "bench"
BIG_BYTES = 100 * MB


def main() -> None:
    """Make or find the files, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "tierdeck-bench-checkpoints")
    asked = parser.parse_args()
    root = asked.dir / str(asked.count)
    folder = filled(root, asked.count)
    print(f"{asked.count:,} checkpoints of one session")
    beside("listing", lambda: folder.listed(), "scandir and stat", lambda: bare(folder.path))
    beside("listing, every row shown", lambda: shown(folder), "scandir and stat", lambda: bare(folder.path))
    beside(
        "the session in the list of all", lambda: list_sessions(root), "scandir and stat", lambda: bare(folder.path)
    )
    measure_verify(asked.dir)


def filled(root: Path, count: int) -> SessionFolder:
    """The session's folder with so many files, written without flushing each."""
    folder = open_session_folder(root, SESSION, create=True)
    if len(bare(folder.path)) < count:
        data = b"".join(seal(pack_checkpoint(sample(session_id=SESSION))).pieces)
        for number in range(1, count + 1):
            (folder.path / str(FileName(number, number, f"{number:08x}"))).write_bytes(data)
    return folder


def bare(folder: Path) -> list[tuple[str, int]]:
    """Names and sizes, and nothing else."""
    with os.scandir(folder) as entries:
        return [(entry.name, entry.stat(follow_symlinks=False).st_size) for entry in entries]


def shown(folder: SessionFolder) -> int:
    """A listing of which every summary is looked into, as the command line's JSON does."""
    return sum(each.summary is not None for each in folder.listed())


def measure_verify(folder: Path) -> None:
    """One large file, its trailer checked, and the same bytes hashed."""
    path = folder / "big.rlmckpt"
    if not path.exists():
        blob = os.urandom(BIG_BYTES)
        path.write_bytes(b"".join(seal(pack_checkpoint(sample(repl_state={"blob": blob}))).pieces))
    beside(
        f"quick verify of {path.stat().st_size / MB:.0f} MB",
        lambda: verify(path, AGENT_LIMITS, use_cache=False),
        "read and BLAKE2b",
        lambda: hashed(path),
    )
    beside(
        "deep verify of it",
        lambda: verify(path, AGENT_LIMITS, use_cache=False, is_deep=True),
        "read and BLAKE2b",
        lambda: hashed(path),
    )


def hashed(path: Path) -> bytes:
    """The file's BLAKE2b, read in the same steps."""
    digest = blake2b(digest_size=32)
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(MB):
            digest.update(piece)
    return digest.digest()


def beside(name: str, ours: Callable[[], object], other_name: str, other: Callable[[], object]) -> None:
    """Both in turn, several times; the best of each and their ratio."""
    times = [(seconds(ours), seconds(other)) for _ in range(ROUNDS)]
    mine, others = (min(column) for column in zip(*times, strict=True))
    print(f"  {name}: {mine * 1e3:,.1f} ms, {other_name}: {others * 1e3:,.1f} ms, ratio {mine / others:.2f}")


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
