from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.lines import Lines

PIECES = st.builds(Piece, st.text(max_size=5), st.sampled_from(["plain", "match"]))
LINES: st.SearchStrategy[Line] = st.lists(PIECES, max_size=3).map(tuple)


@given(st.lists(LINES, max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_what_was_put_in_comes_out(lines: list[Line], start: int, stop: int) -> None:
    kept = Lines(lines)
    assert list(kept) == lines
    assert list(kept[start:stop]) == lines[start:stop]
    assert len(kept) == len(lines)


@given(st.lists(LINES, max_size=8))
def test_the_lines_with_a_match_are_told(lines: list[Line]) -> None:
    wanted = [at for at, one in enumerate(lines) if any(piece.role == "match" for piece in one)]
    assert list(Lines(lines).with_role("match")) == wanted


def test_lines_are_put_at_the_end() -> None:
    kept = Lines([line("a")])
    kept.extend([line(Piece("b", "match"))])
    assert list(kept) == [line("a"), line(Piece("b", "match"))]
