from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tierdeck_tui.view.alpha_line import WIDE_CELLS, alpha_line, stepped
from tierdeck_tui.view.line import text_of


def test_both_ends_are_named_and_carry_the_sign_of_their_bar() -> None:
    assert text_of(alpha_line(0.3, WIDE_CELLS)) == "█ words ◄───●───────► meaning ▒ 0.3"
    assert text_of(alpha_line(0.5, 28)) == "█words ◄──●──► meaning▒ 0.5"


def test_without_meaning_it_says_off() -> None:
    assert text_of(alpha_line(0.5, WIDE_CELLS, is_meaning_off=True)).endswith("▒ off")


@given(st.floats(0, 1))
def test_it_fits_for_every_balance(alpha: float) -> None:
    assert cell_len(text_of(alpha_line(alpha, WIDE_CELLS))) <= WIDE_CELLS + 2
    assert cell_len(text_of(alpha_line(alpha, 29))) <= 30


@pytest.mark.parametrize(
    ("alpha", "steps", "moved"),
    [
        (0.5, 1, 0.6),
        (0.5, -1, 0.4),
        (1.0, 1, 1.0),
        (0.0, -1, 0.0),
        (0.35, 1, 0.4),
        (0.35, -1, 0.3),
        (0.5, -10, 0.0),
        (0.3, 1, 0.4),
    ],
)
def test_it_moves_by_tenths_to_whole_tenths(alpha: float, steps: int, moved: float) -> None:
    assert stepped(alpha, steps) == moved
