from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tierdeck_tui.view.line import Piece, fit, line, text_of
from tierdeck_tui.view.sanitise import visible

SAFE = st.text(max_size=12).map(lambda text: visible(text, one_line=True))


@given(st.lists(SAFE, max_size=5), st.integers(0, 40))
@pytest.mark.case("U07")
def test_a_fitted_line_has_exactly_the_cells_asked_for(texts: list[str], cells: int) -> None:
    assert cell_len(text_of(fit([Piece(text) for text in texts], cells))) == cells


def test_what_is_left_out_leaves_an_ellipsis() -> None:
    assert text_of(fit(line("abc", "def"), 6)) == "abcdef"
    assert text_of(fit(line("abc", "def"), 5)) == "abcd…"
    assert text_of(fit(line("abc", "def"), 3)) == "ab…"
    assert text_of(fit(line("abc", ""), 3)) == "abc"


def test_pieces_keep_their_parts() -> None:
    fitted = fit(line(Piece("a", "match"), "b"), 4)
    assert fitted == (Piece("a", "match"), Piece("b"), Piece("  "))
