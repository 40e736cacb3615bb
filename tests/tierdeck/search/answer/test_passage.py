from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck.search.memories import remember
from tierdeck.model import EXCERPT_CHARS
from tierdeck.search import hybrid_search, rerank
from tierdeck.search.answer.dressing import MAX_PASSAGE_CHARS
from tierdeck.search.answer.passage import passage_start, places_within
from tierdeck.search.query.tokens import Token
from tierdeck.store import Store

LOG = "a line of a log without interest\n" * 300


def found_in(text: str, *words: str) -> list[Token]:
    places = [(at, word) for word in words for at in range(len(text)) if text.startswith(word, at)]
    return [Token(word, at, at + len(word)) for at, word in sorted(places)]


def test_the_part_that_holds_the_most_of_the_words_is_taken_and_of_several_the_first() -> None:
    text = "refund " + "x " * 300 + "refund gateway " + "y " * 300 + "refund gateway"
    start = passage_start(text, found_in(text, "refund", "gateway"), 100)
    assert 0 < text.index("refund gateway") - start <= 80
    assert text[start - 1] == " "


def test_a_word_that_comes_often_counts_once() -> None:
    text = "x " * 300 + "refund " * 20 + "z " * 300 + "refund gateway"
    start = passage_start(text, found_in(text, "refund", "gateway"), 100)
    assert start > text.index("z ")


def test_the_beginning_is_kept_where_no_part_holds_more() -> None:
    text = "refund gateway " + "x " * 300 + "gateway refund"
    assert passage_start(text, found_in(text, "refund", "gateway"), 100) == 0
    assert passage_start(text, [], 100) == 0


@given(st.text("ab \n", max_size=300), st.integers(90, 200))
def test_the_part_lies_in_the_text_and_holds_a_match_that_the_beginning_lacks(text: str, chars: int) -> None:
    found = [Token(text[at : at + 2], at, at + 2) for at in range(0, len(text) - 1, 7)]
    start = passage_start(text, found, chars)
    assert 0 <= start < max(1, len(text))
    if start:
        places = [(token.start, token.end) for token in found]
        here = {text[start:][first:last] for first, last in places_within(places, start, start + chars)}
        head = {text[first:last] for first, last in places_within(places, 0, chars)}
        assert len(here) > len(head)


@pytest.mark.parametrize(
    ("often", "rare"),
    [
        ("refund refund refund", "refund gateway"),
        ("deploys deployed deploying", "deploy gateway"),
        ("cafe café", "cafe gateway"),
    ],
)
def test_words_that_the_index_takes_for_one_count_once(store: Store, often: str, rare: str) -> None:
    remember(store, f"{often} {LOG} {rare} {LOG}")
    [hit] = hybrid_search(store, f"{often} {rare}").hits
    assert "gateway" in hit.row.excerpt


def test_a_hit_shows_where_its_words_stand(store: Store) -> None:
    remember(store, f"{LOG}then the aardvark failed with code 7\n{LOG}")
    [hit] = hybrid_search(store, "aardvark failed").hits
    assert [hit.row.excerpt[start:end] for start, end in hit.matches] == ["aardvark", "failed"]
    assert hit.row.excerpt_start > EXCERPT_CHARS
    assert hit.row.goes_on
    assert len(hit.row.excerpt) == EXCERPT_CHARS


def test_it_does_so_too_of_a_text_that_is_not_kept_and_after_a_change_of_alpha(store: Store) -> None:
    remember(store, f"{LOG * 4}the aardvark\n{LOG * 8}")
    answer = hybrid_search(store, "aardvark")
    again = rerank(answer, 0.3)
    assert again is not None
    for found in (answer, again):
        assert "aardvark" in found.hits[0].row.excerpt


def test_a_text_with_a_secret_is_shown_from_its_beginning(store: Store) -> None:
    """A part of a key no longer looks like one."""
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n" * 30
    remember(store, f"{LOG[:400]}{key}aardvark\n{key}-----END PRIVATE KEY-----")
    [hit] = hybrid_search(store, "aardvark").hits
    assert "secret" in hit.flags
    assert (hit.row.excerpt_start, hit.matches) == (0, ())


def test_what_lies_beyond_what_is_looked_through_shows_the_beginning(store: Store) -> None:
    remember(store, f"{LOG * 10} aardvark"[-(MAX_PASSAGE_CHARS + 100) :])
    [hit] = hybrid_search(store, "aardvark").hits
    assert hit.row.excerpt_start == 0


def test_the_answer_marks_the_whole_text_of_a_memory(store: Store) -> None:
    text = f"{LOG}the aardvark\n{LOG}AARDVARKS"
    remember(store, text)
    answer = hybrid_search(store, "aardvark")
    assert answer.marks is not None
    assert [text[start:end] for start, end in answer.marks(text)] == ["aardvark", "AARDVARKS"]
