from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tierdeck_tui.view.card_line import MAX_ROWS, CardLine, bar, lay_out

_lines = st.lists(
    st.builds(
        CardLine,
        st.text(max_size=40),
        st.text(max_size=120),
        st.none() | st.floats(0, 1),
    ),
    max_size=6,
)


@given(_lines, st.integers(20, 120))
def test_no_row_is_wider_than_the_card_and_no_line_is_lost(lines: list[CardLine], cells: int) -> None:
    rows = lay_out(lines, cells)
    for row in rows:
        assert cell_len(f"{row.label} {row.value}".rstrip() + (f" {row.bar}" if row.bar else "")) <= cells
    assert sorted({row.index for row in rows}) == list(range(len(lines)))
    assert all(sum(row.index == index for row in rows) <= MAX_ROWS for index in range(len(lines)))


@given(st.floats(0, 1), st.integers(0, 80))
def test_a_bar_never_outgrows_its_place_and_what_is_there_is_seen(share: float, cells: int) -> None:
    length = len(bar(share, cells))
    assert length <= cells
    assert (length > 0) == (share > 0 and cells > 0)


def test_numbers_before_bars_stand_below_one_another() -> None:
    rows = lay_out([CardLine("task", "9", share=0.1), CardLine("longterm", "1,000", share=0.9)], 40)
    assert [row.value for row in rows] == ["    9", "1,000"]
    assert [len(row.label) for row in rows] == [8, 8]


def test_a_long_value_goes_on_below_its_beginning_and_is_cut_after_three_rows() -> None:
    rows = lay_out([CardLine("why", "word " * 40)], 30)
    assert len(rows) == 3
    assert [row.label for row in rows] == ["why", "   ", "   "]
    assert rows[-1].value.endswith("…")


@pytest.mark.case("U05", "T05")
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_what_a_store_says_is_made_visible(text: str) -> None:
    for row in lay_out([CardLine(text, text), CardLine(text, text, share=0.5), CardLine(text)], 60):
        shown = row.label + row.value
        assert not any(ord(char) < 0x20 or 0x7F <= ord(char) <= 0x9F or char == "\u202e" for char in shown)
