"""The extra terms follow the store: what is new, changed, deleted, restored; stopped and gone on with."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.terms.kept_terms import Rows, kept_terms
from tierdeck.index.file import open_for_writing, rebuild_index, set_setting
from tierdeck.index.path import index_path
from tierdeck.model import NodeChanges
from tierdeck.search import hybrid_search
from tierdeck.store import Store, edit_node, open_store
from tierdeck.terms import fill, of_text, term_table
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.term_index import terms_of
from tierdeck.terms.vocabulary import word_rows, words_of_index


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


def test_a_run_that_was_stopped_before_it_took_out_what_is_gone_leaves_that_to_the_next(store: Store) -> None:
    remember(store, "getThingId", "getOtherId")
    fill_terms(store)
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE pk = 1")
    asked = iter([False, False, True])
    assert not fill_terms(store, should_stop=lambda: next(asked))
    assert len(kept_terms(store)) == 2
    assert fill_terms(store)
    assert list(kept_terms(store)) == [2]


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_run_goes_on_rightly_when_all_terms_are_thrown_away_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    """As a purge in another process does."""
    monkeypatch.setattr(fill, "_PAGE_ROWS", 5)
    remember(store, "getFirstId")
    if is_whole:
        fill_terms(store)
    remember(store, *(f"getThing{n}Id" for n in range(20)))
    asked = 0

    def purge() -> bool:
        nonlocal asked
        asked += 1
        if asked == 3:
            with closing(open_for_writing(store)) as conn, conn:
                term_table.empty_terms(conn)
        return False

    assert fill_terms(store, should_stop=purge)
    assert asked > 3
    index = terms_of(store)
    assert index is not None
    assert index.progress().is_whole
    assert len(kept_terms(store)) == 21
    assert kept_terms(store) == made_anew(store)


def test_two_runs_at_once_leave_no_older_terms(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the first has looked at when the second overtakes it, and wherever it is stopped after that."""
    monkeypatch.setattr(fill, "_PAGE_ROWS", 5)
    ids = remember(store, *(f"getThing{n}Id" for n in range(20)))
    for stopped_at in range(2, 12):
        asked = 0

        def overtake(stopped_at: int = stopped_at) -> bool:
            nonlocal asked
            asked += 1
            if asked == stopped_at - 1:
                edit_node(store, ids[stopped_at], NodeChanges(content=f"loadOther{stopped_at}"), actor="t")
                fill_terms(store)
            return asked == stopped_at

        fill_terms(store, should_stop=overtake)
        fill_terms(store)
        assert kept_terms(store) == made_anew(store)


def test_words_that_were_lost_are_taken_in_again(store: Store) -> None:
    remember(store, "redis mysql")
    fill_terms(store)
    for damage in ("DROP TABLE vocabulary", "DELETE FROM vocabulary"):
        with closing(open_for_writing(store)) as conn:
            conn.execute(damage)
        fill_terms(store)
        index = terms_of(store)
        assert index is not None
        assert index.words_with_prefix("red", 5) == [("redi", 1)]


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


def test_words_that_were_taken_in_of_another_history_are_taken_in_anew(store: Store) -> None:
    remember(store, "a lighthouse", "a harbour")
    fill_terms(store)
    with closing(open_for_writing(store)) as conn, conn:
        set_setting(conn, "vocabulary_node", "an id, as earlier versions kept one")
        conn.execute("UPDATE vocabulary SET rows = rows + 5")
    fill_terms(store)
    with closing(open_for_writing(store)) as conn:
        assert word_rows(conn, ["lighthous"]).rows == {"lighthous": 1}
