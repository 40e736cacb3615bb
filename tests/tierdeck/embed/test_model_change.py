from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import numpy as np
import pytest

from tests.tierdeck.conftest import Remote
from tests.tierdeck.embed_server import Fault, letters_vector
from tierdeck.embed.coverage import coverage
from tierdeck.errors import ConflictError, VectorRefusedError
from tierdeck.index.file import open_for_writing
from tierdeck.model import content_hash
from tierdeck.store import Store
from tierdeck.vectors.model_record import Model, current_model, next_model, swap_in
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index

Fill = Callable[..., list[str]]


def opened(store: Store) -> VectorIndex:
    index = open_vector_index(store)
    assert index is not None
    return index


def change_model(remote: Remote, name: str, dimensions: int) -> None:
    remote.configure(model=name, dimensions=dimensions)
    remote.server.vector_of = lambda text: letters_vector(name + text, dimensions)


@pytest.mark.case("E09", "E10")
@pytest.mark.parametrize("dimensions", [8, 12])
def test_a_new_models_vectors_take_over_when_every_text_has_had_its_turn(
    remote: Remote, fill: Fill, dimensions: int
) -> None:
    ids = fill("one", "two", "three")
    remote.run()
    change_model(remote, "model-b", dimensions)
    assert remote.run().embedded == 3
    with opened(remote.store) as index:
        assert (index.model, index.dimensions, index.vectors_count) == ("model-b", dimensions, 3)
        assert index.hashes(ids) == dict(zip(ids, map(content_hash, ("one", "two", "three")), strict=True))
        wanted = np.array(letters_vector("model-bone", dimensions))
        [(found, cosine)] = index.nearest(wanted, 1)
        assert found == ids[0]
        assert cosine == pytest.approx(1.0, abs=1e-6)
    assert remote.run().asked == 0


@pytest.mark.case("E09")
@pytest.mark.parametrize("dimensions", [8, 12])
def test_until_then_search_has_only_the_old_models_vectors(remote: Remote, fill: Fill, dimensions: int) -> None:
    ids = fill("one", "two", "three")
    remote.run()
    remote.configure(batch_rows=1)
    change_model(remote, "model-b", dimensions)
    report = remote.run(should_stop=lambda: len(remote.sent()) > 4)
    assert 0 < report.embedded < 3
    with opened(remote.store) as index:
        assert (index.model, index.dimensions, index.vectors_count) == ("model-a", 8, 3)
        assert set(index.vectors(ids)) == set(ids)
        assert {vector.size for vector in index.vectors(ids).values()} == {8}
    found = coverage(remote.store, remote.settings)
    assert found.current_model == "model-b"
    assert found.index_model == "model-a"
    assert found.by_model == {"model-a": 3, "model-b": report.embedded}
    assert found.foreign_model_note is not None
    assert found.foreign_model_note.startswith("3 memories embedded by model-a; not compared with model-b")
    remote.run()
    assert coverage(remote.store, remote.settings).foreign_model_note is None


def test_an_open_index_follows_the_change(remote: Remote, fill: Fill) -> None:
    ids = fill("one", "two")
    remote.run()
    with opened(remote.store) as index:
        assert index.dimensions == 8
        change_model(remote, "model-b", 12)
        remote.run()
        assert (index.model, index.dimensions) == ("model-b", 12)
        assert len(index.mean) == 12
        assert {vector.size for vector in index.vectors(ids).values()} == {12}
        with pytest.raises(VectorRefusedError, match="has 8 numbers, 12 are expected"):
            index.nearest(np.ones(8), 1)


def test_going_back_to_the_old_model_costs_nothing(remote: Remote, fill: Fill) -> None:
    fill("one", "two")
    remote.run()
    settings = remote.settings
    remote.configure(batch_rows=1)
    change_model(remote, "model-b", 12)
    remote.run(should_stop=lambda: len(remote.sent()) > 2)
    remote.settings = settings
    remote.server.calls.clear()
    assert remote.run().asked == 0
    assert remote.server.calls == []


def test_a_third_model_drops_the_unfinished_second(remote: Remote, fill: Fill) -> None:
    fill("one", "two", "three")
    remote.run()
    remote.configure(batch_rows=1)
    change_model(remote, "model-b", 12)
    remote.run(should_stop=lambda: len(remote.sent()) > 3)
    change_model(remote, "model-c", 6)
    assert remote.run().embedded == 3
    with closing(open_for_writing(remote.store)) as conn:
        assert current_model(conn) == Model("model-c", 6)
        assert next_model(conn) is None
        rows = conn.execute("SELECT DISTINCT model, dimensions FROM embedding_state").fetchall()
        tables = conn.execute("SELECT name FROM sqlite_master WHERE name LIKE '%next%' OR name LIKE 'swapped%'")
        assert rows == [("model-c", 6)]
        assert tables.fetchall() == []


def test_a_text_that_the_new_model_refuses_does_not_hold_the_others_back(remote: Remote, fill: Fill) -> None:
    ids = fill("one", "two", "three")
    remote.run()
    change_model(remote, "model-b", 12)
    remote.server.fault_for = lambda text: Fault(500) if text == "two" else None
    assert remote.run().pending == 1
    with opened(remote.store) as index:
        assert index.model == "model-b"
        assert set(index.vectors(ids)) == {ids[0], ids[2]}


def test_a_model_that_refuses_everything_never_takes_over(remote: Remote, fill: Fill) -> None:
    fill("one", "two")
    remote.run()
    change_model(remote, "model-b", 12)
    remote.server.fault_for = lambda text: Fault(422) if text in {"one", "two"} else None
    assert remote.run().failed == 2
    with opened(remote.store) as index:
        assert index.model == "model-a"


def test_a_run_whose_model_was_replaced_meanwhile_says_so_and_writes_nothing(remote: Remote, fill: Fill) -> None:
    fill("one", "two")
    remote.run()
    fill("three")
    changed = Remote(remote.store, remote.server)
    changed.configure(model="model-b")

    def replace(texts: object) -> None:
        if texts == ["three"]:
            remote.server.on_request = lambda _: None
            changed.run()

    remote.server.on_request = replace
    with pytest.raises(ConflictError, match=r"another run gave the index to model-b \(8 dimensions\)"):
        remote.run()
    with opened(remote.store) as index:
        assert (index.model, index.vectors_count) == ("model-b", 3)


def test_vectors_can_be_written_replaced_and_searched_after_a_swap(remote: Remote, fill: Fill) -> None:
    """vec0's own tables changed their names under it."""
    fill(*(f"first {i}" for i in range(30)))
    remote.run()
    change_model(remote, "model-b", 12)
    fill(*(f"second {i}" for i in range(1_100)))  # more than one of vec0's chunks
    remote.run()
    ids = fill(*(f"third {i}" for i in range(30)))
    assert remote.run().embedded == 30
    with opened(remote.store) as index:
        assert index.vectors_count == 1_160
        for at in (0, 29):
            [(found, cosine)] = index.nearest(np.array(letters_vector(f"model-bthird {at}", 12)), 1)
            assert found == ids[at]
            assert cosine == pytest.approx(1.0, abs=1e-6)
    with closing(open_for_writing(remote.store)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_swap_that_is_cut_short_leaves_the_old_vectors(remote: Remote, fill: Fill) -> None:
    ids = fill("one", "two")
    remote.run()
    remote.configure(batch_rows=1)
    change_model(remote, "model-b", 12)
    remote.run(should_stop=lambda: len(remote.sent()) > 2)
    with closing(open_for_writing(remote.store)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        swap_in(conn, Model("model-b", 12))
        conn.execute("ROLLBACK")
        assert current_model(conn) == Model("model-a", 8)
    with opened(remote.store) as index:
        assert set(index.vectors(ids)) == set(ids)
    assert remote.run().embedded >= 1
