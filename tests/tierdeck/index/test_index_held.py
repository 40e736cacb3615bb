"""Another program holds the index file whole: words are searched meanwhile, and nothing is taken for damage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.other_program import OtherProgram, other_program
from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tierdeck.config import EmbeddingSettings
from tierdeck.errors import IndexBusyError, IndexFileError
from tierdeck.index.file import open_for_reading
from tierdeck.index.path import index_path
from tierdeck.maintenance.doctor import examine
from tierdeck.search import hybrid_search
from tierdeck.store import Store

MODEL = ChosenVectors({})


@pytest.fixture
def holder(store: Store) -> Iterator[OtherProgram]:
    """Another program with a connection to the index of a store of two memories; it does not hold it yet."""
    remember(store, "apples are red", "pears are green")
    embed_all(store, MODEL).close()
    with other_program(index_path(store)) as program:
        program.do("conn.execute('PRAGMA locking_mode=exclusive').fetchall()")
        yield program


HOLD = "conn.execute('BEGIN EXCLUSIVE')"


def test_opening_says_that_it_is_held_and_not_that_it_is_damaged(store: Store, holder: OtherProgram) -> None:
    holder.do(HOLD)
    with pytest.raises(IndexFileError, match=r"another program holds it \(waited 0\.5 s\)") as caught:
        open_for_reading(store)
    assert type(caught.value) is IndexBusyError
    assert "rebuild" not in (caught.value.hint or "")


def test_words_are_found_while_it_is_held(store: Store, holder: OtherProgram) -> None:
    holder.do(HOLD)
    assert texts(hybrid_search(store, "apples", alpha=0.0)) == ["apples are red"]
    holder.kill()
    index = embed_all(store, MODEL)
    answer = hybrid_search(store, "apples", embedder=MODEL, index=index)
    assert answer.degraded is None
    index.close()


def test_doctor_advises_no_rebuilding(store: Store, holder: OtherProgram) -> None:
    holder.do(HOLD)
    health = examine(store, EmbeddingSettings(provider="off"))
    for name in ("index-file", "vector-bits"):
        check = health.check(name)
        assert check.state == "warn"
        assert "another program holds it" in check.text
        assert "rebuild" not in (check.fix or "")
