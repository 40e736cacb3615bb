"""Full collections come when nobody types, and Python's own numbers come back."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tierdeck_tui.quiet_collector import (
    AT_LATEST_AFTER,
    DUE_AFTER,
    LEFT_ALONE_S,
    QUIET_S,
    THOROUGH_AT_LATEST_AFTER,
    THOROUGH_DUE_AFTER,
    QuietCollector,
)


@pytest.fixture
def held() -> Iterator[QuietCollector]:
    collector = QuietCollector()
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()  # only what the test sets off counts
    collector.start()
    yield collector
    collector.stop()
    if was_enabled:
        gc.enable()


@pytest.fixture(autouse=True)
def unfrozen() -> None:
    """Here what freezes does."""


class _Watched:
    circle: list[_Watched]


def _become_due() -> None:
    gc.collect()
    for _ in range(DUE_AFTER):
        gc.collect(1)


def test_a_full_collection_that_is_due_waits_while_somebody_types(held: QuietCollector) -> None:
    _become_due()
    assert not held.look(quiet_s=QUIET_S / 2, is_reading=False)
    assert held.look(quiet_s=QUIET_S, is_reading=False)


def test_a_full_collection_that_is_due_waits_while_an_answer_is_awaited(held: QuietCollector) -> None:
    _become_due()
    assert not held.look(quiet_s=QUIET_S, is_reading=True)
    assert held.look(quiet_s=QUIET_S, is_reading=False)


def test_nothing_is_collected_before_it_is_due(held: QuietCollector) -> None:
    gc.collect()
    assert not held.look(quiet_s=QUIET_S, is_reading=False)


def test_a_collection_frees_what_is_bound_in_a_circle(held: QuietCollector) -> None:
    circle: list[object] = []
    circle.append(circle)
    _become_due()
    del circle
    found_before = gc.get_stats()[2]["collected"]
    assert held.look(quiet_s=QUIET_S, is_reading=False)
    assert gc.get_stats()[2]["collected"] > found_before


def test_what_a_collection_leaves_is_not_walked_again(held: QuietCollector) -> None:
    left = [[n] for n in range(1_000)]
    _become_due()
    frozen_before = gc.get_freeze_count()
    assert held.look(quiet_s=QUIET_S, is_reading=False)
    assert gc.get_freeze_count() >= frozen_before + len(left)


@pytest.mark.parametrize(
    ("collections", "quiet_s", "is_freed"),
    [
        (THOROUGH_DUE_AFTER, QUIET_S, False),
        (THOROUGH_DUE_AFTER - 1, LEFT_ALONE_S, False),
        (THOROUGH_DUE_AFTER, LEFT_ALONE_S, True),
        (THOROUGH_AT_LATEST_AFTER, QUIET_S, True),
    ],
)
def test_what_became_a_circle_after_it_was_left_waits_for_a_thorough_collection(
    held: QuietCollector, collections: int, quiet_s: float, is_freed: bool
) -> None:
    circle = [_Watched()]
    seen = weakref.ref(circle[0])
    for _ in range(collections):
        _become_due()
        assert held.look(quiet_s=QUIET_S, is_reading=False)
    circle[0].circle = circle
    del circle
    _become_due()
    assert held.look(quiet_s=quiet_s, is_reading=False)
    assert (seen() is None) == is_freed


def test_pythons_own_thresholds_are_there_again_at_the_end() -> None:
    before = gc.get_threshold()
    collector = QuietCollector()
    collector.start()
    during = gc.get_threshold()
    collector.stop()
    assert during == (*before[:2], AT_LATEST_AFTER)
    assert gc.get_threshold() == before
