"""Checkpoints beside what others save a session with: pickle, json, dill and the serializer of langgraph.

    python -m tests.bench.checkpoints [--big] [--table] [--write-table] [--dir DIR]

The others are installed into an environment of the benchmark's own in DIR, by default a folder beside other
temporary files, in which all is measured in one process: the formats take turns, and each figure is the best of
several rounds. Nothing is written to a disk but where a file is read in part. `--big` adds a state of 200 MB,
`--table` prints what becomes of each kind of value instead, `--write-table` puts that into FORMAT.md.

Asked of us, for the typical state: a file of at most 2.6 MB; a save at most 1.6 times and a load at most 1.8 times
pickle 5 with zstd 3, which checks nothing and runs code on load; the agent waits at most a quarter of a save. One
small variable of a file of 100 MB: at most 1/100 of loading it. Verification: at least 0.8 of BLAKE2b alone.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from tests.bench.checkpoint_formats import OTHERS, Format, formats, versions
from tests.bench.checkpoint_kinds import NOTE, table_of_kinds
from tests.bench.checkpoint_states import State, checkpoint_of, large, one_among_many, small, typical
from tests.bench.other_environment import is_other_python, other_python
from tests.tierdeck.checkpoint.every_value import same
from tierdeck.checkpoint import (
    AGENT_LIMITS,
    Checkpoint,
    load_checkpoint,
    open_checkpoint,
    pack_checkpoint,
    seal,
)

MB = 1_000_000
ROUNDS = 9
ROUNDS_BIG = 2
FORMAT = Path(__file__).parents[2] / "backend" / "tierdeck" / "checkpoint" / "FORMAT.md"
BEGIN = "<!-- filled by the checkpoint benchmark: table of comparison -->\n"
END = "<!-- end of the table of comparison -->"


@dataclass
class Times:
    """Of one format, in seconds; and its bytes."""

    pack: list[float] = field(default_factory=list)
    save: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    size: int = 0


def main() -> None:
    """Go into the environment with the others, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--big", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--write-table", action="store_true")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "tierdeck-bench-formats")
    asked = parser.parse_args()
    folder = asked.dir.resolve() / "environment"
    if not is_other_python(folder):
        python = other_python(folder, OTHERS)
        raise SystemExit(
            subprocess.run([python, "-m", "tests.bench.checkpoints", *sys.argv[1:]], check=False).returncode
        )
    if asked.table or asked.write_table:
        table = f"{table_of_kinds()}\n\n{NOTE}\nMeasured with {versions()}.\n"
        print(table)
        if asked.write_table:
            write_table(table)
        return
    print(versions())
    measure("small", small(), ROUNDS * 10)
    measure("typical", typical(), ROUNDS)
    if asked.big:
        measure("large", large(), ROUNDS_BIG)
    print("(*) json is given arrays as lists, and gives back those")
    measure_file()


def measure(name: str, state: State, rounds: int) -> None:
    """All formats in turn, and a line for each."""
    all_formats = formats()
    times = [Times() for _ in all_formats]
    for number in range(rounds):
        for each, found in zip(all_formats, times, strict=True):
            if not each.is_slow or number % 3 == 0:
                once(each, state, found)
    packed = pack_checkpoint(checkpoint_of(state))
    raw = sum(len(unit.raw) for unit in packed.units) + sum(len(pool.raw) for pool in packed.pools)
    print(f"{name}: {raw / MB:,.3f} MB raw; best of {rounds}")
    print(f"  {'':20}{'save ms':>10}{'':>8}{'pause ms':>10}{'of save':>8}{'load ms':>10}{'':>8}{'MB':>9}")
    base = times[1]
    for each, found in zip(all_formats, times, strict=True):
        save, pack, load = min(found.save), min(found.pack), min(found.load)
        print(
            f"  {each.name:20}{save * 1e3:>10,.2f}{save / min(base.save):>7.2f}×{pack * 1e3:>10,.2f}"
            f"{pack / save:>8.0%}{load * 1e3:>10,.2f}{load / min(base.load):>7.2f}×{found.size / MB:>9,.3f}"
        )


def once(each: Format, state: State, found: Times) -> None:
    """One round of one format, with the rubbish of the one before out of the way."""
    gc.collect()
    began = time.perf_counter()
    packed = each.pack(state)
    at_packed = time.perf_counter()
    pieces = each.finish(packed)
    found.save.append(time.perf_counter() - began)
    found.pack.append(at_packed - began)
    del packed
    data = b"".join(pieces)
    found.size = len(data)
    gc.collect()
    began = time.perf_counter()
    back = each.load(data)
    found.load.append(time.perf_counter() - began)
    if isinstance(back, Checkpoint) and len(found.load) == 1:
        assert same({"variables": back.repl_state, "messages": back.messages}, state), "what was loaded is another"


def measure_file() -> None:
    """A file of 100 MB: one small variable, the whole, and its trailer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.rlmckpt"
        path.write_bytes(b"".join(seal(pack_checkpoint(checkpoint_of(one_among_many()))).pieces))
        print(f"a file of {path.stat().st_size / MB:,.1f} MB; best of {ROUNDS}, from the page cache")
        beside("one small variable", lambda: one(path), "all of it", lambda: whole(path))
        beside("BLAKE2b alone", lambda: hashed(path), "verify", lambda: verified(path))


def beside(name: str, first: Callable[[], object], other_name: str, other: Callable[[], object]) -> None:
    """Both in turn, several times; the best of each and their ratio."""
    times = [(seconds(first), seconds(other)) for _ in range(ROUNDS)]
    mine, others = (min(column) for column in zip(*times, strict=True))
    print(f"  {name} {mine * 1e3:,.2f} ms, {other_name} {others * 1e3:,.2f} ms, ratio {mine / others:.4f}")


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def one(path: Path) -> object:
    """The small variable, from opening the file on."""
    with open_checkpoint(path, limits=AGENT_LIMITS) as file:
        return file.variable("n")


def whole(path: Path) -> object:
    """Everything in it."""
    with open_checkpoint(path, limits=AGENT_LIMITS) as file:
        return load_checkpoint(file)


def verified(path: Path) -> None:
    """Its trailer."""
    with open_checkpoint(path) as file:
        file.verify()


def hashed(path: Path) -> bytes:
    """The same bytes read in the same steps, and nothing else."""
    digest = blake2b(digest_size=32)
    fd = os.open(path, os.O_RDONLY)
    try:
        while piece := os.read(fd, 1 << 20):
            digest.update(piece)
    finally:
        os.close(fd)
    return digest.digest()


def write_table(table: str) -> None:
    """Put it between the marks in FORMAT.md."""
    text = FORMAT.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    FORMAT.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
