"""Nothing that was typed acts as FTS5 syntax."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.search.query.fts import match_words, quoted


@pytest.fixture(scope="module")
def index() -> apsw.Connection:
    conn = apsw.Connection(":memory:")
    conn.execute("CREATE VIRTUAL TABLE t USING fts5(content, tokenize = 'porter')")
    conn.execute("INSERT INTO t VALUES ('blue green deploys'), ('green AND blue'), ('red')")
    return conn


def found(index: apsw.Connection, expression: str) -> set[int]:
    return {int(row[0]) for row in index.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,))}


@given(st.text(max_size=40))
def test_any_text_can_be_quoted(text: str) -> None:
    conn = apsw.Connection(":memory:")
    conn.execute("CREATE VIRTUAL TABLE t USING fts5(content, tokenize = 'porter')")
    assert conn.execute("SELECT rowid FROM t WHERE t MATCH ?", (quoted(text),)).fetchall() == []


def test_one_of_the_words_is_enough(index: apsw.Connection) -> None:
    assert found(index, match_words(["red", "deploy"], picking=[0, 1]).pool) == {1, 3}


def test_a_word_that_does_not_pick_only_scores(index: apsw.Connection) -> None:
    match = match_words(["green", "deploy"], picking=[1])
    assert found(index, match.pool) == {1}
    assert found(index, match.scored) == {1, 2}


def test_a_required_phrase_is_required(index: apsw.Connection) -> None:
    match = match_words(["green", "red"], picking=[0, 1], required=["blue green"])
    assert found(index, match.pool) == found(index, match.scored) == {1}
    assert match.first_word == 1


def test_all_words_can_be_asked_for_and_the_score_still_takes_any(index: apsw.Connection) -> None:
    match = match_words(["blue", "dep"], picking=[0, 1], prefix=1, all_words=True)
    assert found(index, match.pool) == {1}
    assert found(index, match.scored) == {1, 2}


def test_operators_are_words(index: apsw.Connection) -> None:
    assert found(index, match_words(["AND"], picking=[0]).pool) == {2}
