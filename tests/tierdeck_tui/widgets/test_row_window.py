from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck_tui.view.rows import NOW_MS, hit, row
from tierdeck.model import NodeRow
from tierdeck_tui.widgets.row_window import RowWindow


def rows(*numbers: int) -> list[NodeRow]:
    """Rows named by number, the higher the newer."""
    return [replace(row(), id=f"n{n}", created_at_ms=NOW_MS + n) for n in numbers]


def at(window: RowWindow) -> str | None:
    found = window.cursor_row
    return found.id if isinstance(found, NodeRow) else None


def test_the_cursor_stays_on_its_memory_when_others_come_above_it() -> None:
    window = RowWindow()
    window.take(rows(5, 4, 3), 0, 3)
    window.move(1)
    assert window.take(rows(7, 6, 5, 4, 3), 0, 5) == 2
    assert at(window) == "n4"


def test_a_memory_that_left_gives_the_cursor_to_the_next_older_one() -> None:
    window = RowWindow()
    window.take(rows(5, 4, 3), 0, 3)
    window.move(1)
    window.take(rows(6, 5, 3), 0, 3)
    assert at(window) == "n3"
    window.take(rows(6, 5), 0, 2)
    assert at(window) == "n5"


def test_oldest_first_the_cursor_goes_to_the_next_newer_one() -> None:
    window = RowWindow()
    window.take(rows(3, 4, 5), 0, 3)
    window.move(1)
    window.take(rows(2, 3, 5), 0, 3)
    assert at(window) == "n5"


def test_a_row_that_is_not_in_memory_has_no_cursor_row() -> None:
    window = RowWindow()
    window.take(rows(5, 4), 0, 100)
    window.move(99)
    assert window.cursor_row is None
    assert window.place is None
    assert window.missing(range(90, 120)) == range(90, 100)
    window.take(rows(2, 1, 0), 97, 100)
    assert at(window) == "n0"
    assert window.missing(range(97, 100)) == range(97, 97) or not window.missing(range(97, 100))


def test_an_empty_list_has_no_cursor_row() -> None:
    window = RowWindow()
    window.take(rows(1), 0, 1)
    window.take([], 0, 0)
    assert window.cursor_row is None
    assert window.cursor == 0


def test_hits_are_followed_by_their_memory_too() -> None:
    first, second = hit("a"), hit("b")
    second = replace(second, row=replace(second.row, id="other"))
    window = RowWindow()
    window.take([first, second], 0, 2)
    window.move(1)
    window.take([second, first], 0, 2)
    assert window.cursor == 0


@given(
    st.lists(st.sets(st.integers(0, 30), min_size=1), min_size=1, max_size=8),
    st.lists(st.integers(0, 30), min_size=8, max_size=8),
)
def test_the_cursor_row_is_always_the_memory_last_looked_at_while_it_exists(
    lists: list[set[int]], moves: list[int]
) -> None:
    window = RowWindow()
    wanted: str | None = None
    for numbers, move in zip(lists, moves, strict=False):
        shown = rows(*sorted(numbers, reverse=True))
        window.take(shown, 0, len(shown))
        if wanted in {one.id for one in shown}:
            assert at(window) == wanted
        assert at(window) is not None
        window.move(move % len(shown))
        wanted = at(window)
