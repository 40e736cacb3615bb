"""What the full-text index tears into several words is found as it was typed, before those words apart."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import texts
from tests.tierdeck.search.words.conftest import Ask
from tierdeck.terms.pieces import pieces_of
from tierdeck.terms.words import split_words

LONG = " was approved by the board after some long talks this year with everybody who was there"
FILLER = tuple(f"filler {n} soup" for n in range(12))


@pytest.mark.parametrize(
    ("text", "holding", "apart"),
    [
        ("R&D", "the R&D budget", ("vitamin D in R", "D, R", "R, D")),
        ("Q&A", "a Q&A session", ("A: yes. Q: no", "Q, A")),
        ("foo(bar)", "call foo(bar) to start", ("bar before foo", "foo, bar", "foo-bar")),
        ("foo(bar, baz)", "call foo(bar, baz) to start", ("baz, bar, foo", "foo bar baz")),
        ("max(left,right)", "uses max(left,right) of both", ("max left right", "right: left max")),
        ("Option<String>", "returns Option<String> here", ("String is an option", "option, string")),
        ("option<string>", "returns Option<String> here", ("String is an option", "option, string")),
        ("arr[0]", "uses arr[0] as the head", ("0 is the arr", "arr: 0")),
        ("vector<int>", "fails on vector<int> only", ("int in vector", "vector, int")),
        ("a|b", "pipe with a|b here", ("b or a", "a, b")),
        ("x&&y", "if x&&y holds", ("y and x", "x, y")),
        ("हिन्दी", "मुझे हिन्दी पसंद है क्योंकि वह", ("हाथी ने दाना नहीं खाया", "ह न द", "द न ह")),
        ("পাঠ্য", "ভালো পাঠ্য বই", ("প ঠ য", "য প ঠ")),
        ("தமிழ்", "நல்ல தமிழ் மொழி", ("தம மத ழ", "த ம ழ")),
    ],
)
def test_it_comes_before_its_words_apart_and_loses_none_of_them(
    ask: Ask, text: str, holding: str, apart: tuple[str, ...]
) -> None:
    first, *others = texts(ask((holding + LONG, *apart, *FILLER), text))
    assert first.startswith(holding)
    assert set(apart) <= set(others)


def test_a_longer_word_does_not_hold_it(ask: Ask) -> None:
    memories = ("the R&D budget", "AR&DX is a name", *FILLER)
    assert texts(ask(memories, "R&D")) == ["the R&D budget"]


@pytest.mark.parametrize(
    "text", ["see (above)", "it (or that) works", "read-only", "and/or", "it's", "[1] (two)", "a < b"]
)
def test_signs_of_prose_make_no_whole(text: str) -> None:
    pieces = pieces_of(split_words(text), text.split(), text)
    assert [piece for piece in pieces if piece.kind == "whole"] == []
