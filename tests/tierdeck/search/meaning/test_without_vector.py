"""At alpha 1 it is said how many memories have no vector: they can't be found there, however well they fit."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tierdeck.model import NodeChanges, NodeDraft, Tier
from tierdeck.search import hybrid_search, rerank
from tierdeck.search.meaning import without_vector
from tierdeck.search.meaning.without_vector import WithoutVector
from tierdeck.search.rows.changed_since import changed_since
from tierdeck.store import Store, edit_node, open_store
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index

MODEL = ChosenVectors({})
END = "and meaning alone can't find {}; `tierdeck embed` makes those that wait"
MANY_CHANGED = (
    "many memories were changed or deleted since their vectors were made, and meaning alone can't find what was"
    " written anew; `tierdeck embed` brings the vectors up to date"
)
ONE = "1 memory has no vector, " + END.format("it")


def notes(store: Store, index: VectorIndex, query: str = "charged", alpha: float = 1) -> tuple[str, ...]:
    """Of a search for so few that 50 vectors are more than enough."""
    return hybrid_search(store, query, alpha=alpha, limit_rows=5, embedder=MODEL, index=index).notes


def many(rows: int) -> str:
    return f"{rows} memories have no vector, {END.format('them')}"


def test_memories_that_came_after_the_vectors_are_counted_where_little_is_found(store: Store) -> None:
    remember(store, "seed")
    with embed_all(store, MODEL) as index:
        remember(store, "customers charged twice", NodeDraft("old", tier=Tier.ARCHIVE))
        assert notes(store, index) == (ONE,)
        remember(store, "another")
        assert notes(store, index) == (many(2),)
        assert notes(store, index, "charged is:archived") == (
            f"3 memories that pass the filters have no vector, {END.format('them')}",
        )


def test_memories_that_came_after_the_vectors_are_counted_where_enough_is_found(store: Store) -> None:
    ids = remember(store, *(f"seed {n}" for n in range(60)))
    with embed_all(store, MODEL) as index:
        remember(store, "customers charged twice", "another", NodeDraft("old", tier=Tier.ARCHIVE))
        assert notes(store, index) == (many(2),)
        edit_node(store, ids[0], NodeChanges(content="written anew"), actor="test")
        assert notes(store, index) == (many(3),)
        edit_node(store, ids[0], NodeChanges(content="seed 0"), actor="test")
        assert notes(store, index) == (many(2),)


def test_where_every_memory_has_its_vector_nothing_is_said(store: Store) -> None:
    ids = remember(store, *(f"seed {n}" for n in range(60)), NodeDraft("old", tier=Tier.ARCHIVE))
    with embed_all(store, MODEL) as index:
        assert notes(store, index) == ()
        with store.writing() as conn:
            conn.execute("DELETE FROM nodes WHERE id = ?", (ids[0],))
        assert notes(store, index) == ()
        assert notes(store, index, 'seed -"59"') == ()


def test_at_any_other_balance_each_hit_says_it_and_the_note_comes_when_alpha_is_moved(store: Store) -> None:
    remember(store, "charged once")
    with embed_all(store, MODEL) as index:
        remember(store, "charged twice")
        begun = hybrid_search(store, "charged", alpha=0.5, embedder=MODEL, index=index)
        assert begun.notes == ()
        at_end = rerank(begun, 1.0)
        assert at_end is not None
        assert at_end.notes == (ONE,)
        back = rerank(at_end, 0.5)
        assert back is not None
        assert back.notes == ()
        assert notes(store, index, alpha=0) == ()


def test_the_vectors_of_another_store_count_for_none(store: Store, tmp_path: Path) -> None:
    remember(store, *(f"ours {n}" for n in range(3)))
    with open_store(tmp_path / "other.db", create=True) as other:
        remember(other, *(f"theirs {n}" for n in range(5)))
        embed_all(other, MODEL).close()
        shutil.copy(f"{other.path}-index", f"{store.path}-index")
    index = open_vector_index(store)
    assert index is not None
    with index:
        answer = hybrid_search(store, "ours", alpha=1, embedder=MODEL, index=index)
    assert texts(answer) == []
    assert answer.notes == (many(3),)


def test_of_many_that_wait_the_least_number_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(without_vector, "_MOST_ASKED", 10)
    remember(store, *(f"seed {n}" for n in range(60)))
    with embed_all(store, MODEL) as index:
        remember(store, *(f"later {n}" for n in range(11)))
        assert notes(store, index, "charged conf>0") == (f"at least {many(11)}",)


def rewrite(store: Store, ids: Sequence[str]) -> None:
    with store.writing() as conn:
        conn.executemany("UPDATE nodes SET content = content || ' anew' WHERE id = ?", [(one,) for one in ids])


def test_of_many_that_were_written_anew_the_least_number_is_told(store: Store) -> None:
    ids = remember(store, *(f"seed {n}" for n in range(700)))
    with embed_all(store, MODEL) as index:
        rewrite(store, ids[:600])
        assert notes(store, index) == (f"at least {many(500)}",)
        which = "memories that pass the filters"
        assert notes(store, index, "charged conf>0") == (f"at least {many(500).replace('memories', which)}",)


def test_what_was_deleted_is_no_memory_without_a_vector(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(without_vector, "_MOST_ASKED", 20)
    ids = sorted(remember(store, *(f"seed {n}" for n in range(90))))
    with embed_all(store, MODEL) as index:
        with store.writing() as conn:
            conn.executemany("DELETE FROM nodes WHERE id = ?", [(one,) for one in ids[:15]])
        rewrite(store, ids[15:25])
        assert notes(store, index) == (f"at least {many(5)}",)


def test_where_too_many_changed_to_be_counted_it_is_said_that_they_are_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed_since, "__defaults__", (20,))
    ids = remember(store, *(f"seed {n}" for n in range(90)))
    with embed_all(store, MODEL) as index:
        rewrite(store, ids[:21])
        assert notes(store, index) == (MANY_CHANGED,)


def test_nothing_is_said_of_a_store_that_does_not_tell_what_changed(family_store_path: Path) -> None:
    with closing(sqlite3.connect(family_store_path)) as conn, conn:
        rows = [(f"theirs-{n}", f"seed {n}") for n in range(90)]
        conn.executemany("INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)", rows)
    with open_store(family_store_path) as store, embed_all(store, MODEL) as index:
        assert notes(store, index) == ()


def test_one_memory_and_none_are_told_as_one_and_none() -> None:
    assert WithoutVector(0).sentence(has_filters=True) is None
    assert WithoutVector(1).sentence(has_filters=True) == (
        f"1 memory that passes the filters has no vector, {END.format('it')}"
    )
