from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tierdeck_tui.view.line import Piece, line, text_of
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import break_points, wrap

WORDS = st.lists(st.sampled_from(["a", "bcd", " ", "日本", "👩‍👩‍👧", "e\u0301", "verylongword" * 3]), max_size=30)


@given(WORDS.map("".join), st.integers(2, 20))
def test_wrapping_loses_nothing_but_blanks_and_fits(text: str, cells: int) -> None:
    shown = visible(text, one_line=True)
    lines = wrap(line(shown), cells)
    assert "".join(text_of(one) for one in lines).replace(" ", "") == shown.replace(" ", "")
    assert all(cell_len(text_of(one)) <= cells for one in lines)


@given(WORDS, WORDS, st.integers(2, 20))
def test_pieces_keep_their_parts_across_the_breaks(first: list[str], second: list[str], cells: int) -> None:
    pieces = line(Piece("".join(first), "match"), Piece("".join(second), "muted"))
    lines = wrap(pieces, cells)
    matched = "".join(piece.text for one in lines for piece in one if piece.role == "match")
    assert matched.replace(" ", "") == "".join(first).replace(" ", "")


@pytest.mark.parametrize(
    ("text", "cells", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two ", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("ab abcdefgh", 5, ["ab ", "abcde", "fgh"]),
        ("日本語 日本", 6, ["日本語", "日本"]),
        ("", 5, [""]),
    ],
)
def test_lines_break_at_blanks_where_there_are_some(text: str, cells: int, lines: list[str]) -> None:
    assert [text_of(one) for one in wrap(line(text), cells)] == lines


def test_a_long_line_is_broken_without_looking_at_each_of_its_characters() -> None:
    assert len(break_points("x" * 1_000_000, 100)) == 9_999
