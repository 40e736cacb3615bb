"""A whole trial: a store, another program that changes it, two indexers, searches; what must hold at the end."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.family import FAMILY_SCHEMA
from tests.tierdeck.conftest import DIMENSIONS, TEST_KEY
from tests.tierdeck.embed_server import EmbedServer
from tests.tierdeck.search.churn.asker import Asker
from tests.tierdeck.search.churn.said import BEACONS, beacon, said
from tests.tierdeck.search.churn.writer import OwnHand, PlainHand
from tests.tierdeck.terms.kept_terms import kept_terms
from tests.tierdeck.vectors.few_bits import assert_bits_in_step
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.index.file import rebuild_index
from tierdeck.maintenance.adopt import adopt
from tierdeck.model import content_hash
from tierdeck.store import Store, open_store
from tierdeck.terms.fill import fill_terms
from tierdeck.vectors.vector_index import open_vector_index

ASKERS = 2
AFTER_S = 1.0  # so long searches go on when the other program is done and the indexers catch up


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried. `way`: `own` (our store and library), `adopted` or `foreign` (the family's, plain sqlite3)."""

    way: str
    changes: int
    base_rows: int
    seed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen: counts of the searches' checks, memories at the end, texts paid for, seconds of change."""

    seen: Counter[str]
    rows: int
    texts_sent: int
    seconds: float


def run_trial(trial: Trial, folder: Path) -> Outcome:
    """Run it; an assertion fails where something does not hold. OPENAI_API_KEY is the test's."""
    path = _make_store(trial, folder)
    with EmbedServer(DIMENSIONS) as server, open_store(path) as store:
        settings = _settings(server)
        embedder = make_embedder(settings, store)
        run_indexer(store, embedder, settings)
        seen, seconds = _changed_and_asked(trial, path, store, server)
        last = run_indexer(store, embedder, settings)
        assert last.stopped is None
        assert run_indexer(store, embedder, settings).asked == 0
        sent = Counter(text for text in server.inputs if text not in PROBE_SENTENCES)
        twice = {text: times for text, times in sent.items() if times > 1}
        assert not twice, f"paid twice: {list(twice.items())[:5]}"
        rows = _assert_in_step(store, is_own=trial.way == "own")
    return Outcome(seen, rows, sent.total(), seconds)


def _make_store(trial: Trial, folder: Path) -> Path:
    """The store with its first memories, the beacons among them."""
    path = folder / "memory.db"
    rows = [said(n) for n in range(trial.base_rows)] + [beacon(trial.base_rows, n) for n in range(BEACONS)]
    ids = [str(uuid.UUID(int=n + 1)) for n in range(len(rows))]
    if trial.way == "own":
        open_store(path, create=True).close()
        with closing(OwnHand(path)) as hand:
            hand.insert(rows, ids)
        return path
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.executescript(FAMILY_SCHEMA)
    with closing(PlainHand(path)) as plain:  # left open, its SQLite would take away the locks of ours
        plain.insert(rows, ids)
    if trial.way == "adopted":
        adopt(path)
    return path


def _settings(server: EmbedServer) -> EmbeddingSettings:
    return EmbeddingSettings(provider="openai", model="model-a", dimensions=DIMENSIONS, base_url=server.base_url)


def _changed_and_asked(trial: Trial, path: Path, store: Store, server: EmbedServer) -> tuple[Counter[str], float]:
    """Let the others work while searches run here."""
    index = open_vector_index(store)
    assert index is not None
    way = "own" if trial.way == "own" else "plain"
    writer = ("writer", path, trial.changes, trial.seed, way)
    stop = path.with_name("stop")
    with index, _processes([("indexer", path, server.base_url, DIMENSIONS, stop)] * 2, stop):
        askers = [Asker(store, index, trial.seed + n) for n in range(ASKERS)]
        begun_s = time.monotonic()
        with _processes([writer], None):
            for asker in askers:
                asker.start()
        seconds = time.monotonic() - begun_s
        time.sleep(AFTER_S)
        for asker in askers:
            asker.stop()
    return sum((asker.seen for asker in askers), Counter()), seconds


@contextmanager
def _processes(commands: Sequence[tuple[object, ...]], stop: Path | None) -> Iterator[None]:
    """Programs of this folder beside the block; afterwards each is to end well, when the stop file is there."""
    folder = __name__.rpartition(".")[0]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", f"{folder}.{name}", *map(str, arguments)],
            env={**os.environ, "OPENAI_API_KEY": TEST_KEY},
            stderr=subprocess.PIPE,
        )
        for name, *arguments in commands
    ]
    try:
        yield
    finally:
        if stop is not None:
            stop.touch()
        errors = [(process.communicate()[1], process.returncode) for process in running]
    for error, code in errors:
        assert code == 0, error.decode()


def _assert_in_step(store: Store, *, is_own: bool) -> int:
    """Vectors, bits and terms are those that a rebuild would give; how many memories there are.

    Args:
        is_own: only in such a store are rowids kept with the bits.
    """
    rows = store.read(lambda c: c.execute("SELECT id, content FROM nodes").fetchall())
    texts = {str(node_id): str(content) for node_id, content in rows}
    index = open_vector_index(store)
    assert index is not None
    with index:
        assert index.hashes(texts) == {node_id: content_hash(text) for node_id, text in texts.items()}
        assert index.vectors_count == len(texts)
    assert_bits_in_step(store, knows_rowids=is_own)
    followed = kept_terms(store)
    rebuild_index(store)
    fill_terms(store)
    assert followed == kept_terms(store)
    return len(texts)
