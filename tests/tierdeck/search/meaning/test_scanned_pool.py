"""The pool by the bits: under any filter the memories that comparing with all gives, whoever writes meanwhile."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.db import open_writer
from tierdeck.embed.indexer import run_indexer
from tierdeck.index.file import VECTORS, open_for_writing
from tierdeck.model import NodeChanges, NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.search import hybrid_search
from tierdeck.search.meaning.meaning_leg import MeaningLeg
from tierdeck.search.rows.condition import condition_of
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.store import Store
from tierdeck.store.changes import edit_node
from tierdeck.vectors.vector_index import VectorIndex

ROWS = 1_300


def along_a_curve(n: int) -> list[float]:
    """Near numbers have near vectors, far ones have nothing in common."""
    turns = np.random.default_rng(2).normal(size=48) * n / 30
    return [*np.cos(turns), *np.sin(turns)]


MODEL = ChosenVectors({f"memory {n}": along_a_curve(n) for n in range(ROWS)}, dimensions=96)
FILTERS = {
    "none": NodeFilter(include_archived=True),
    "archive": NodeFilter(),
    "half": NodeFilter(min_confidence=0.5),
    "a tenth": NodeFilter(types=frozenset({NodeType.DECISION})),
    "a hundredth": NodeFilter(min_confidence=0.99),
    "three": NodeFilter(tag="rare"),
    "metadata": NodeFilter(metadata=(("part", "7"),)),
    "nothing": NodeFilter(tag="no such"),
}


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits from the start, and so few candidates that a filter has to be met among them."""
    begin_early(monkeypatch)
    monkeypatch.setattr("tierdeck.vectors.bit_scan._MIN_CANDIDATES", 120)
    monkeypatch.setattr("tierdeck.vectors.bit_scan._CANDIDATES_PER_ROW", 6)
    monkeypatch.setattr("tierdeck.vectors.bit_scan._FULL_DIMENSIONS", 96)


@pytest.fixture
def index(store: Store) -> Iterator[VectorIndex]:
    rng = random.Random(4)
    remember(
        store,
        *(
            NodeDraft(
                f"memory {n}",
                tier=Tier.ARCHIVE if n % 3 == 0 else Tier.TASK,
                type=NodeType.DECISION if n % 10 == 1 else NodeType.FACT,
                confidence=rng.random(),
                metadata={"part": str(n % 50), "tags": ["rare"] if n in (5, 50, 500) else []},
            )
            for n in range(ROWS)
        ),
    )
    with embed_all(store, MODEL) as opened:
        yield opened


def query(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = MODEL.embed([text])[0]
    unit: np.ndarray[tuple[int], np.dtype[np.float32]] = vector / np.linalg.norm(vector)
    return unit


def pool(store: Store, index: VectorIndex, text: str, rows: int, node_filter: NodeFilter) -> list[str]:
    def look(conn: apsw.Connection) -> list[str]:
        return MeaningLeg(index, query(text)).pool(conn, condition_of(store, node_filter), rows, ROWS)

    return store.read(look)


def by_all(store: Store, index: VectorIndex, text: str, rows: int, node_filter: NodeFilter) -> list[str]:
    """Every memory that meets the filter compared, those left out whose vector is of another text."""
    condition = condition_of(store, node_filter)
    sql = f"SELECT n.id, n.content FROM nodes n WHERE {condition.sql}"
    texts = store.read(lambda c: {str(row[0]): str(row[1]) for row in c.execute(sql, condition.params)})
    vectors = index.vectors(texts)
    made = {node_id: MODEL.embed([texts[node_id]])[0] for node_id in vectors}
    valid = [key for key in vectors if np.allclose(vectors[key], made[key] / np.linalg.norm(made[key]), atol=1e-6)]
    return sorted(valid, key=lambda key: -float(vectors[key] @ query(text)))[:rows]


def farther_by(index: VectorIndex, text: str, found: Sequence[str], wanted: Sequence[str]) -> float:
    """By how much of a cosine the found ones lie farther than the wanted, place by place, in the mean.

    The numbers n - 1 and n + 1 are equally near to n, so ids can't be compared.
    """
    assert len(found) == len(wanted) == len(set(found))
    vectors = index.vectors([*found, *wanted])
    cosines = [
        float(vectors[right] @ query(text) - vectors[got] @ query(text))
        for got, right in zip(found, wanted, strict=True)
    ]
    return float(np.mean(cosines)) if cosines else 0.0


@pytest.mark.parametrize("node_filter", list(FILTERS.values()), ids=list(FILTERS))
def test_under_any_filter_the_nearest_that_may_show_are_found(
    store: Store, index: VectorIndex, node_filter: NodeFilter
) -> None:
    for n in range(200, 1_200, 90):
        wanted = by_all(store, index, f"memory {n}", 10, node_filter)
        for _ in range(2):  # the second time what the store allows is known already
            found = pool(store, index, f"memory {n}", 10, node_filter)
            assert farther_by(index, f"memory {n}", found[:1], wanted[:1]) < 0.01
            assert farther_by(index, f"memory {n}", found, wanted) < 0.03


def test_a_change_of_tier_or_confidence_counts_at_once(store: Store, index: VectorIndex) -> None:
    for n in (1, 2, 4):
        [best] = pool(store, index, f"memory {n}", 1, NodeFilter())
        archive_nodes(store, [best], actor="t")
        assert best not in pool(store, index, f"memory {n}", 40, NodeFilter())
        assert pool(store, index, f"memory {n}", 1, NodeFilter(include_archived=True)) == [best]
        with store.writing() as conn:
            conn.execute("UPDATE nodes SET tier = 'task' WHERE id = ?", (best,))
        assert pool(store, index, f"memory {n}", 1, NodeFilter()) == [best]


def test_vectors_of_older_texts_and_of_deleted_memories_take_no_place(store: Store, index: VectorIndex) -> None:
    """A whole store rewritten, and not looked at again by the indexer."""
    text = "memory 8"
    kept = by_all(store, index, text, 200, NodeFilter())[150:160]
    with store.writing() as conn:
        conn.execute(
            "UPDATE nodes SET content = content || ' anew' WHERE rowid % 2 = 0"
            " AND id NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(kept),),
        )
        conn.execute(
            "DELETE FROM nodes WHERE rowid % 2 = 1 AND id NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(kept),),
        )
    assert farther_by(index, text, pool(store, index, text, 10, NodeFilter()), kept) < 0.01
    run_indexer(store, MODEL, EmbeddingSettings(), should_stop=lambda: True)
    assert farther_by(index, text, pool(store, index, text, 10, NodeFilter()), kept) < 0.01
    run_indexer(store, MODEL, EmbeddingSettings())
    found, wanted = (ways(store, index, text, 10, NodeFilter()) for ways in (pool, by_all))
    assert farther_by(index, text, found, wanted) < 0.05  # the new texts' vectors are drawn


def test_a_memory_that_was_put_in_anew_under_another_rowid_is_found(store: Store, index: VectorIndex) -> None:
    """Its old rowid may be an archived memory's by now."""
    [node_id] = pool(store, index, "memory 4", 1, NodeFilter())
    with closing(open_writer(store.path)) as conn, conn:
        [(old, content)] = conn.execute("SELECT rowid, content FROM nodes WHERE id = ?", (node_id,)).fetchall()
        conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))
        conn.execute(
            "INSERT INTO nodes (pk, id, type, content, tier) VALUES (?, 'another', 'fact', 'x', 'archive')", (old,)
        )
        conn.execute("INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)", (node_id, content))
    for node_filter in (NodeFilter(), NodeFilter(min_confidence=0.5, max_confidence=0.5)):
        for _ in range(2):
            assert pool(store, index, "memory 4", 1, node_filter) == [node_id]
    run_indexer(store, MODEL, EmbeddingSettings())
    assert pool(store, index, "memory 4", 1, NodeFilter(max_confidence=0.5, min_confidence=0.5)) == [node_id]


def test_a_store_whose_history_is_another_is_asked_by_ids(store: Store, index: VectorIndex) -> None:
    """As after a backup was put back: what the index saw last never happened."""
    with store.writing() as conn:
        conn.execute("DELETE FROM td_change")
    for node_filter in FILTERS.values():
        wanted = by_all(store, index, "memory 9", 5, node_filter)
        found = pool(store, index, "memory 9", 5, node_filter)
        assert farther_by(index, "memory 9", found, wanted) < 0.05


def test_what_was_edited_is_not_shown_by_the_meaning_of_its_old_text(store: Store, index: VectorIndex) -> None:
    [best] = pool(store, index, "memory 8", 1, NodeFilter())
    edit_node(store, best, NodeChanges(content="of something else"), actor="t")
    answer = hybrid_search(store, "memory 8", embedder=MODEL, index=index, alpha=1.0)
    assert best not in [hit.row.id for hit in answer.hits if hit.semantic]


OTHER = """
import sys
from pathlib import Path
import pytest
from tests.tierdeck.search.memories import ChosenVectors
from tests.tierdeck.search.meaning.test_scanned_pool import TURNING
from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.index.file import VECTORS, open_for_writing
from tierdeck.store import open_store
begin_early(pytest.MonkeyPatch())
one, two, turning = sys.argv[2:]
with open_store(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    for turn in range(100_000):
        with store.writing() as conn:
            for at, node_id in enumerate((one, two)):
                tier = "archive" if (turn + at) % 2 else "task"
                conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (tier, node_id))
            now = ("turn east", "turn north")[turn % 2]
            conn.execute("UPDATE nodes SET content = ? WHERE id = ?", (now, turning))
            conn.execute("DELETE FROM nodes WHERE content LIKE 'passing %'")
            row = (f"p{turn}", f"passing {turn}")
            conn.execute("INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)", row)
        run_indexer(store, TURNING, EmbeddingSettings(batch_rows=5))
"""
TURNING = ChosenVectors({"turn east": [1.0], "turn north": [0.0, 1.0], "pair": [0.8, 0.6]}, dimensions=96)
EAST = np.eye(96, dtype=np.float32)[0]


def test_while_another_process_writes_each_answer_is_of_one_state_of_the_store(store: Store) -> None:
    """One of a pair is archived at any time, and a text turns between two whose vectors have nothing in common."""
    one, two, turning = remember(store, NodeDraft("pair", tier=Tier.ARCHIVE), "pair", "turn north")
    remember(store, *(f"filler {n}" for n in range(30)))
    seen: set[str] = set()
    with embed_all(store, TURNING) as index:
        other = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(store.path), one, two, turning],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[4],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"ready\n"
            for looks in range(4_000):
                answer = hybrid_search(store, "x", query_vector=EAST, index=index, alpha=1.0, limit_rows=40)
                by_id = {hit.row.id: hit for hit in answer.hits}
                assert (one in by_id) != (two in by_id)
                turned = by_id.get(turning)
                if turned is not None and turned.semantic is not None:
                    assert turned.semantic.cosine == pytest.approx(float(turned.row.excerpt == "turn east"))
                    seen.add(turned.row.excerpt)
                if looks >= 150 and "turn east" in seen:
                    break
        finally:
            other.kill()
            other.communicate()
    assert "turn east" in seen


def test_an_index_that_is_damaged_while_it_is_open_leaves_the_search_by_word(
    store: Store, index: VectorIndex
) -> None:
    assert hybrid_search(store, "memory 8", embedder=MODEL, index=index).degraded is None
    with closing(open_for_writing(store)) as conn:
        conn.execute(f"DELETE FROM {VECTORS}_vector_chunks00")
        conn.execute("UPDATE bit_head SET seq = seq + 1")
    answer = hybrid_search(store, "memory 8", embedder=MODEL, index=index)
    assert "use index" in str(answer.degraded)
    assert answer.alpha == 0
    assert answer.hits


def excluding(store: Store, index: VectorIndex, text: str, excluded: str, rows: int) -> tuple[list[str], int]:
    """The pool of a query that keeps a word out, and how often the full-text index was asked for that word."""
    asked = 0

    def note(_cursor: apsw.Cursor, sql: str, _params: object) -> bool:
        nonlocal asked
        asked += "content_fts MATCH" in sql
        return True

    def look(conn: apsw.Connection) -> list[str]:
        condition, memories = condition_of(store, NodeFilter(), [excluded]), ReadMemories(conn)
        exclusion = Exclusion(conn, condition_of(store, NodeFilter()), [excluded], memories)
        conn.exec_trace = note
        try:
            leg = MeaningLeg(index, query(text))
            return leg.pool(conn, condition, rows, ROWS, memories, exclusion=exclusion)
        finally:
            conn.exec_trace = None

    return store.read(look), asked


@pytest.mark.parametrize("excluded", ["7", "memory", "nosuchword"])
def test_a_word_that_is_kept_out_is_looked_for_once_however_many_hold_it(
    store: Store, index: VectorIndex, excluded: str
) -> None:
    with store.writing() as conn:  # vec0 and bits keep their vectors: the texts that count stay
        conn.execute("UPDATE nodes SET tier = 'task'")
    whole = condition_of(store, NodeFilter(), [excluded])
    sql = f"SELECT n.id FROM nodes n WHERE {whole.sql}"
    allowed = store.read(lambda c: {str(row[0]) for row in c.execute(sql, whole.params)})
    for n in (7, 300, 1_000):
        found, asked = excluding(store, index, f"memory {n}", excluded, 20)
        assert len(found) == min(20, len(allowed))
        assert set(found) <= allowed
        assert asked <= 1


def test_where_the_nearest_are_all_one_text_that_is_kept_out_the_others_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_early(monkeypatch)
    monkeypatch.setattr("tierdeck.search.meaning.scanned_pool._MOST_HIDDEN", 100)
    remember(store, *["worker finished"] * 1_500, "worker crashed")
    model = ChosenVectors(
        {"worker finished": [1, 0], "worker crashed": [0.5, 0.5], "worker": [1, 0]}, dimensions=96
    )
    with embed_all(store, model) as opened:
        answer = hybrid_search(store, "worker -finished", index=opened, embedder=model)
        assert [hit.row.excerpt for hit in answer.hits] == ["worker crashed"]
