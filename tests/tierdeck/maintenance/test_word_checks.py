"""A list of words that does not fit the full-text index is found and mended; one that lags behind is no fault."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.other_program import other_program
from tests.tierdeck.search.memories import remember
from tierdeck.config import EmbeddingSettings
from tierdeck.index.file import open_for_writing
from tierdeck.maintenance.doctor import examine
from tierdeck.maintenance.health import Check
from tierdeck.maintenance.repair import repair
from tierdeck.maintenance.term_checks import check_words
from tierdeck.model import NodeChanges
from tierdeck.store import Store, edit_node, open_store
from tierdeck.terms import word_check
from tierdeck.terms.fill import fill_terms

FIX = "tierdeck doctor --repair word-list"
OFF = EmbeddingSettings(provider="off")
MEMORIES = [f"common word{n} redis" if n % 2 else f"common word{n}" for n in range(300)]
BREAKS = {
    "a word deleted": "DELETE FROM vocabulary WHERE term = 'redi'",
    "all words deleted": "DELETE FROM vocabulary",
    "the list dropped": "DROP TABLE vocabulary",
    "another list": "DROP TABLE vocabulary; CREATE TABLE vocabulary (word)",
    "another number": "UPDATE vocabulary SET rows = rows + 1 WHERE term = 'redi'",
    "a number that is text": "UPDATE vocabulary SET rows = 'what' WHERE term = 'redi'",
    "a word of no memory": "INSERT INTO vocabulary VALUES ('mysql', 1)",
    "a word that is written otherwise": "UPDATE vocabulary SET term = 'rediz' WHERE term = 'redi'",
}


@pytest.fixture
def filled(store: Store) -> Store:
    remember(store, *MEMORIES)
    fill_terms(store)
    return store


def damage(store: Store, sql: str) -> None:
    with closing(open_for_writing(store)) as conn:
        for statement in sql.split(";"):
            conn.execute(statement)


def looked_at(store: Store, *, is_thorough: bool = False) -> Check:
    return examine(store, OFF, is_thorough=is_thorough).check("word-list")


@pytest.mark.parametrize("sql", BREAKS.values(), ids=BREAKS)
def test_a_list_that_is_broken_is_found_and_mended(filled: Store, sql: str) -> None:
    assert looked_at(filled).state == "ok"
    damage(filled, sql)
    for is_thorough in (False, True):
        assert (looked_at(filled, is_thorough=is_thorough).state, looked_at(filled).fix) == ("bad", FIX)
    assert repair(filled, ["word-list"]).done == (("word-list", "302 words were taken in anew"),)
    assert looked_at(filled, is_thorough=True).state == "ok"


def test_of_a_large_store_ranges_are_compared_and_all_of_it_only_when_asked(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_check, "ALL_UP_TO_ROWS", 10)
    assert looked_at(filled).state == "ok"
    damage(filled, "UPDATE vocabulary SET rows = rows + 1 WHERE term > 'word'")
    assert looked_at(filled).state == "bad"
    repair(filled, ["word-list"])
    damage(filled, BREAKS["another number"])
    assert looked_at(filled, is_thorough=True).state == "bad"


def test_a_list_that_lags_behind_by_no_more_than_what_changed_is_in_order(filled: Store) -> None:
    ids = remember(filled, "redis newer", "redis newest")
    edit_node(filled, ids[0], NodeChanges(content="mysql"), actor="t")
    with filled.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE pk IN (2, 3)")
    for is_thorough in (False, True):
        assert looked_at(filled, is_thorough=is_thorough).state == "ok"
    damage(filled, "UPDATE vocabulary SET rows = rows + 5 WHERE term = 'common'")
    assert looked_at(filled).state == "bad"


def test_a_store_without_words_has_no_list_to_complain_of(store: Store) -> None:
    assert (looked_at(store).state, looked_at(store).fix) == ("info", "tierdeck embed")
    fill_terms(store)
    assert looked_at(store).state == "ok"
    remember(store, "…")
    fill_terms(store)
    assert looked_at(store, is_thorough=True).state == "ok"


def test_the_list_of_another_programs_store_is_not_compared_and_that_is_said(
    family_store_path: Path,
) -> None:
    with open_store(family_store_path) as store:
        fill_terms(store)
        with closing(sqlite3.connect(family_store_path)) as conn:
            conn.execute("DELETE FROM nodes WHERE rowid > 2")
            conn.commit()
        look = looked_at(store, is_thorough=True)
        assert (look.state, look.fix) == ("info", None)
        assert look.text.endswith("it was not compared")
        damage(store, "DELETE FROM vocabulary")
        assert (looked_at(store).state, looked_at(store).fix) == ("bad", FIX)
        repair(store, ["word-list"])
        assert looked_at(store).state == "info"


WRITES = """
for n in range(300):
    conn.execute("INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)", (f"w{n}", f"redis written {n}"))
    conn.execute("UPDATE nodes SET content = content || ' redis later' WHERE rowid = ?", (n,))
"""


@pytest.mark.parametrize("is_thorough", [False, True])
def test_nothing_is_taken_for_broken_while_others_write(filled: Store, is_thorough: bool) -> None:
    with other_program(filled.path) as writer:
        writer.begin(WRITES)
        looks = [check_words(filled, is_thorough=is_thorough) for _ in range(60)]
        writer.wait()
    assert {check.state for check in looks} == {"ok"}
