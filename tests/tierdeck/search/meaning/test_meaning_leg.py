"""Neighbours of the query that may show, and exact cosines of the vectors that count."""

from __future__ import annotations

from contextlib import closing

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tierdeck.embed.catch_up import catch_up
from tierdeck.embed.claim import new_claimant
from tierdeck.embed.index_writer import IndexWriter, Made
from tierdeck.embed.work_queue import WorkQueue
from tierdeck.index.file import open_for_writing
from tierdeck.model import NodeChanges, NodeDraft, NodeFilter, Tier, content_hash
from tierdeck.search.meaning.meaning_leg import MeaningLeg, MeaningParts, centred_cosines
from tierdeck.search.rows.condition import condition_of
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.store import Store, open_store
from tierdeck.store.changes import edit_node
from tierdeck.times import now_ms
from tierdeck.vectors.model_record import Model
from tierdeck.vectors.vector_index import VectorIndex

EAST = np.array([1, 0, 0, 0, 0, 0, 0, 0], np.float32)


def towards(cosine: float) -> list[float]:
    return [cosine, (1 - cosine**2) ** 0.5]


def pool(store: Store, index: VectorIndex, rows: int, node_filter: NodeFilter | None = None) -> list[str]:
    condition = condition_of(store, node_filter or NodeFilter())

    def look(conn: apsw.Connection) -> list[str]:
        return MeaningLeg(index, EAST).pool(
            conn, condition, rows, int(conn.execute("SELECT count(*) FROM nodes").get)
        )

    return store.read(look)


def test_the_nearest_that_may_show_come_first(store: Store) -> None:
    model = ChosenVectors({"near": towards(0.9), "nearer": towards(0.95), "far": towards(0.1)})
    near, far, nearer, _ = remember(store, "near", "far", NodeDraft("nearer"), NodeDraft("x", tier=Tier.ARCHIVE))
    with embed_all(store, model) as index:
        assert pool(store, index, 2) == [nearer, near]
        assert pool(store, index, 10)[:3] == [nearer, near, far]


def test_memories_that_a_filter_keeps_out_take_no_place(store: Store) -> None:
    names = [f"m{n}" for n in range(60)]
    model = ChosenVectors({name: towards(0.99 - n / 1000) for n, name in enumerate(names)})
    ids = remember(
        store, *(NodeDraft(name, tier=Tier.LONGTERM if n >= 50 else Tier.TASK) for n, name in enumerate(names))
    )
    with embed_all(store, model) as index:
        found = pool(store, index, 5, NodeFilter(tiers=frozenset({Tier.LONGTERM})))
    assert found == ids[50:55]


def test_where_more_is_kept_out_than_can_be_fetched_the_allowed_are_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierdeck.search.meaning.meaning_leg.MAX_NEAREST", 10)
    names = [f"m{n}" for n in range(60)]
    model = ChosenVectors({name: towards(0.99 - n / 1000) for n, name in enumerate(names)})
    ids = remember(
        store, *(NodeDraft(name, tier=Tier.LONGTERM if n >= 50 else Tier.TASK) for n, name in enumerate(names))
    )
    with embed_all(store, model) as index:
        assert pool(store, index, 5, NodeFilter(tiers=frozenset({Tier.LONGTERM}))) == ids[50:55]


def test_a_filter_that_lets_nothing_through_finds_nothing(store: Store) -> None:
    remember(store, "a")
    with embed_all(store, ChosenVectors({})) as index:
        assert pool(store, index, 5, NodeFilter(min_confidence=1.0)) == []


def parts_of(store: Store, index: VectorIndex, ids: list[str]) -> MeaningParts:
    def look(conn: apsw.Connection) -> MeaningParts:
        return MeaningLeg(index, EAST).parts(conn, ids, ReadMemories(conn).digests)

    return store.read(look)


@pytest.mark.case("E06")
def test_vectors_of_any_length_give_their_cosine(store: Store) -> None:
    model = ChosenVectors({"long": [2, 0], "slanted": [0.6, 0.8]})
    long, slanted = remember(store, "long", "slanted")
    with embed_all(store, model) as index:
        parts = parts_of(store, index, [long, slanted]).parts
    assert parts[long].cosine == pytest.approx(1.0, abs=1e-6)
    assert parts[slanted].cosine == pytest.approx(0.6, abs=1e-6)
    assert parts[long].score > parts[slanted].score


@pytest.mark.parametrize("are_unfinished_many", [False, True])
def test_a_vector_of_an_older_text_counts_as_none(
    store: Store, are_unfinished_many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if are_unfinished_many:
        monkeypatch.setattr("tierdeck.vectors.known_texts._MAX_UNFINISHED", -1)
    [a, b] = remember(store, "a", "b")
    with embed_all(store, ChosenVectors({})) as index:
        edit_node(store, a, NodeChanges(content="a, changed"), actor="t")
        found = parts_of(store, index, [a, b])
    assert set(found.parts) == {b}
    assert found.stale == {a}


def test_a_text_that_came_back_has_its_vector_again(store: Store) -> None:
    [a] = remember(store, "a")
    with embed_all(store, ChosenVectors({})) as index:
        for text in ("another", "a"):
            edit_node(store, a, NodeChanges(content=text), actor="t")
        found = parts_of(store, index, [a])
    assert set(found.parts) == {a}
    assert found.stale == frozenset()


def test_no_hash_is_asked_for_where_nothing_changed(store: Store) -> None:
    ids = remember(store, "a", "b")
    asked: list[str] = []

    def note(some: list[str]) -> dict[str, str]:
        asked.extend(some)
        return {}

    with embed_all(store, ChosenVectors({})) as index:
        found = store.read(lambda conn: MeaningLeg(index, EAST).parts(conn, ids, note))
    assert set(found.parts) == set(ids)
    assert asked == []


def test_a_vector_of_a_text_that_is_newer_than_the_snapshot_does_not_count(store: Store) -> None:
    model = ChosenVectors({"two": towards(0.9)})
    [a, b] = remember(store, "a", "b")
    with embed_all(store, model) as index, open_store(store.path, read_only=True) as reader:
        edit_node(store, a, NodeChanges(content="one"), actor="t")
        leg = MeaningLeg(index, EAST)

        def look(conn: apsw.Connection) -> MeaningParts:
            memories = ReadMemories(conn)
            assert conn.execute("SELECT content FROM nodes WHERE id = ?", (a,)).get == "one"
            embed_what_it_becomes(store, model, a, "two")
            return leg.parts(conn, [a, b], memories.digests)

        found = reader.read(look)
        assert set(found.parts) == {b}
        assert found.stale == {a}
        assert index.hashes([a]) == {a: content_hash("two")}


def embed_what_it_becomes(store: Store, model: ChosenVectors, node_id: str, text: str) -> None:
    """As an indexer does that finds another text when it comes to embed one, and has not looked on since."""
    made_by = Model(model.name, model.dimensions)
    with closing(open_for_writing(store)) as conn:
        assert catch_up(conn, store, made_by, lambda: False)
        queue = WorkQueue(conn, made_by, new_claimant(), lease_ms=60_000, clock_ms=now_ms)
        writer = IndexWriter(conn, store, made_by, queue)
        works = queue.claim(10, ())
        edit_node(store, node_id, NodeChanges(content=text), actor="t")
        assert writer.texts_of(works) == {}, "it is put back"
        works = queue.claim(10, ())
        assert list(writer.texts_of(works).values()) == [text]
        [vector] = model.embed([text])
        assert writer.commit([Made(work, vector / np.linalg.norm(vector), None) for work in works]) == 1


def test_a_memory_without_a_vector_has_no_meaning_side(store: Store) -> None:
    [a] = remember(store, "a")
    with embed_all(store, ChosenVectors({})) as index:
        [later] = remember(store, "later")
        found = parts_of(store, index, [a, later])
    assert set(found.parts) == {a}
    assert found.stale == frozenset()


_VECTORS = st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).filter(lambda v: np.linalg.norm(v) > 0.1)


def unit(numbers: list[float]) -> NDArray[np.float32]:
    vector = np.array(numbers, np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@given(_VECTORS, st.lists(_VECTORS, min_size=1, max_size=5), _VECTORS)
def test_centred_cosines_are_cosines_about_the_mean(
    numbers: list[float], rows: list[list[float]], middle: list[float]
) -> None:
    query, vectors, mean = unit(numbers), np.array([unit(row) for row in rows]), unit(middle)
    mean *= np.float32(0.5)
    wide, along = vectors.astype(np.float64), vectors.astype(np.float64) @ mean
    found = centred_cosines(wide @ query, along, query, mean)
    aside, q = wide - mean, query.astype(np.float64) - mean
    assert found == pytest.approx(aside @ q / np.linalg.norm(aside, axis=1) / np.linalg.norm(q), abs=1e-5)


def test_the_same_text_is_one_and_the_mean_itself_is_nothing() -> None:
    mean, same = unit([0.5, 0.1]), unit([0.6, 0.8])
    vectors = np.array([same, mean], np.float64)
    assert centred_cosines(vectors @ same, vectors @ mean, same, mean) == pytest.approx([1.0, 0.0], abs=1e-6)
