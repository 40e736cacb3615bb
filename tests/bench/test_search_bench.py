"""What the search benchmark says is right really is: the true neighbours, and the rows that a filter leaves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.exact_neighbours import WANTED, Nearest, exact_nearest, recall
from tests.bench.scale_rows import memory_id, memory_number
from tests.bench.scale_store import ScaleStore, scale_store
from tests.bench.search_narrowing import EVERYTHING, NARROWINGS, Narrowing, read_columns
from tests.bench.small_scale import SENTENCES, LetterCounts, write_documents
from tierdeck.search.rows.condition import condition_of
from tierdeck.store import open_store

ROWS = 2_500


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> ScaleStore:
    """A small store, only read."""
    folder = tmp_path_factory.mktemp("scale")
    return scale_store(ROWS, write_documents(folder / "data", SENTENCES), folder, LetterCounts())


def test_the_true_neighbours_are_those_of_a_full_sort_within_the_mask() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(40_000, 8)).astype(np.float32)
    queries = rng.normal(size=(3, 8)).astype(np.float32)
    masks = {"some": rng.random(len(vectors)) < 0.3, "few": np.arange(len(vectors)) % 2_000 == 7}
    found = exact_nearest(vectors, queries, masks)
    for name, mask in masks.items():
        for query, nearest in zip(queries, found[name], strict=True):
            allowed = np.flatnonzero(mask)
            order = np.argsort(-(vectors[allowed] @ query))[:WANTED]
            assert nearest.numbers[:WANTED].tolist() == allowed[order].tolist()
            assert nearest.cosines[:WANTED] == pytest.approx(vectors[allowed[order]] @ query, abs=1e-5)


def test_recall_counts_only_the_first_of_both_sides() -> None:
    right = Nearest(np.arange(20), np.linspace(1, 0, 20, dtype=np.float32))
    assert recall([0, 1, 2, 99, 98], right, 5) == pytest.approx(3 / 5)
    assert recall([99, 98, 0, 1], right, 2) == 0
    assert recall([7], Nearest(np.zeros(0, np.int64), np.zeros(0, np.float32)), 10) == 1


def test_of_equally_near_rows_any_is_as_good_as_another_but_counts_once() -> None:
    right = Nearest(np.arange(6), np.array([0.9, 0.5, 0.5, 0.5, 0.1, 0.1], np.float32))
    assert recall([0, 3, 5, 1], right, 2) == 1
    assert recall([3, 2, 0], right, 2) == 1
    assert recall([0, 4, 5], right, 3) == pytest.approx(1 / 3)


@pytest.mark.parametrize("narrowing", [EVERYTHING, *NARROWINGS], ids=lambda one: one.name)
def test_a_mask_of_the_benchmark_holds_the_rows_that_the_filter_leaves(
    built: ScaleStore, narrowing: Narrowing
) -> None:
    with open_store(built.path) as store:
        mask = store.read(read_columns).mask(narrowing.node_filter)
        condition = condition_of(store, narrowing.node_filter)
        rows = store.read(
            lambda conn: conn.execute(
                f"SELECT n.id FROM nodes n WHERE {condition.sql}", condition.params
            ).fetchall()
        )
    left = {str(row[0]) for row in rows}
    assert left
    assert left == {memory_id(number) for number in np.flatnonzero(mask).tolist()}


def test_a_memory_is_known_by_its_number_and_the_number_by_its_id() -> None:
    numbers = [0, 1, 999_999]
    assert [memory_number(memory_id(number)) for number in numbers] == numbers
