"""The extra terms follow the store: what is new, changed, deleted, restored; stopped and gone on with."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.terms.kept_terms import Rows, kept_terms
from tierdeck.index.file import rebuild_index
from tierdeck.index.path import index_path
from tierdeck.model import NodeChanges
from tierdeck.search import hybrid_search
from tierdeck.store import Store, edit_node, open_store
from tierdeck.terms import fill, of_text, term_table
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.term_index import terms_of
from tierdeck.terms.vocabulary import words_of_index


def made_anew(store: Store) -> Rows:
    rebuild_index(store)
    fill_terms(store)
    return kept_terms(store)


def test_it_holds_what_a_rebuild_would_hold_after_any_change(store: Store) -> None:
    ids = remember(store, *(f"getThing{n}Id of C++" for n in range(20)), "设备清单")
    assert fill_terms(store)
    edit_node(store, ids[3], NodeChanges(content="loadOther of .env"), actor="t")
    remember(store, "fooBarBaz")
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id IN (?, ?)", (ids[0], ids[-1]))
    assert fill_terms(store)
    followed = kept_terms(store)
    assert followed == made_anew(store)
    assert len(followed) == 20


def test_nothing_is_read_again_when_nothing_changed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, "getThingId")
    fill_terms(store)
    made: list[str] = []
    monkeypatch.setattr(fill, "terms_of_text", made.append)
    assert fill_terms(store)
    assert made == []


def test_a_run_that_was_stopped_is_gone_on_with(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill, "_PAGE_ROWS", 5)
    remember(store, *(f"getThing{n}Id" for n in range(20)))
    asked = iter([False, False, True])
    assert not fill_terms(store, should_stop=lambda: next(asked))
    assert len(kept_terms(store)) == 10
    assert texts(hybrid_search(store, "thing", alpha=0, limit_rows=100)) != []
    assert fill_terms(store)
    assert len(kept_terms(store)) == 20


def test_a_restored_backup_is_looked_through_anew(store: Store, tmp_path: Path) -> None:
    remember(store, "oldCheckoutId")
    with store.writing() as conn:
        seq = conn.execute("SELECT max(seq) FROM td_change").get
    remember(store, "laterCheckoutId", "otherCheckoutId")
    fill_terms(store)
    with store.writing() as conn:  # as a backup of before would look
        conn.execute("DELETE FROM nodes WHERE content <> 'oldCheckoutId'")
        conn.execute("DELETE FROM td_change WHERE seq > ?", (seq,))
    assert texts(hybrid_search(store, "checkout", alpha=0)) == ["oldCheckoutId"]
    fill_terms(store)
    assert len(kept_terms(store)) == 1


def test_terms_of_older_rules_are_made_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, "getThingId")
    fill_terms(store)
    for room in (of_text, term_table):
        monkeypatch.setattr(room, "RULES", of_text.RULES + 1)
    assert fill_terms(store)
    assert len(kept_terms(store)) == 1


def test_another_programs_store_gets_its_terms_in_the_cache(family_store_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    with open_store(family_store_path) as store:
        assert fill_terms(store)
        assert index_path(store).parent != family_store_path.parent
        assert terms_of(store) is not None
        assert store.read(words_of_index) != []
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


def test_the_words_of_the_store_are_read_without_a_write_to_it(store: Store) -> None:
    remember(store, "redis redis mysql", "redis")

    def look(conn: apsw.Connection) -> tuple[list[tuple[str, int]], object]:
        return words_of_index(conn), conn.pragma("query_only")

    words, is_query_only = store.read(look)
    assert dict(words) == {"redi": 2, "mysql": 1}
    assert is_query_only
