"""How well search finds what answers a question: recall@10 and nDCG@10 at every alpha, on judged collections.

    python -m tests.bench.quality --data DIR

DIR holds a folder for each collection (`docs.jsonl`, `queries.jsonl`). Documents go into a real store, are embedded
by the local model and searched through the public `search`. Two ways of searching are compared by a paired
bootstrap over queries: the mean difference of nDCG@10 and its 95 % interval over 10,000 resamples.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.retrieval_collection import Collection, JudgedQuery, make_store, read_collection
from tierdeck.embed.embedder import Embedder
from tierdeck.search import SearchAnswer, hybrid_search, rerank
from tierdeck.store import Store
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index

CUT = 10
RESAMPLES = 10_000
SEED = 20_240_917
ALPHAS = tuple(step / 10 for step in range(11))
DEFAULT_ALPHA = 0.5


@dataclass(frozen=True, slots=True)
class Quality:
    """One alpha's figures, query by query."""

    alpha: float
    recall: NDArray[np.float64]
    ndcg: NDArray[np.float64]


def ndcg(found: Sequence[str], relevant: frozenset[str]) -> float:
    """Discounted gain of the first ten over that of the best possible order; binary relevance."""
    gain = sum(1 / math.log2(place + 2) for place, doc in enumerate(found[:CUT]) if doc in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(CUT, len(relevant))))


def recall(found: Sequence[str], relevant: frozenset[str]) -> float:
    """The part of the relevant documents that stands among the first ten."""
    return len(relevant & set(found[:CUT])) / len(relevant)


def measure(collection: Collection, store: Store, embedder: Embedder, index: VectorIndex) -> list[Quality]:
    """Search every query at every alpha: at 0, 0.5 and 1 for real, between by moving the weight."""
    runs = [_run(query, store, embedder, index) for query in collection.queries]
    return [
        Quality(
            alpha,
            np.array([recall(run[alpha], q.relevant) for run, q in zip(runs, collection.queries, strict=True)]),
            np.array([ndcg(run[alpha], q.relevant) for run, q in zip(runs, collection.queries, strict=True)]),
        )
        for alpha in ALPHAS
    ]


def paired_bootstrap(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean difference, and the bounds of its 95 % interval over resampled queries."""
    difference = ours - theirs
    drawn = np.random.default_rng(SEED).integers(0, len(difference), (RESAMPLES, len(difference)))
    low, high = np.quantile(difference[drawn].mean(axis=1), [0.025, 0.975])
    return float(difference.mean()), float(low), float(high)


def _run(query: JudgedQuery, store: Store, embedder: Embedder, index: VectorIndex) -> dict[float, list[str]]:
    def ask(alpha: float) -> SearchAnswer:
        answer = hybrid_search(store, query.text, alpha=alpha, embedder=embedder, index=index)
        if answer.degraded:
            raise SystemExit(f"query {query.id}: {answer.degraded}")
        return answer

    hybrid = ask(DEFAULT_ALPHA)
    answers = {0.0: ask(0.0), 1.0: ask(1.0)}
    for alpha in ALPHAS[1:-1]:
        moved = rerank(hybrid, alpha)
        if moved is None:
            raise SystemExit(f"query {query.id}: alpha {alpha} needs a new query")
        answers[alpha] = moved
    return {alpha: [hit.row.id for hit in answer.hits] for alpha, answer in answers.items()}


def _report(name: str, figures: Sequence[Quality]) -> None:
    print(f"\n{name} ({len(figures[0].ndcg)} queries)\n  alpha  recall@{CUT}  nDCG@{CUT}")
    for figure in figures:
        side = {0.0: "  keyword alone", 1.0: "  meaning alone"}.get(figure.alpha, "")
        print(f"  {figure.alpha:4.1f}   {figure.recall.mean():8.4f}   {figure.ndcg.mean():7.4f}{side}")
    by_alpha = {figure.alpha: figure.ndcg for figure in figures}
    for side, alpha in (("keyword", 0.0), ("meaning", 1.0)):
        mean, low, high = paired_bootstrap(by_alpha[DEFAULT_ALPHA], by_alpha[alpha])
        interval = f"95 % from {low:+.4f} to {high:+.4f}"
        print(f"  hybrid at {DEFAULT_ALPHA} over {side} alone: nDCG@{CUT} {mean:+.4f}, {interval}")


def main() -> None:
    """Measure every collection in the data folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", default=os.environ.get("TIERDECK_BENCH_DATA"), help="folder of collections")
    folder = parser.parse_args().data
    if folder is None:
        parser.error("give --data DIR, or set TIERDECK_BENCH_DATA")
    for path in sorted(p.parent for p in Path(folder).glob("*/queries.jsonl")):
        collection = read_collection(path)
        with tempfile.TemporaryDirectory() as made:
            store, embedder = make_store(collection, Path(made) / "memory.db")
            index = open_vector_index(store)
            if index is None:
                raise SystemExit(f"{collection.name}: nothing was embedded")
            with store, index:
                _report(collection.name, measure(collection, store, embedder, index))


if __name__ == "__main__":
    main()
