from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tierdeck_tui.view.sparkline import sparkline


def test_days_without_anything_are_dots_and_the_highest_is_full() -> None:
    assert sparkline([("2026-01-01", 1), ("2026-01-04", 8)], 10) == "▁··█"


def test_several_days_share_a_cell_where_they_do_not_fit() -> None:
    days = [(f"2026-01-{day:02}", 1) for day in range(1, 11)]
    assert sparkline(days, 5) == "█████"


def test_what_is_no_day_and_a_stray_year_do_no_harm() -> None:
    assert sparkline([("soon", 3)], 10) == ""
    assert sparkline([("0001-01-01", 1), ("2026-01-01", 2)], 10) == "▄█"
    assert sparkline([], 10) == sparkline([("2026-01-01", 1)], 0) == ""


@given(st.dictionaries(st.dates().map(str), st.integers(0, 10**6), max_size=8), st.integers(0, 40))
def test_it_never_is_wider_than_asked(by_day: dict[str, int], cells: int) -> None:
    assert len(sparkline(sorted(by_day.items()), cells)) <= cells
