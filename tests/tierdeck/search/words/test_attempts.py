"""The ways to ask for a query go from strict to loose, and each says what it does."""

from __future__ import annotations

import pytest

from tierdeck.search.query.query import parse_query
from tierdeck.search.query.terms import Term, Terms
from tierdeck.search.words.attempts import Attempt, attempts


def ways(text: str, *, left_out: tuple[str, ...] = (), is_typing: bool = False) -> list[Attempt]:
    query = parse_query(text)
    used = tuple(Term(word, (word,)) for word in query.words if word not in left_out)
    terms = Terms(used, tuple(Term(word, (word,)) for word in left_out))
    return list(attempts(query, terms, lambda text: any(c.isalnum() for c in text), is_typing=is_typing))


def pools(found: list[Attempt]) -> list[str]:
    return [way.match.pool for way in found if way.match]


def test_a_plain_query_is_asked_once() -> None:
    assert pools(ways("blue green")) == ['"blue" OR "green"']


def test_while_typing_every_word_is_needed_first_and_the_last_is_a_beginning() -> None:
    assert pools(ways("blue gre", is_typing=True)) == ['"blue" AND "gre" *', '"blue" OR "gre" *']


@pytest.mark.parametrize("text", ["blue gr", "blue gre ", "blue gre-"])
def test_a_short_or_finished_word_is_no_beginning(text: str) -> None:
    assert "*" not in pools(ways(text, is_typing=True))[0]


def test_words_that_were_left_out_come_back_to_pick_but_not_to_score() -> None:
    first, second = ways("the blue", left_out=("the",))
    assert first.match is not None
    assert second.match is not None
    assert (first.match.pool, second.match.pool) == ('"blue"', '"blue" OR "the"')
    assert second.match.scored == '"blue"'
    assert "by themselves" in first.notes[0]
    assert "too little" in second.notes[0]


def test_a_phrase_is_required_until_nothing_is_found_with_it() -> None:
    first, last = ways('"blue green" red')
    assert first.match is not None
    assert first.match.pool.startswith('("blue green") AND')
    assert last.last_resort
    assert "no memory holds" in last.notes[-1]


def test_a_word_that_is_said_again_counts_again_up_to_a_bound() -> None:
    query = parse_query("blue " * 3_000 + "green")
    terms = Terms((Term("blue", ("blue",), repeats=3_000), Term("green", ("green",))))
    [way] = attempts(query, terms, lambda _: True, is_typing=False)
    assert way.match is not None
    assert way.match.scored == '"blue" OR "green" OR "blue" OR "blue"'
    assert way.match.words == 2


def test_a_query_without_words_asks_fts5_for_nothing() -> None:
    assert [way.match for way in ways("-> ++")] == [None]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("DEC-0054", '"DEC-0054"'),
        ("src/app.py", '"src/app.py"'),
        ("a@b.example", '"a@b.example"'),
        ("std::vector", '"std::vector"'),
        ("getShippingMethod", '"get Shipping Method"'),
        ("snake_case", '"snake_case"'),
    ],
)
def test_a_name_of_several_parts_scores_as_a_phrase_too(text: str, phrase: str) -> None:
    assert pools(ways(text))[0].endswith(f" OR {phrase}")


@pytest.mark.parametrize("text", ["well-known", "don't", "e.g.", "a,b", "what?", "(foo bar)"])
def test_words_of_prose_are_no_names(text: str) -> None:
    [pool] = pools(ways(text))
    assert all(len(part.split()) == 1 and part.strip('"').isalnum() for part in pool.split(" OR "))
