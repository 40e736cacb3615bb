"""Times of other tools, read; and times of ours, written so that they are read back exactly."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.times import MILLISECONDS_BELOW, now_ms, parse_time_ms, stored_time

NOON_MS = 1_796_040_000_000  # 2026-11-30 12:00:00 UTC


@pytest.mark.parametrize(
    "written",
    [
        NOON_MS // 1000,
        NOON_MS / 1000,
        NOON_MS,
        float(NOON_MS),
        NOON_MS * 1000,
        str(NOON_MS),
        f" {NOON_MS // 1000}.0 ",
        "2026-11-30T12:00:00",
        "2026-11-30 12:00:00",
        "2026-11-30T12:00:00Z",
        "2026-11-30T13:00:00+01:00",
        "2026-11-30T12:00:00.000000",
        "20261130T120000",
    ],
)
def test_a_time_is_read_in_each_form_that_tools_write(written: object) -> None:
    assert parse_time_ms(written) == NOON_MS


@pytest.mark.parametrize(
    "written",
    [
        None, True, b"2026", [], "", "soon", "now", "12:00", "2026-13-01", "1e9", "0x10", "١٢٣", "--5",
        math.nan, math.inf, -math.inf, 253_402_300_800_000_000, 10**30, 10**400, "9" * 400,
    ],
)  # fmt: skip
def test_what_is_no_time_is_none_and_never_an_error(written: object) -> None:
    assert parse_time_ms(written) is None


@pytest.mark.case("P06")
@pytest.mark.parametrize("written", [253_402_300_799, 253_402_300_799_000, 253_402_300_799_000_000])
def test_the_year_9999_is_read_as_far_ahead_in_each_unit_and_never_as_long_past(written: int) -> None:
    assert parse_time_ms(written) == 253_402_300_799_000


def test_a_naive_time_is_utc_whatever_the_zone_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    assert parse_time_ms("2026-11-30T12:00:00") == NOON_MS


@given(st.integers(-MILLISECONDS_BELOW + 1, MILLISECONDS_BELOW - 1))
def test_every_time_that_is_written_is_read_back(time_ms: int) -> None:
    assert parse_time_ms(stored_time(time_ms)) == time_ms


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_every_iso_time_is_read(when: datetime) -> None:
    expected = round(when.replace(tzinfo=UTC).timestamp() * 1000)
    assert parse_time_ms(when.isoformat()) == expected


@given(st.one_of(st.text(max_size=30), st.binary(max_size=8), st.floats(), st.integers()))
def test_no_value_at_all_raises(value: object) -> None:
    found = parse_time_ms(value)
    assert found is None or isinstance(found, int)


def test_the_clock_counts_milliseconds() -> None:
    assert abs(now_ms() - datetime.now(UTC).timestamp() * 1000) < 60_000
