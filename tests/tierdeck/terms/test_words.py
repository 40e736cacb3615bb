"""Text is split where FTS5's unicode61 splits it."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.terms.words import clean, distinct, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix the wrong-book page", ["fix", "the", "wrong", "book", "page"]),
        ("snake_case a.b don't", ["snake", "case", "a", "b", "don", "t"]),
        ("设备清单在NAS上", ["设备清单在NAS上"]),
        ("cafe\u0301 x", ["cafe\u0301", "x"]),
        ("\u0301x", ["x"]),
        ("½ Ⅷ ٣", ["½", "Ⅷ", "٣"]),
        ("👍 -> __ ", []),
    ],
)
def test_words_are_letters_digits_and_the_marks_on_them(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text(st.characters(max_codepoint=0x2FF), max_size=60))
def test_the_split_is_that_of_fts5_on_latin_text(text: str) -> None:
    tokenizer = apsw.Connection(":memory:").fts5_tokenizer("unicode61", [])
    data = clean(text).encode()
    spans = [(token[0], token[1]) for token in tokenizer(data, apsw.FTS5_TOKENIZE_DOCUMENT, None)]
    assert [word.encode() for word in split_words(clean(text))] == [data[int(a) : int(b)] for a, b in spans]


def test_nul_and_lone_surrogates_separate() -> None:
    assert clean("a\0b\udc80c") == "a b c"


def test_repeats_are_dropped_whatever_their_case() -> None:
    assert distinct(["Foo", "foo", "bar", "FOO"]) == ("Foo", "bar")
