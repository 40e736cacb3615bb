"""Promotion at scale: a sweep's decision pass beside a loop over the memories, a pull beside a bare insert, lists.

    python -m tests.bench.promotion [nodes] [accesses] [--dir DIR] [--recount]

The store is built once (`promotion_store`, by a process of its own, so that its memory is not counted) and kept in
DIR, by default a folder beside other temporary files. The loops go over a sample of 2,000 memories and are scaled
up: one reads each memory's facts and asks the pure rules, the other counts each memory's raw accesses as well.
Asked of us at 1,000,000 nodes and 10,000,000 accesses: the pass under 5 s and 300 MB, a pull under 0.5 ms, the
first candidates under 10 ms, those near under 100 ms.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from tests.bench.promotion_store import NOW_MS, TRACKED_DAYS, make_store, node_id
from tierdeck.migrate import SCHEMA_VERSION
from tierdeck.model import AccessKind
from tierdeck.promote import candidates, count_candidates, count_near, near, plan_sweep, what_if
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.rules import DAY_MS, Facts, Rules, decide
from tierdeck.store import Store, open_store

RULES = Rules()
SAMPLE_ROWS = 2_000
PULLS = 500
ROUNDS = 5


def main() -> None:
    """Make or find the store, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="?", default=1_000_000)
    parser.add_argument("accesses", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "tierdeck-bench-promotion")
    parser.add_argument("--recount", action="store_true", help="also make all counts anew, in one transaction")
    asked = parser.parse_args()
    path = found_store(asked.dir, asked.nodes, asked.accesses)
    print(f"{asked.nodes:,} nodes, {asked.accesses:,} accesses, {path.stat().st_size / 1e9:.2f} GB")
    with open_store(path, clock=lambda: NOW_MS) as store:
        measure_sweep(store, asked.nodes)
        measure_lists(store)
        measure_pull(store, asked.nodes)
        if asked.recount:
            measure_recount(store)


def found_store(folder: Path, nodes: int, accesses: int) -> Path:
    """The store of that size; built when the folder has none."""
    path = folder / f"v{SCHEMA_VERSION}-{nodes}-{accesses}.db"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", make_store.__module__, str(path), str(nodes), str(accesses)], check=True
        )
        print(f"built in {time.perf_counter() - began:.0f} s")
    return path


def measure_sweep(store: Store, nodes: int) -> None:
    """The decision pass, what it found, and the loops beside it."""
    before = peak_bytes()
    took, plan = timed(lambda: plan_sweep(store, RULES, NOW_MS))
    grown = peak_bytes() - before
    again = min(timed(lambda: plan_sweep(store, RULES, NOW_MS))[0] for _ in range(ROUNDS))
    due = ", ".join(f"{rule} {rows:,}" for rule, rows in plan.due.items())
    print(f"sweep's decision pass: {took:.2f} s first, {again:.2f} s warm, {grown / 1e6:.0f} MB grown; due: {due}")
    ids = [node_id(n) for n in random.Random(1).sample(range(nodes), min(nodes, SAMPLE_ROWS))]
    by_facts, expected = timed(lambda: Counter(is_due_by_facts(store, i) for i in ids))
    by_accesses, counted = timed(lambda: Counter(is_due_by_accesses(store, i) for i in ids))
    for name, seconds in (("facts", by_facts), ("raw accesses", by_accesses)):
        whole = seconds / len(ids) * nodes
        print(
            f"  a loop over {name}: {whole:.0f} s (from {len(ids):,} memories), {whole / again:.0f} times as long"
        )
    print(f"  of the sample due: {expected[True]:,} by facts, {counted[True]:,} by raw accesses")


def is_due_by_facts(store: Store, node: str) -> bool:
    """What the pure rules say of one memory's facts."""
    [facts] = read_facts(store, [node], NOW_MS)
    return decide(facts, RULES, NOW_MS).is_due


def is_due_by_accesses(store: Store, node: str) -> bool:
    """The same from the raw rows of one memory, as a store without summaries has to."""
    return decide(store.read(partial(raw_facts, node=node)), RULES, NOW_MS).is_due


def raw_facts(conn: apsw.Connection, node: str) -> Facts:
    """One memory's facts, its pulls and changes of confidence counted row by row."""
    row: Any = conn.execute("SELECT tier, confidence, last_accessed FROM nodes WHERE id = ?", (node,)).fetchone()
    tier, confidence, last_accessed = row
    pulls: Any = conn.execute(
        "SELECT s.root_id, a.at, coalesce(a.outcome, s.outcome, r.outcome) FROM td_access a "
        "JOIN td_session s ON s.id = a.session_id JOIN td_session r ON r.id = s.root_id "
        "WHERE a.node_id = ? AND a.kind = 'pull' ORDER BY a.at DESC",
        (node,),
    ).fetchall()
    changes: Any = conn.execute(
        "SELECT timestamp, old_confidence, new_confidence FROM confidence_updates WHERE node_id = ? "
        "ORDER BY timestamp",
        (node,),
    ).fetchall()
    roots = Counter(root for root, _, _ in pulls)
    latest = list(roots)[:3]
    start = min((at for root, at, _ in pulls if root in latest), default=0)
    held = [confidence, *[new for at, _, new in changes if at <= start][-1:]]
    held += [value for at, *values in changes if at > start for value in values]
    return Facts(
        node_id=node,
        tier=tier,
        max_pulls=max(roots.values(), default=0),
        sessions=len(roots),
        successes=len({root for root, _, worth in pulls if worth == "success"}),
        failures=len({root for root, _, worth in pulls if worth == "failure"}),
        confidence_held=min(held) if pulls else None,
        last_use_ms=max(last_accessed, NOW_MS - TRACKED_DAYS * DAY_MS),
    )


def measure_lists(store: Store) -> None:
    """The lists that the console shows; the first time, then the median of a few."""
    looks: tuple[tuple[str, Callable[[], object]], ...] = (
        ("first 50 candidates", lambda: candidates(store, RULES, NOW_MS)),
        *(
            (f"  {rule}", partial(candidates, store, RULES, NOW_MS, rule=rule))
            for rule in count_candidates(store, RULES, NOW_MS)
        ),
        ("first 50 near", lambda: near(store, RULES, NOW_MS)),
        ("  session-longterm", lambda: near(store, RULES, NOW_MS, rule="session-longterm")),
        ("  longterm-archive", lambda: near(store, RULES, NOW_MS, rule="longterm-archive")),
        ("count of candidates", lambda: count_candidates(store, RULES, NOW_MS)),
        ("count of near", lambda: count_near(store, RULES, NOW_MS)),
        ("what if 60 days", lambda: what_if(store, RULES, Rules(archive_days=60), NOW_MS)),
    )
    for name, look in looks:
        first = timed(look)[0]
        median = statistics.median(timed(look)[0] for _ in range(ROUNDS))
        print(f"{name}: {first * 1000:.1f} ms first, {median * 1000:.1f} ms median")


def measure_pull(store: Store, nodes: int) -> None:
    """A pull recorded, counted and evaluated, in turns with a bare insert and commit by the same writer."""
    draw = random.Random(2)
    stayed: list[float] = []
    moved: list[float] = []
    bare: list[float] = []
    for _ in range(PULLS):
        # Skewed as the accesses in the store are: mostly what was used before.
        node, session = node_id(int(draw.random() ** 3 * nodes)), draw.randrange(1, 20)
        took, report = timed(partial(record_accesses, store, session, [node], AccessKind.PULL))
        (moved if report.moved else stayed).append(took)
        bare.append(timed(partial(insert_bare, store, session, node))[0])
    floor = statistics.median(bare)
    print(f"a bare insert and commit: {floor * 1000:.3f} ms median")
    for times, what in ((stayed, "recorded and evaluated"), (moved, "that moved the memory, both logs written")):
        if times:
            one = statistics.median(times)
            print(f"one pull {what}: {one * 1000:.3f} ms median of {len(times)}, {one / floor:.1f} times")


def insert_bare(store: Store, session: int, node: str) -> None:
    """One row in one transaction; a listing, so that the counts stay right."""
    with store.writing(is_synced=False) as conn:
        conn.execute(
            "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, 'shown', ?)",
            (node, session, NOW_MS),
        )


def measure_recount(store: Store) -> None:
    """All counts made anew; last, since it needs memory."""
    with store.writing() as conn:
        took, _ = timed(lambda: recount(conn, logs_confidence=True))
    print(f"all counts made anew: {took:.1f} s")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds by the clock, and what the work gave."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def peak_bytes() -> int:
    """The most memory this process has had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main()
