from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck_tui.view.format import AGE_CELLS, age, count, counted, local_time, percent, short_number, size

NOW_MS = 1_800_000_000_000
_S, _H, _D = 1_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("ago_ms", "shown"),
    [
        (0, "0s"),
        (59 * _S, "59s"),
        (60 * _S, "1m"),
        (3 * _H, "3h"),
        (47 * _H, "47h"),
        (12 * _D, "12d"),
        (700 * _D, "700d"),
        (4 * 366 * _D, "4y"),
        (-90 * _S, "+1m"),
        (-400, "0s"),
    ],
)
def test_an_age_is_told_in_its_largest_fitting_unit(ago_ms: int, shown: str) -> None:
    assert age(NOW_MS - ago_ms, NOW_MS) == shown


def test_an_unknown_age_is_a_dash() -> None:
    assert age(None, NOW_MS) == "–"
    assert local_time(None) == "–"


@given(st.integers(min_value=0, max_value=999 * 365 * _D))
def test_an_age_fits_its_column(ago_ms: int) -> None:
    assert len(age(NOW_MS - ago_ms, NOW_MS)) <= AGE_CELLS


def test_a_time_is_local_and_says_its_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert local_time(0) == "1970-01-01 05:30:00 +05:30"
    finally:
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()


@given(st.integers(min_value=-(2**63), max_value=2**63))
def test_a_time_that_no_calendar_holds_is_shown_as_its_number(at_ms: int) -> None:
    shown = local_time(at_ms)
    assert shown == f"{at_ms} ms" or shown[-6] in "+-"


def test_numbers_are_written_as_people_read_them() -> None:
    assert [size(n) for n in (812, 64_000, 1_400_000, 2_000_000_000)] == ["812 B", "64.0 kB", "1.4 MB", "2.0 GB"]
    assert count(1_000_000) == "1,000,000"
    assert [counted(n, "memory", "memories") for n in (0, 1, 2)] == ["0 memories", "1 memory", "2 memories"]
    assert [short_number(n) for n in (0.4, 0.91, 1.0, 0.0, -0.0001, 0.1234)] == [
        "0.4",
        "0.91",
        "1",
        "0",
        "0",
        "0.123",
    ]
    assert percent(0.904) == "90%"
