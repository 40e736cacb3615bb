"""Spellings near to a mistyped word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.terms.near_words import edits, folded, most_edits, one_edit_away

WORDS = st.text("abcd", min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("a", "b", "far"),
    [
        ("config", "confgi", 1),  # two letters swapped
        ("config", "confg", 1),  # one left out
        ("config", "conffig", 1),
        ("config", "canfig", 1),
        ("cat", "act", 1),  # the first two
        ("redis", "readies", 2),
        ("redis", "redis", 0),
        ("config", "confusion", 3),  # more than two are not told apart
        ("", "abc", 3),
    ],
)
def test_words_are_as_far_apart_as_letters_differ(a: str, b: str, far: int) -> None:
    assert edits(a, b, 2) == edits(b, a, 2) == far


@given(WORDS, WORDS)
def test_a_spelling_is_one_edit_away_exactly_when_it_is_among_those_made(a: str, b: str) -> None:
    made = one_edit_away(a)
    assert (b in made) == (edits(a, b, 1) == 1)
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("настрйка", "настройка"),
        ("ρυθμηση", "ρυθμιση"),
        ("שלוום", "שלום"),
        ("v12", "v21"),
        ("v12", "v13"),
    ],
)
def test_letters_that_are_put_in_are_of_the_words_own_script(typed: str, meant: str) -> None:
    made = one_edit_away(typed)
    assert meant in made
    assert len(made) < 2 * len(typed) * 128


def test_nothing_is_put_into_a_script_without_spaces() -> None:
    assert set(one_edit_away("設定値")) == {"定設値", "設値定", "定値", "設値", "設定"}


def test_words_are_compared_without_capitals_and_diacritics() -> None:
    assert folded("Café") == "cafe"
    assert folded("Настройка") == "настройка"
    assert folded("데이터") == "데이터"


def test_short_words_are_near_to_none_and_long_ones_may_have_two_wrong_letters() -> None:
    assert [most_edits(word) for word in ("ab", "abc", "abcde", "abcdef")] == [0, 1, 1, 2]
