"""Vectors committed as the indexer does it, against a raw vec0 insert of the same vectors in the same run.

    python -m tests.bench.vector_insert [--rows 20000] [--dimensions 1536] [--rounds 3]

The floor is one prepared INSERT into vec0 a vector, in transactions of the same size on a file made the same way.
Ours keeps each memory's state, the sum of all vectors, the mean and the sign bits with them; the goal is 0.8 of the
floor; what each of them takes stands beside. Times are CPU times: on a shared machine wall times vary by half. Also
printed: a whole run with a model that
takes no time, which looks through the store, claims and reads texts; a batch of 10 by the local model from text to
committed vector (the goal is 100 ms); what the index adds to the store.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.catch_up import catch_up
from tierdeck.embed.claim import new_claimant
from tierdeck.embed.index_writer import IndexWriter, Made
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.work_queue import WorkQueue
from tierdeck.index.file import create_vectors, open_for_writing, rebuild_index
from tierdeck.index.path import index_path
from tierdeck.model import NodeDraft
from tierdeck.store import Store, open_store
from tierdeck.store.nodes import add_nodes
from tierdeck.times import now_ms
from tierdeck.vectors.bit_table import BitTable
from tierdeck.vectors.model_record import Model, prepare_tables, save_probe, save_table

_P = ParamSpec("_P")
_R = TypeVar("_R")
BATCH_ROWS = 1_024
SETTLED_ROWS = 400


class Given:
    """An embedder whose vectors are there already: what is measured is the writing."""

    is_remote = False

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.name = "given"
        self.dimensions = vectors.shape[1]
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors that the texts end with the numbers of; the probe sentences get the first ones."""
        numbers = [int(text.rsplit("#", 1)[1]) if "#" in text else at for at, text in enumerate(texts)]
        return self._vectors[numbers]


def raw_s(folder: Path, vectors: NDArray[np.float32], ids: Sequence[str]) -> float:
    """CPU seconds for the floor: a raw vec0 insert of every vector."""
    with closing(db.open_index(folder / "raw", is_writing=True)) as conn:
        create_vectors(conn, "node_embeddings", vectors.shape[1])
        begun = time.process_time()
        for at in range(0, len(ids), BATCH_ROWS):
            with conn:
                for key, vector in zip(ids[at : at + BATCH_ROWS], vectors[at : at + BATCH_ROWS], strict=True):
                    conn.execute(
                        "INSERT INTO node_embeddings (node_id, embedding) VALUES (?, ?)", (key, vector.tobytes())
                    )
        return time.process_time() - begun


@dataclass
class Parts:
    """CPU seconds of what a commit does beside vec0's own insert, and is asked of it."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count them inside the block."""
        with (
            patch.object(WorkQueue, "finish", self._timed("states", WorkQueue.finish)),
            patch.object(BitTable, "write", self._timed("bits", BitTable.write)),
            patch("tierdeck.embed.index_writer.save_table", self._timed("sum and mean", save_table)),
        ):
            yield

    def _timed(self, name: str, do: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(do)
        def timed(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            begun = time.process_time()
            try:
                return do(*args, **kwargs)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - begun

        return timed


def commits_s(store: Store, vectors: NDArray[np.float32], parts: Parts) -> float:
    """CPU seconds for committing every vector as the indexer does: with its state, the sum of all and the mean."""
    model = Model("given", vectors.shape[1])
    spent, at = 0.0, 0
    with closing(open_for_writing(store)) as conn:
        prepare_tables(conn, model)
        with conn:  # a mean is measured with it, and the bits from that
            save_probe(conn, model, vectors[:64].mean(axis=0, dtype=np.float64))
        assert catch_up(conn, store, model, lambda: False)
        queue = WorkQueue(conn, model, new_claimant(), lease_ms=60_000, clock_ms=now_ms)
        writer = IndexWriter(conn, store, model, queue)
        while works := queue.claim(BATCH_ROWS, ()):
            writer.texts_of(works)
            made = [Made(work, vector, None) for work, vector in zip(works, vectors[at:], strict=False)]
            with parts.watched():
                begun = time.process_time()
                assert writer.commit(made) == len(works)
                spent += time.process_time() - begun
            at += len(works)
    assert at == len(vectors)
    return spent


def run_s(store: Store, vectors: NDArray[np.float32]) -> float:
    """CPU seconds for a whole run of the indexer with a model that takes no time."""
    settings = EmbeddingSettings(batch_rows=BATCH_ROWS, batch_tokens=300_000)
    begun = time.process_time()
    assert run_indexer(store, Given(vectors), settings).embedded == len(vectors)
    return time.process_time() - begun


def one_round(rows: int, dimensions: int) -> tuple[float, float, float, Parts]:
    """Vectors a second: the floor, our commits, a whole run, each on new files; and the commits' parts."""
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(rows, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as name, open_store(Path(name) / "m.db", create=True) as store:
        ids = add_nodes(store, [NodeDraft(content=f"a memory of some ordinary length #{i}") for i in range(rows)])
        floor = raw_s(Path(name), vectors, ids)
        parts = Parts()
        commits = commits_s(store, vectors, parts)
        rebuild_index(store)
        return rows / floor, rows / commits, rows / run_s(store, vectors), parts


def local_batch_ms() -> float:
    """Median milliseconds for 10 new memories: from their texts to their committed vectors."""
    settings = EmbeddingSettings(provider="local")
    embedder = make_embedder(settings)
    times = []
    with tempfile.TemporaryDirectory() as name, open_store(Path(name) / "m.db", create=True) as store:
        # Its token weights come from the store's texts, are measured anew when those have doubled, and change every
        # vector then. 210 more do not double these.
        add_nodes(store, [NodeDraft(content=f"memory {i}: the deploy failed " * 6) for i in range(SETTLED_ROWS)])
        while run_indexer(store, embedder, settings).embedded:
            pass
        for at in range(21):
            add_nodes(store, [NodeDraft(content=f"memory {at}/{i}: the deploy failed " * 6) for i in range(10)])
            begun = time.process_time()
            assert run_indexer(store, embedder, settings).embedded == 10
            times.append(1000 * (time.process_time() - begun))
    return statistics.median(times[1:])


def size_bytes(path: Path) -> int:
    """What a database takes with its log."""
    return sum(
        file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.name.endswith((path.name, "-wal"))
    )


def growth() -> str:
    """What the store and its index take for 2,000 memories of 2 KB, by the local model."""
    settings = EmbeddingSettings(provider="local")
    with tempfile.TemporaryDirectory() as name, open_store(Path(name) / "m.db", create=True) as store:
        add_nodes(store, [NodeDraft(content=f"{i} " + "word and sentence " * 110) for i in range(2_000)])
        before = size_bytes(store.path)
        run_indexer(store, make_embedder(settings), settings)
        after, index = size_bytes(store.path), size_bytes(index_path(store))
        return f"store {before:,} -> {after:,} bytes ({after / before - 1:+.1%}); index file {index:,} bytes"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=1_536)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rates = [one_round(asked.rows, asked.dimensions) for _ in range(asked.rounds)]
    for floor, commits, run, parts in rates:
        shares = ", ".join(f"{name} {commits * spent / asked.rows:.0%}" for name, spent in parts.spent.items())
        print(
            f"raw vec0 {floor:9,.0f}/s   committed {commits:9,.0f}/s = {commits / floor:.2f} ({shares})"
            f"   run {run:9,.0f}/s"
        )
    ratio = statistics.median(commits / floor for floor, commits, _, _ in rates)
    print(f"vectors given, committed against raw: median {ratio:.2f} (goal 0.8)")
    print(f"a batch of 10 by the local model: {local_batch_ms():.1f} ms (goal 100)")
    print(growth())


if __name__ == "__main__":
    main()
