"""Search at scale: our meaning leg and our hybrid beside plain vec0, one pass over all vectors, and others.

    python -m tests.bench.search --data DIR [--sizes 1k,20k,100k,1M] [--peers lancedb | --no-peers] [--dir DIR]

DIR of `--data` (or TIERDECK_BENCH_DATA) holds judged collections; the stores are made from their documents once
(`scale_store`), and most queries are theirs. All that is compared is asked in turns in one process, after one
answer that does not count, the process awake; what is rested has slept before, and is there to see, not to compare
with what has not. Ours, vec0 and the passes are asked in rows too, right after each other: in turns each finds in
the caches what a pass over all vectors left there. First answers and memory are taken in new processes. Recall is
measured on the raw cosine against every vector. The pass is one product of all float32 vectors, mapped from a file,
with a query, once by the library's threads and once by one: no search that reads them all can be faster. Others are
installed into an environment of the benchmark's own and compared at 20k and 100k.

"reach" holds what was measured against what is asked of it: ratios, recalls and megabytes, never times alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.exact_neighbours import WANTED, Nearest, exact_nearest, recall
from tests.bench.lifted_embedder import LiftedEmbedder
from tests.bench.other_environment import is_other_python, other_python
from tests.bench.scale_store import ScaleStore, add_arguments, asked_sizes, scale_store
from tests.bench.scale_text import TextSource
from tests.bench.search_limits import LegLimits
from tests.bench.search_narrowing import ALL_ROWS, EVERYTHING, NARROWINGS, Narrowing, is_plain, read_columns
from tests.bench.search_ours import Ours, Passes, numbers_of
from tests.bench.search_peers import PACKAGES, PEERS, Peer, checked_peers, peers, versions
from tests.bench.search_process import first_answers, memory_above_store
from tests.bench.search_queries import Asked, asked_queries
from tests.bench.search_reach import IN_A_ROW, IN_TURNS, HybridTimes, LegTimes, Measured, reach
from tests.bench.turns import Contestant, in_rows, in_turns, load_average, rested
from tierdeck.embed.local import LocalEmbedder
from tierdeck.model import NodeFilter

PEER_SIZES = (20_000, 100_000)
# A tenth of the queries is enough of what takes seconds each.
SLOW_EVERY = 10
CUTS = (10, WANTED)
Vector = NDArray[np.float32]
MEMORY_QUESTIONS = 20


@dataclass(frozen=True)
class Bench:
    """One store opened, what is asked of it, and the true answers by filter and query."""

    made: ScaleStore
    ours: Ours
    asked: Asked
    exact: dict[str, list[Nearest]]
    shares: dict[str, float]
    budget_s: float

    def recalls(self, contestant: Contestant, narrowing: str) -> tuple[float, ...]:
        """Its recall at each of `CUTS`, over the queries that it was asked."""
        right = self.exact[narrowing]
        return tuple(
            float(np.mean([recall(found, right[number], cut) for number, found in contestant.found.items()]))
            for cut in CUTS
        )


def main() -> None:
    """Make the stores, measure each size, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, "1k,20k,100k,1M")
    parser.add_argument("--peers", default=",".join(PEERS), help="which of the others, with commas")
    parser.add_argument("--no-peers", action="store_const", const="", dest="peers")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--budget", type=float, default=120, help="seconds a comparison may take before it is cut")
    parser.add_argument(
        "--peers-dir",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tierdeck-bench-search",
        help="for the others",
    )
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("give --data DIR, or set TIERDECK_BENCH_DATA")
    folder, names = asked.peers_dir.resolve() / "environment", checked_peers(asked.peers)
    if names and not is_other_python(folder):
        python = other_python(folder, PACKAGES)
        again = subprocess.run([python, "-m", "tests.bench.search", *sys.argv[1:]], check=False)
        raise SystemExit(again.returncode)
    ours = [f"{name} {version(name)}" for name in ("numpy", "apsw", "sqlite-vec", "wordllama")]
    print(", ".join([f"Python {platform.python_version()}", *ours, *([versions()] if names else [])]))
    embedder = LiftedEmbedder(LocalEmbedder(), asked.dimensions)
    queries = asked_queries(Path(asked.data), TextSource(Path(asked.data)), embedder, asked.queries)
    for rows in asked_sizes(asked.sizes):
        made = scale_store(rows, Path(asked.data), asked.dir, embedder)
        with Ours(made.path) as opened:
            others = peers(made, names) if rows in PEER_SIZES else ()
            measure(made, opened, queries, asked.budget, list(others))


def measure(made: ScaleStore, ours: Ours, asked: Asked, budget_s: float, others: Sequence[Peer]) -> None:
    """Everything about one store."""
    print(f"\n{made.rows:,} memories × {made.dimensions}, {len(asked)} queries; load {load_average()}", flush=True)
    columns = ours.store.read(read_columns)
    masks = {one.name: columns.mask(one.node_filter) for one in (ALL_ROWS, EVERYTHING, *NARROWINGS)}
    exact = exact_nearest(made.vectors(), asked.vectors, masks)
    bench = Bench(made, ours, asked, exact, {name: float(mask.mean()) for name, mask in masks.items()}, budget_s)
    measured = Measured(made.rows)
    measure_meaning(bench, others, measured)
    measure_narrowed(bench, others, measured)
    measure_hybrid(bench, others, measured)
    measure_processes(bench, measured)
    print(f"  reach; load {load_average()}")
    for line in reach(measured):
        print(f"    {line}")


def measure_meaning(bench: Bench, others: Sequence[Peer], measured: Measured) -> None:
    """The nearest rows without a filter: ours leave out what is archived, others look at all rows."""
    vectors, queries, ours = np.asarray(bench.made.vectors()), bench.asked.vectors, bench.ours
    times = LegTimes(
        Passes(vectors, queries, SLOW_EVERY),
        Contestant("plain vec0", lambda n: ours.plain_vec0(queries[n]), numbers_of, every=SLOW_EVERY),
        Contestant("our meaning leg", partial(_meaning, bench, EVERYTHING.node_filter), numbers_of),
        LegLimits(bench.made, ours.plain),
    )
    sleepers = {times.vec0.name: rested(times.vec0), times.leg.name: rested(times.leg)}
    rivals = [_rival(peer, bench, ALL_ROWS) for peer in others]
    in_turns([*times.contestants, *sleepers.values(), *rivals], len(queries), bench.budget_s)
    again = times.in_a_row()
    in_rows(again.contestants, len(queries), bench.budget_s)
    measured.legs = {IN_TURNS: times, IN_A_ROW: again}
    measured.recalls = bench.recalls(times.leg, EVERYTHING.name)
    measured.flat = next((one for one in rivals if "flat" in one.name), None)
    head = f"{'wall ms':>10}{'CPU ms':>10}{'of vec0':>10}{'of a pass':>11}  recall@10  @{WANTED}"
    for way, each in measured.legs.items():
        print(f"  {f'nearest {WANTED}, asked {way}':33}{head}")
        for one in each.contestants:
            found_by = {each.vec0.name: ALL_ROWS, each.leg.name: EVERYTHING}.get(one.name)
            _print_meaning(one, each, bench.recalls(one, found_by.name) if found_by else ())
            if way == IN_TURNS and one.name in sleepers:
                _print_meaning(sleepers[one.name], each, ())
        if way == IN_TURNS:
            for rival in rivals:
                _print_meaning(rival, each, bench.recalls(rival, ALL_ROWS.name))


def measure_narrowed(bench: Bench, others: Sequence[Peer], measured: Measured) -> None:
    """The nearest rows under each filter."""
    for narrowing in NARROWINGS:
        print(f"  {narrowing.name}: leaves {bench.shares[narrowing.name]:.2%}")
        leg = Contestant("our meaning leg", partial(_meaning, bench, narrowing.node_filter), numbers_of)
        able = [peer for peer in others if peer.can_filter and is_plain(narrowing.node_filter)]
        rivals = [_rival(peer, bench, narrowing) for peer in able]
        in_turns([leg, *rivals], len(bench.asked), bench.budget_s / len(NARROWINGS))
        for one in (leg, *rivals):
            _print_meaning(one, measured.legs[IN_TURNS], bench.recalls(one, narrowing.name))
        measured.narrowed.append((narrowing.name, bench.recalls(leg, narrowing.name)))


def measure_hybrid(bench: Bench, others: Sequence[Peer], measured: Measured) -> None:
    """Whole searches: words joined by OR, and as they are while somebody types."""
    asked, vectors = bench.asked, np.asarray(bench.made.vectors())

    def search(number: int) -> Sequence[object]:
        return bench.ours.hybrid(asked.texts[number], asked.vectors[number]).hits

    def type_on(number: int) -> Sequence[object]:
        return bench.ours.hybrid(asked.typed[number], asked.typed_vectors[number], is_typing=True).hits

    def words_alone(number: int) -> Sequence[object]:
        return bench.ours.words(asked.texts[number]).hits

    times = HybridTimes(
        Passes(vectors, asked.vectors, SLOW_EVERY),
        Contestant("our hybrid", search),
        Contestant("our hybrid, typing", type_on),
        Contestant("  its words alone", words_alone),
    )
    beside = [rested(times.hybrid)]
    beside += [_hybrid_rival(peer, peer.hybrid, asked) for peer in others if peer.hybrid is not None]
    in_turns([*times.contestants, *beside], len(asked), bench.budget_s)
    again = times.in_a_row()
    in_rows(again.contestants, len(asked), bench.budget_s)
    measured.hybrids = {IN_TURNS: times, IN_A_ROW: again}
    for way, each in measured.hybrids.items():
        head = f"{'p50 ms':>10}{'p95 ms':>10}{'CPU ms':>10}{'p50 of a pass':>15}{'p95':>15}"
        print(f"  {f'hybrid, asked {way}':33}{head}")
        for one in (*each.ours, *(beside if way == IN_TURNS else ())):
            _print_hybrid(one, each.passes)


def measure_processes(bench: Bench, measured: Measured) -> None:
    """First answers and memory, in new processes."""
    asked = bench.asked
    with tempfile.TemporaryDirectory() as folder:
        questions = Path(folder) / "questions.json"
        pairs = zip(asked.texts[:MEMORY_QUESTIONS], asked.vectors[:MEMORY_QUESTIONS].tolist(), strict=True)
        questions.write_text(json.dumps(list(pairs)))
        measured.first = first_answers(bench.made.path, questions)
        measured.memory = memory = memory_above_store(bench.made.path, questions)
    print("  first answer of a new process")
    for name, first in zip(("our hybrid", "plain vec0", "our imports alone"), measured.first, strict=True):
        print(f"    {name:31}{first.whole_ms:>10,.0f} ms from its start, {first.from_open_ms:,.0f} ms from opening")
    print(
        f"  private memory above the store's: {memory.held_mb:,.0f} MB held, {memory.peak_mb:,.0f} MB at most,"
        f" {memory.numpy_mb:,.0f} MB of it numpy itself"
    )


def _hybrid_rival(peer: Peer, hybrid: Callable[[str, Vector], Sequence[int]], asked: Asked) -> Contestant:
    return Contestant(f"{peer.name}, hybrid"[:31], lambda n: hybrid(asked.texts[n], asked.vectors[n]), every=2)


def _meaning(bench: Bench, node_filter: NodeFilter, number: int) -> Sequence[str]:
    return bench.ours.meaning(bench.asked.vectors[number], node_filter)


def _rival(peer: Peer, bench: Bench, narrowing: Narrowing) -> Contestant:
    """A peer as a contestant for the nearest rows under a filter."""

    def ask(number: int) -> Sequence[int]:
        return peer.nearest(bench.asked.vectors[number], narrowing.node_filter)

    return Contestant(peer.name, ask, every=2)


def _print_meaning(one: Contestant, beside: LegTimes, recalls: Sequence[float]) -> None:
    of_vec0 = beside.vec0.median_cpu_ms / one.median_cpu_ms
    of_pass = one.median_cpu_ms / beside.passes.cpu_ms
    print(
        f"    {one.name:31}{one.median_wall_ms:>10,.2f}{one.median_cpu_ms:>10,.2f}{f'1/{of_vec0:,.1f}':>10}"
        f"{of_pass:>10.3f}×  {'  '.join(f'{value:.4f}' for value in recalls):16}{len(one.wall_ms):>4} answers",
        flush=True,
    )


def _print_hybrid(one: Contestant, passes: Passes) -> None:
    p50, p95 = (one.wall_quantile_ms(part) for part in (0.5, 0.95))
    ratios = (value / passes.wall_ms for value in (p50, p95))
    print(
        f"    {one.name:31}{p50:>10,.2f}{p95:>10,.2f}{one.median_cpu_ms:>10,.2f}"
        f"{''.join(f'{ratio:>14.3f}×' for ratio in ratios)}{len(one.wall_ms):>5} answers",
        flush=True,
    )


if __name__ == "__main__":
    main()
