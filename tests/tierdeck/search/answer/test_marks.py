"""What is emphasised in an excerpt is what was matched, and nothing else."""

from __future__ import annotations

import apsw
import pytest

from tierdeck.search.answer.marks import Marker
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.terms.pieces import Piece


@pytest.fixture
def tokenizer() -> Tokenizer:
    conn = apsw.Connection(":memory:")
    conn.execute("CREATE VIRTUAL TABLE content_fts USING fts5(node_id UNINDEXED, content, tokenize = 'porter')")
    return Tokenizer(conn)


def marked(marker: Marker, text: str) -> list[str]:
    return [text[start:end] for start, end in marker.marks(text)]


def test_every_form_of_a_word_is_marked_and_its_look_alikes_are_not(tokenizer: Tokenizer) -> None:
    marker = Marker(tokenizer, frozenset({"run"}), None, ())
    assert marked(marker, "Running, runs and RUN; a runner, a rung") == ["Running", "runs", "RUN"]


def test_the_beginning_of_a_word_marks_the_whole_word(tokenizer: Tokenizer) -> None:
    assert marked(Marker(tokenizer, frozenset(), "dep", ()), "the deploys depend") == ["deploys", "depend"]


def test_pieces_inside_words_are_marked_where_they_stand(tokenizer: Tokenizer) -> None:
    pieces = [Piece("checkout", "part", 0), Piece("设备", "pair", 1), Piece("备清", "pair", 1)]
    marker = Marker(tokenizer, frozenset({"checkout"}), None, pieces)
    assert marked(marker, "getCheckoutId, checkout 设备清单") == ["Checkout", "checkout", "设备清"]


def test_marks_that_touch_are_one(tokenizer: Tokenizer) -> None:
    marker = Marker(tokenizer, frozenset({"c"}), None, [Piece("C++", "sign", 0)])
    assert marker.marks("C++ code") == ((0, 3),)


def test_a_text_without_a_match_has_no_marks(tokenizer: Tokenizer) -> None:
    assert Marker(tokenizer, frozenset({"zzz"}), None, ()).marks("nothing here") == ()
