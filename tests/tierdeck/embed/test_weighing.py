"""The local model's token weights follow the store's texts, and search goes on while vectors are made anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import apsw
import pytest

from tierdeck.config import LOCAL_MODEL, EmbeddingSettings
from tierdeck.embed.coverage import coverage
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.local import LocalEmbedder, is_local
from tierdeck.errors import IndexFileError
from tierdeck.index.file import rebuild_index
from tierdeck.index.path import index_path
from tierdeck.model import NodeDraft
from tierdeck.search import hybrid_search
from tierdeck.store import Store, open_store
from tierdeck.store.nodes import add_nodes
from tierdeck.vectors.token_weights import TokenWeights
from tierdeck.vectors.vector_index import open_vector_index

LOCAL = EmbeddingSettings(provider="local")
SUBJECTS = (
    "harbour",
    "violin",
    "invoice",
    "glacier",
    "compiler",
    "orchard",
    "telescope",
    "ferry",
    "mortgage",
    "yeast",
)


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory.db", create=True) as store:
        yield store


def add_texts(store: Store, number: int, phrase: str) -> None:
    add_nodes(
        store,
        [
            NodeDraft(f"{phrase} {SUBJECTS[n % 10]} {SUBJECTS[n * 7 // 10 % 10]} {n * 7919 % 1000:03d}")
            for n in range(number)
        ],
    )


def model_name(store: Store) -> str:
    index = open_vector_index(store)
    assert index is not None
    with index:
        return index.model


def found_by_meaning(store: Store, model: LocalEmbedder, query: str) -> list[str]:
    index = open_vector_index(store)
    assert index is not None
    with index:
        answer = hybrid_search(store, query, alpha=1.0, embedder=model, index=index, limit_rows=5)
    assert answer.degraded is None
    return [hit.row.excerpt for hit in answer.hits]


def stop_after(batches: int) -> Iterator[bool]:
    return (number > batches for number in count())


def test_a_small_store_has_no_weights(store: Store, model: LocalEmbedder) -> None:
    add_texts(store, 150, "the agent noted")
    run_indexer(store, model, LOCAL)
    assert model_name(store) == LOCAL_MODEL


def test_words_of_every_text_count_less_in_a_larger_store_and_a_query_is_weighed_alike(
    store: Store, model: LocalEmbedder
) -> None:
    add_texts(store, 400, "the agent noted in the log of the day that there was something about the")
    run_indexer(store, model, LOCAL)
    name = model_name(store)
    assert name != LOCAL_MODEL
    assert is_local(name)
    with closing(apsw.Connection(str(index_path(store)), flags=apsw.SQLITE_OPEN_READONLY)) as conn:
        assert conn.execute("SELECT model FROM token_weights").fetchall() == [(name,)]
    assert all(
        "violin" in text for text in found_by_meaning(store, model, "the agent noted something about a violin")
    )


def test_the_same_store_gives_the_same_weights(store: Store, model: LocalEmbedder) -> None:
    add_texts(store, 300, "the agent noted")
    run_indexer(store, model, LOCAL)
    first = model_name(store)
    assert run_indexer(store, model, LOCAL).asked == 0
    add_texts(store, 20, "nobody saw")
    assert run_indexer(store, model, LOCAL).embedded == 20
    assert model_name(store) == first


def test_when_a_store_has_doubled_with_other_words_its_vectors_are_made_anew_and_search_goes_on_meanwhile(
    store: Store, model: LocalEmbedder
) -> None:
    add_texts(store, 250, "the agent noted")
    run_indexer(store, model, LOCAL)
    first = model_name(store)
    add_texts(store, 400, "billing department reports overdue")
    stop = stop_after(3)
    assert run_indexer(store, model, LOCAL, should_stop=lambda: next(stop), batch_rows=32).stopped
    assert model_name(store) == first
    assert found_by_meaning(store, model, "violin")
    seen = coverage(store, LOCAL)
    assert seen.embedded < seen.total
    assert seen.foreign_model_note is None
    run_indexer(store, model, LOCAL)
    assert model_name(store) not in (first, LOCAL_MODEL)
    assert coverage(store, LOCAL).embedded == 650
    assert "violin" in found_by_meaning(store, model, "violin")[0]


def test_when_a_store_has_doubled_with_the_same_words_nothing_is_made_anew(
    store: Store, model: LocalEmbedder
) -> None:
    add_texts(store, 300, "the agent noted")
    run_indexer(store, model, LOCAL)
    first = model_name(store)
    add_texts(store, 400, "the agent noted")
    assert run_indexer(store, model, LOCAL).embedded == 400
    assert model_name(store) == first


def test_vectors_from_before_there_were_weights_serve_until_they_are_replaced(
    store: Store, model: LocalEmbedder
) -> None:
    add_texts(store, 180, "the agent noted")
    run_indexer(store, model, LOCAL)
    with closing(apsw.Connection(str(index_path(store)))) as conn:
        conn.execute("DROP TABLE token_weights")
    add_texts(store, 60, "the agent noted")
    assert found_by_meaning(store, model, "violin")
    run_indexer(store, model, LOCAL)
    assert model_name(store) != LOCAL_MODEL
    assert coverage(store, LOCAL).embedded == 240


def test_damaged_weights_are_said_and_a_rebuild_makes_them_anew(store: Store, model: LocalEmbedder) -> None:
    add_texts(store, 300, "the agent noted")
    run_indexer(store, model, LOCAL)
    with closing(apsw.Connection(str(index_path(store)))) as conn:
        conn.execute("UPDATE token_weights SET weights = x'0102'")
    with pytest.raises(IndexFileError, match=r"token weights .* damaged"):
        open_vector_index(store)
    with pytest.raises(IndexFileError, match=r"token weights .* damaged"):
        run_indexer(store, model, LOCAL)
    rebuild_index(store)
    assert run_indexer(store, model, LOCAL).embedded == 300
    assert found_by_meaning(store, model, "violin")


def test_the_model_with_the_same_weights_is_made_once(model: LocalEmbedder) -> None:
    weights, others = TokenWeights((3, 5), (0.5, 0.25), 900), TokenWeights((3,), (0.5,), 900)
    weighed = model.weighed(weights)
    assert model.weighed(weights) is weighed
    assert model.weighed(others).name not in (weighed.name, model.name)
    assert model.weighed(weights).name == weighed.name
    assert model.weighed(None).name == LOCAL_MODEL
