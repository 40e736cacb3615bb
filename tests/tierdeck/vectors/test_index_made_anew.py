"""An index that is removed, damaged or made anew while a search has it open: what comes in its place is used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.errors import IndexFileError
from tierdeck.index.file import open_for_writing, rebuild_index
from tierdeck.index.path import beside_index_path
from tierdeck.model import NodeFilter
from tierdeck.search import hybrid_search
from tierdeck.search.meaning.meaning_leg import MeaningLeg
from tierdeck.search.rows.condition import condition_of
from tierdeck.store import Store
from tierdeck.vectors.vector_index import VectorIndex

MODEL = ChosenVectors({"a penguin": [1, 0], "an ice sheet": [0.9, 0.1], "a desert": [-1, 0], "antarctic": [1, 0]})


def found(store: Store, index: VectorIndex) -> list[str]:
    return texts(hybrid_search(store, "antarctic", alpha=1, index=index, embedder=MODEL, limit_rows=2))


def embed(store: Store) -> None:
    run_indexer(store, MODEL, EmbeddingSettings())


@pytest.mark.parametrize("has_bits", [False, True])
def test_vectors_of_the_index_made_anew_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch, has_bits: bool
) -> None:
    if has_bits:
        begin_early(monkeypatch)
    remember(store, "a penguin", "a desert", *(f"memory {n}" for n in range(70)))
    with embed_all(store, MODEL) as index:
        assert found(store, index)[0] == "a penguin"
        rebuild_index(store)
        remember(store, "an ice sheet")
        embed(store)
        assert found(store, index) == ["a penguin", "an ice sheet"]
        remember(store, "antarctic")
        embed(store)
        assert found(store, index)[0] == "antarctic"


def test_a_removed_index_is_read_on_until_another_one_holds_vectors(store: Store) -> None:
    remember(store, "a penguin", "a desert")
    with embed_all(store, MODEL) as index:
        for file in store.path.parent.glob(f"{store.path.name}-index*"):
            file.unlink()
        assert found(store, index)[0] == "a penguin"
        open_for_writing(store).close()  # an indexer has begun
        assert found(store, index)[0] == "a penguin"
        embed(store)
        assert found(store, index)[0] == "a penguin"
        remember(store, "antarctic")
        embed(store)
        assert found(store, index)[0] == "antarctic"


def test_a_damaged_index_is_said_and_the_one_made_in_its_place_is_used(store: Store) -> None:
    remember(store, "a penguin", "a desert")
    with embed_all(store, MODEL) as index:
        assert found(store, index)[0] == "a penguin"
        os.truncate(beside_index_path(store.path), 8_192)
        said = hybrid_search(store, "penguin", index=index, embedder=MODEL)
        assert "is damaged" in str(said.degraded)
        assert texts(said) == ["a penguin"]
        rebuild_index(store)
        embed(store)
        assert hybrid_search(store, "antarctic", alpha=1, index=index, embedder=MODEL).degraded is None
        assert found(store, index)[0] == "a penguin"


def test_a_damaged_file_in_its_place_is_said_and_does_no_harm_to_what_comes_after(store: Store) -> None:
    remember(store, "a penguin", "a desert")
    with embed_all(store, MODEL) as index:
        rebuild_index(store)
        Path(beside_index_path(store.path)).write_bytes(b"no index, and no database at all" * 500)
        assert hybrid_search(store, "penguin", index=index, embedder=MODEL).degraded is not None
        rebuild_index(store)
        embed(store)
        assert found(store, index)[0] == "a penguin"


def test_a_closed_index_is_not_opened_again(store: Store) -> None:
    remember(store, "a penguin")
    index = embed_all(store, MODEL)
    index.close()
    rebuild_index(store)
    embed(store)
    assert hybrid_search(store, "penguin", index=index, embedder=MODEL).degraded is not None
    index.close()


@pytest.mark.parametrize("dimensions", [8, 16])
def test_a_query_is_never_compared_with_another_models_vectors(store: Store, dimensions: int) -> None:
    remember(store, "a penguin", "a desert")
    with embed_all(store, MODEL) as index:
        leg = MeaningLeg(index, np.array([1, 0, 0, 0, 0, 0, 0, 0], np.float32))
        rebuild_index(store)
        run_indexer(store, ChosenVectors({}, name="other", dimensions=dimensions), EmbeddingSettings())
        condition = condition_of(store, NodeFilter())
        with pytest.raises(IndexFileError, match="other made the vectors anew just now, the query's is of chosen"):
            store.read(lambda conn: leg.pool(conn, condition, 2, 2))
        with pytest.raises(IndexFileError, match="other made the vectors anew"):
            store.read(lambda conn: leg.parts(conn, [], lambda _: {}))
