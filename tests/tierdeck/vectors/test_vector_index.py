from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import numpy as np
import pytest

from tests.tierdeck.conftest import Remote
from tests.tierdeck.embed_server import letters_vector
from tierdeck.errors import InvalidValueError, VectorRefusedError
from tierdeck.index.file import open_for_writing
from tierdeck.store import Store
from tierdeck.vectors.unit_vectors import unit_vector
from tierdeck.vectors.vec0_search import MAX_NEAREST
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index

Fill = Callable[..., list[str]]


def opened(store: Store) -> VectorIndex:
    index = open_vector_index(store)
    assert index is not None
    return index


def test_a_store_without_vectors_has_no_index(store: Store) -> None:
    assert open_vector_index(store) is None


@pytest.mark.case("E06")
def test_cosines_are_those_of_the_vectors_as_the_model_gave_them(remote: Remote, fill: Fill) -> None:
    given_vectors = {"a": [2.0, 0.0], "b": [0.6, 0.8], "c": [-3.0, 0.0], "d": [0.0, 1e-20]}
    remote.configure(dimensions=2)
    remote.server.vector_of = lambda text: given_vectors.get(text, [0.1, 1.0])
    ids = fill(*given_vectors)
    remote.run()
    with opened(remote.store) as index:
        found = index.nearest(np.array([1.0, 0.0]), 10)
    assert [node_id for node_id, _ in found] == [ids[0], ids[1], ids[3], ids[2]]
    assert [cosine for _, cosine in found] == pytest.approx([1.0, 0.6, 0.0, -1.0], abs=1e-6)


def test_equal_cosines_come_in_the_order_of_their_ids(remote: Remote, fill: Fill) -> None:
    ids = fill(*["same"] * 9)
    remote.run()
    with opened(remote.store) as index:
        for _ in range(5):
            assert [key for key, _ in index.nearest(np.ones(8), 9)] == sorted(ids)


@pytest.mark.case("E07")
def test_more_rows_than_vec0_gives_are_capped_and_it_is_said(remote: Remote, fill: Fill) -> None:
    fill(*["text"] * (MAX_NEAREST + 4))
    remote.run()
    with opened(remote.store) as index:
        assert len(index.nearest(np.ones(8), 5_000)) == MAX_NEAREST
        assert len(index.nearest(np.ones(8), MAX_NEAREST)) == MAX_NEAREST


@pytest.mark.case("E07")
def test_no_rows_asked_for_are_no_rows_and_fewer_are_refused(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.run()
    with opened(remote.store) as index:
        assert index.nearest(np.ones(8), 0) == []
        with pytest.raises(InvalidValueError, match="-1 rows"):
            index.nearest(np.ones(8), -1)


@pytest.mark.parametrize(
    "query",
    [np.zeros(8), np.full(8, np.nan), np.full(8, np.inf), np.ones(7), np.ones((1, 8)), np.ones(0)],
    ids=["zeros", "nan", "inf", "short", "two-dimensional", "empty"],
)
def test_a_query_that_has_no_direction_is_refused(
    remote: Remote, fill: Fill, query: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> None:
    fill("a")
    remote.run()
    with opened(remote.store) as index, pytest.raises(VectorRefusedError, match="embed query"):
        index.nearest(query, 1)


def test_only_allowed_memories_are_found_however_far_they_are(remote: Remote, fill: Fill) -> None:
    ids = fill(*(f"memory {i}" for i in range(50)))
    remote.run()
    query = np.array(letters_vector("memory 7", 8))
    with opened(remote.store) as index:
        everything = [key for key, _ in index.nearest(query, 50)]
        farthest = set(everything[-3:])
        assert [key for key, _ in index.nearest(query, 2, farthest)] == everything[-3:-1]
        assert index.nearest(query, 5, []) == []
        assert index.nearest(query, 5, ["no such id", "' OR 1=1 --"]) == []
        assert set(everything) == set(ids)


def test_the_nearest_are_those_that_comparing_with_all_gives(remote: Remote, fill: Fill) -> None:
    ids = fill(*(f"memory {i}" for i in range(40)))
    remote.run()
    rng = np.random.default_rng(1)
    with opened(remote.store) as index:
        vectors = index.vectors(ids)
        for k in (1, 2, 10, 39, 40, 41):
            unit = unit_vector(rng.normal(size=8), 8)
            wanted = sorted((-float(vector @ unit), key) for key, vector in vectors.items())
            assert [key for key, _ in index.nearest(7 * unit, k)] == [key for _, key in wanted[:k]]


def test_what_another_connection_writes_is_seen_at_the_next_call(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.run()
    with opened(remote.store) as index:
        [late] = fill("late")
        remote.run()
        assert index.vectors_count == 2
        assert set(index.vectors([late])) == {late}


def test_several_threads_search_one_index_at_once(remote: Remote, fill: Fill) -> None:
    ids = fill(*(f"memory {i}" for i in range(60)))
    remote.run()
    wrong: list[str] = []
    with opened(remote.store) as index:

        def look(first: int) -> None:
            for at in range(first, 60, 4):
                query = np.array(letters_vector(f"memory {at}", 8))
                if index.nearest(query, 1)[0][0] != ids[at] or len(index.vectors(ids)) != 60:
                    wrong.append(ids[at])

        threads = [threading.Thread(target=look, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_the_mean_stays_until_there_are_twice_as_many_vectors(remote: Remote, fill: Fill) -> None:
    fill("a", "b", "c", "d")
    remote.run()
    with opened(remote.store) as index:
        first = index.mean.tolist()
        assert len(first) == 8
        fill("e", "f", "g")
        remote.run()
        assert index.mean.tolist() == first
        fill("h")
        remote.run()
        assert index.mean.tolist() != first


def test_texts_without_a_vector_of_their_own_are_named_unless_they_are_many(
    remote: Remote, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = fill("a", "b", "c", "d")
    remote.run()
    with opened(remote.store) as index:
        assert index.unfinished() == frozenset()
        with closing(open_for_writing(remote.store)) as conn:
            conn.execute("UPDATE embedding_state SET status = 'pending' WHERE node_id = ?", (ids[1],))
            assert index.unfinished() == frozenset({ids[1]})
            conn.execute("UPDATE embedding_state SET status = 'failed' WHERE node_id = ?", (ids[2],))
            monkeypatch.setattr("tierdeck.vectors.known_texts._MAX_UNFINISHED", 2)
            assert index.unfinished() == frozenset({ids[1], ids[2]})
            conn.execute("UPDATE embedding_state SET status = 'skipped' WHERE node_id = ?", (ids[3],))
            assert index.unfinished() is None
