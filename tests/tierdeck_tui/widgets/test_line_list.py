from __future__ import annotations

from collections.abc import Sequence

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.view.line import Line, fit, line
from tierdeck_tui.widgets.line_list import LineList


class Rows:
    """Rows that remember which of them were painted."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys
        self.painted: set[int] = set()

    def paint(self, number: int, cells: int) -> Line:
        self.painted.add(number)
        return fit(line(f"row {self.keys[number]}"), cells)

    def put(self, rows: LineList, *, markable: Sequence[str] = ()) -> None:
        rows.show(self.keys, self.paint, markable=frozenset(markable))


def numbered(count: int) -> list[str]:
    return [str(number) for number in range(count)]


async def test_only_rows_that_are_seen_are_painted() -> None:
    made, rows = Rows(numbered(100_000)), LineList()
    host = Host(rows)
    async with host.run_test(size=(60, 12)) as pilot:
        made.put(rows)
        await pilot.pause()
        assert made.painted <= set(range(12))
        await pilot.press("G")
        assert host.lines()[-1].rstrip() == "▌ row 99999"
        assert len(made.painted) <= 40


async def test_the_cursor_stays_on_its_row_when_rows_come_and_go_and_else_on_the_next() -> None:
    rows = LineList()
    async with Host(rows).run_test(size=(60, 12)) as pilot:
        Rows(["a", "b", "c", "d"]).put(rows)
        await pilot.press("j", "j")
        assert rows.cursor_key == "c"
        Rows(["new", "a", "b", "c", "d"]).put(rows)
        assert rows.cursor_key == "c"
        Rows(["a", "b", "d"]).put(rows)
        assert rows.cursor_key == "d"
        Rows(["a", "b"]).put(rows)
        assert rows.cursor_key == "b"
        Rows([]).put(rows)
        assert rows.cursor_key is None
        await pilot.press("j", "k", "g", "G", "enter", "space")
        assert rows.cursor_key is None


async def test_marks_are_kept_by_key_and_only_rows_that_can_be_marked_are() -> None:
    rows = LineList()
    host = Host(rows)
    async with host.run_test(size=(60, 12)) as pilot:
        Rows(["head", "a", "b"]).put(rows, markable=["a", "b"])
        await pilot.press("space", "j", "space", "space")
        assert list(rows.marked) == ["a", "b"]
        Rows(["head", "b", "c"]).put(rows, markable=["b", "c"])
        assert list(rows.marked) == ["b"]
        assert "✓row b" in host.lines()[1].replace(" row", "row")
        rows.clear_marks()
        assert list(rows.marked) == []


async def test_scrolling_takes_the_cursor_along() -> None:
    rows = LineList()
    async with Host(rows).run_test(size=(60, 12)) as pilot:
        Rows(numbered(100)).put(rows)
        await pilot.pause()
        rows.scroll_to(y=50, animate=False, force=True)
        await pilot.pause()
        assert rows.cursor_number == 50
        await pilot.press("pageup")
        assert rows.cursor_number == 44
        assert rows.scroll_offset.y == 44


async def test_a_click_moves_the_cursor_and_a_second_one_opens() -> None:
    opened: list[str | None] = []

    class Opening(Host):
        def on_line_list_opened(self, event: LineList.Opened) -> None:
            opened.append(event.line_list.cursor_key)

    rows = LineList()
    async with Opening(rows).run_test(size=(60, 12)) as pilot:
        Rows(numbered(5)).put(rows)
        await pilot.pause()
        await pilot.click(LineList, offset=(5, 3))
        assert rows.cursor_key == "3"
        assert opened == []
        await pilot.click(LineList, offset=(5, 3), times=2)
        assert opened == ["3"]


async def test_an_empty_list_says_why() -> None:
    rows = LineList()
    host = Host(rows)
    async with host.run_test(size=(50, 12)) as pilot:
        rows.show_empty([line(""), line("nothing is there because nobody made it, and it says so")])
        await pilot.pause()
        said = [text.strip() for text in host.lines()][1:3]
        assert said == ["nothing is there because nobody made it, and it", "says so"]
