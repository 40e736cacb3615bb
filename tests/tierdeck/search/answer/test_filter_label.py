"""The name of a filter, typed, is that filter again."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tierdeck.model import NodeFilter
from tierdeck.search import parse_query
from tierdeck.search.answer.filter_label import confidence_labels, metadata_label, time_label, value_label

FIRST_MS, END_MS = -62_135_596_800_000, 253_402_300_800_000
DAY_MS = 86_400_000
any_time = st.one_of(
    st.integers(FIRST_MS, END_MS - 1),
    st.integers(FIRST_MS // DAY_MS, END_MS // DAY_MS - 1).map(lambda day: day * DAY_MS),
    st.integers(FIRST_MS // 1_000, END_MS // 1_000 - 1).map(lambda second: second * 1_000),
)
bound = st.floats(0, 1)
any_bound = st.one_of(
    bound,
    st.integers(0, 100).map(lambda n: n / 100),
    st.integers(0, 99).map(lambda n: math.nextafter(n / 100, math.inf)),
    st.integers(1, 100).map(lambda n: math.nextafter(n / 100, -math.inf)),
)


@given(any_time)
def test_a_time_is_read_back_to_the_millisecond(at_ms: int) -> None:
    assert parse_query(time_label("since", at_ms)).filter == NodeFilter(since_ms=at_ms)
    assert parse_query(time_label("until", at_ms)).filter == NodeFilter(until_ms=at_ms)


def test_what_no_date_can_say_is_the_nearest_that_one_can() -> None:
    assert time_label("since", FIRST_MS - 1) == "since:0001-01-01"
    assert time_label("until", FIRST_MS - 1) == "until:0001-01-01T00:00"
    assert time_label("since", END_MS) == "since:9999-12-31T23:59:59.999"
    assert time_label("until", END_MS + 1) == "until:9999-12-31"


@given(any_bound, any_bound)
def test_bounds_of_confidence_are_read_back_exactly(low: float, high: float) -> None:
    f = NodeFilter(min_confidence=low, max_confidence=high)
    assert parse_query(" ".join(confidence_labels(f, NodeFilter()))).filter == f


def test_bounds_are_named_as_one_would_type_them() -> None:
    f = NodeFilter(min_confidence=math.nextafter(0.6, 1), max_confidence=1.0)
    assert list(confidence_labels(f, NodeFilter())) == ["conf>0.6", "conf<=1"]
    assert list(confidence_labels(f, NodeFilter(min_confidence=0.5))) == ["conf<=1"]


@given(st.text("ab c\t:=<>[]-.é", min_size=1), st.text("ab c:=<>-.é", min_size=1))
def test_values_are_read_back_whole(value: str, key: str) -> None:
    assert parse_query(value_label("session", ":", value)).filter == NodeFilter(session=value)
    if "=" not in key:
        assert parse_query(metadata_label(key, value)).filter == NodeFilter(metadata=((key, value),))


def test_a_value_with_a_quote_stays_as_it_is() -> None:
    assert value_label("tag", ":", 'say "so" twice') == 'tag:say "so" twice'
