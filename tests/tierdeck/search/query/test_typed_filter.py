"""One typed filter narrows a filter, or says what it takes."""

from __future__ import annotations

import pytest

from tierdeck.model import NodeFilter, Tier
from tierdeck.search.query.typed_filter import UnreadableValueError, narrow

NOW_MS = 1_700_000_000_000
HOUR_MS = 3_600_000


@pytest.mark.parametrize(("value", "hours"), [("90m", 1.5), ("12h", 12), ("7d", 168), ("2w", 336), ("7D", 168)])
def test_an_age_counts_back_from_now(value: str, hours: float) -> None:
    assert narrow(NodeFilter(), "since", ":", value, NOW_MS).since_ms == NOW_MS - hours * HOUR_MS


@pytest.mark.parametrize("value", ["2026-02-30", "1700000000", "-7d", "7 d", "9999999d", "99999-01-01", "now"])
def test_what_is_neither_an_age_nor_a_day_is_refused(value: str) -> None:
    with pytest.raises(UnreadableValueError, match="takes an age or a day"):
        narrow(NodeFilter(), "since", ":", value, NOW_MS)


def test_a_time_of_day_is_taken_as_it_is() -> None:
    found = narrow(NodeFilter(), "until", ":", "2026-01-31T12:00", NOW_MS)
    assert found.until_ms == narrow(NodeFilter(), "since", ":", "2026-01-31", NOW_MS).since_ms + 12 * HOUR_MS  # type: ignore[operator]


@pytest.mark.parametrize(("key", "operator"), [("tier", "="), ("since", ">"), ("session", "="), ("is", "<=")])
def test_a_key_that_is_written_with_a_colon_takes_no_other_operator(key: str, operator: str) -> None:
    with pytest.raises(UnreadableValueError, match=f"is written {key}:"):
        narrow(NodeFilter(), key, operator, "task", NOW_MS)


def test_a_condition_narrows_what_was_there_and_keeps_the_rest() -> None:
    base = NodeFilter(project="p", tiers=frozenset({Tier.TASK}))
    assert narrow(base, "tier", ":", "SESSION", NOW_MS) == NodeFilter(
        project="p", tiers=frozenset({Tier.TASK, Tier.SESSION})
    )


def test_the_same_metadata_pair_twice_is_one_condition() -> None:
    once = narrow(NodeFilter(), "meta.k", "=", "v", NOW_MS)
    assert narrow(once, "meta", ":", "k=v", NOW_MS) == once
