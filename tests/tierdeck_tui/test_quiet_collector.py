"""Full collections come when nobody types, and Python's own numbers come back."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tierdeck_tui.quiet_collector import AT_LATEST_AFTER, DUE_AFTER, QUIET_S, QuietCollector


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


def test_pythons_own_thresholds_are_there_again_at_the_end() -> None:
    before = gc.get_threshold()
    collector = QuietCollector()
    collector.start()
    during = gc.get_threshold()
    collector.stop()
    assert during == (*before[:2], AT_LATEST_AFTER)
    assert gc.get_threshold() == before
