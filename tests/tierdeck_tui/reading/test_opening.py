from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import pytest

from tests.tierdeck_tui.conftest import keyword_settings
from tests.tierdeck_tui.loop_lag import LoopLag
from tests.tierdeck_tui.settled import until
from tests.tierdeck_tui.test_app import screen_text
from tierdeck.db import BUSY_TIMEOUT_MS
from tierdeck.errors import DamagedStoreError, StoreError, StoreNotFoundError
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.opening import StoreOpening

_LONG_S = 30.0


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Another program holds the store exclusively."""
    holder = apsw.Connection(str(path))
    holder.execute("PRAGMA journal_mode=delete").fetchall()
    holder.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


def _opening(path: Path, *, read_only: bool = False) -> StoreOpening:
    opening = StoreOpening(path, keyword_settings(), read_only)
    opening.start()
    return opening


def test_a_free_store_is_there_after_the_first_wait(small_store: Path) -> None:
    opening = _opening(small_store)
    deck = opening.wait(_LONG_S)
    assert deck is not None
    assert deck.access == "rw"
    opening.close()


def test_a_store_asked_for_reading_is_opened_for_reading(small_store: Path) -> None:
    opening = _opening(small_store, read_only=True)
    deck = opening.wait(_LONG_S)
    assert deck is not None
    assert deck.access == "ro"
    opening.close()


def test_an_error_is_raised_where_it_is_waited_for(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError):
        _opening(tmp_path / "none.db").wait(_LONG_S)
    damaged = tmp_path / "empty.db"
    damaged.touch()
    with pytest.raises(StoreError):
        _opening(damaged).wait(_LONG_S)


def test_closing_early_closes_a_store_that_opens_later(small_store: Path) -> None:
    threads = threading.active_count()
    with _held(small_store):
        opening = _opening(small_store)
        assert opening.wait(0.05) is None
        opening.close()
    opening._thread.join(_LONG_S)
    assert opening.wait(0) is None
    assert threading.active_count() == threads
    with _held(small_store):  # nobody of ours has it open
        pass


@pytest.mark.case("T22")
async def test_a_held_store_shows_a_screen_that_does_not_wait_with_it(small_store: Path) -> None:
    with _held(small_store):
        opening = _opening(small_store)
        app = TierdeckApp(opening)
        async with LoopLag() as lag, app.run_test() as pilot:
            await pilot.pause()
            assert "Opening" in screen_text(app)
            await pilot.press("4", "1", "r", "u", "question_mark", "escape")
            assert "Opening" in screen_text(app)
            await pilot.press("q")
            await pilot.pause()
            assert not app.is_running
        assert lag.worst_ms < BUSY_TIMEOUT_MS / 2
        opening.close()


@pytest.mark.case("T22")
async def test_it_says_that_the_store_is_held_and_goes_on_once_it_is_free(small_store: Path) -> None:
    hold = ExitStack()
    hold.enter_context(_held(small_store))
    opening = _opening(small_store)
    app = TierdeckApp(opening)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Trying again" in screen_text(app))
        assert app.is_read_only
        hold.close()
        await until(pilot, lambda: app.current_mode == "search")
        assert not app.is_read_only
    opening.close()


async def test_a_store_that_is_known_to_be_held_before_the_first_paint_is_said_to_be(small_store: Path) -> None:
    with _held(small_store):
        opening = _opening(small_store)
        while opening.busy is None:
            assert opening.wait(0.1) is None
        app = TierdeckApp(opening)
        async with app.run_test() as pilot:
            await pilot.pause()
            assert "Trying again" in screen_text(app)
        opening.close()


async def test_an_error_that_comes_late_ends_the_app_and_is_kept(small_store: Path) -> None:
    data = bytearray(small_store.read_bytes())
    data[100:2000] = b"\xff" * 1900
    small_store.write_bytes(data)
    opening = _opening(small_store)
    app = TierdeckApp(opening)
    async with app.run_test() as pilot:
        for _ in range(100):
            await pilot.pause(0.02)
            if not app.is_running:
                break
    assert isinstance(app.failure, DamagedStoreError | StoreError)
    assert app.return_code == 3
