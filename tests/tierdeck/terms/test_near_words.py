"""Words near to a mistyped one."""

from __future__ import annotations

import pytest

from tierdeck.terms.near_words import near_words

WORDS = [("config", 9), ("confirm", 5), ("redis", 7), ("readies", 1), ("cafe", 3), ("care", 4)]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("confgi", ("config",)),  # two letters swapped
        ("confg", ("config",)),  # one left out
        ("rediss", ("redis", "readies")),  # nearest first
        ("cape", ("care", "cafe")),  # of equally near ones the more frequent
        ("redis", ()),  # it stands itself; the other is two edits away, too many for five letters
        ("ca", ()),  # too short to tell
        ("zzzzzz", ()),
    ],
)
def test_a_mistyped_word_has_the_nearest_that_stand_there(word: str, near: tuple[str, ...]) -> None:
    assert near_words(word, WORDS) == near
