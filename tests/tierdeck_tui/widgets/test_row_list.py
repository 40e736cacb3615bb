from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.settled import settled
from tests.tierdeck_tui.test_app import controls
from tests.tierdeck_tui.view.rows import row
from tests.tierdeck_tui.widgets.host import Host
from tierdeck.errors import StoreBusyError
from tierdeck.promote.records import LogEntry
from tierdeck_tui.reading.promotion_items import PAGE_ROWS, ItemPage, LogItem, ReadItems
from tierdeck_tui.view.line import line
from tierdeck_tui.widgets.row_list import RowList

ENTRY = LogEntry(
    1, 1_700_000_000_000, "aaaa1111-0000", "task", "session", "auto", "task-session", "1:2", (), "rules", None,
    None, None, None, None,
)  # fmt: skip


class Log:
    """A log of so many rows, newest first, that can grow and lose rows; `asked` keeps how many were
    asked for, `threads` who asked. While `gate` is not set, nobody gets an answer."""

    def __init__(self, rows: int) -> None:
        self.ids = list(range(rows, 0, -1))
        self.asked: list[int] = []
        self.threads: set[int | None] = set()
        self.gate = threading.Event()
        self.gate.set()

    def read(self, before: int | None = None) -> ReadItems:
        def page(limit_rows: int) -> ItemPage:
            self.asked.append(limit_rows)
            self.threads.add(threading.current_thread().ident)
            assert self.gate.wait(60)
            found = [number for number in self.ids if before is None or number < before][:limit_rows]
            more = self.read(found[-1]) if len(found) == limit_rows else None
            return ItemPage(tuple(item(number) for number in found), more)

        return page


def item(number: int, text: str = "memory") -> LogItem:
    return LogItem(replace(ENTRY, id=number), row(f"{text} {number}"))


def keys(items: Sequence[object]) -> list[str]:
    return [str(each.key) for each in items if isinstance(each, LogItem)]


async def test_pages_are_read_on_as_the_end_comes_near_and_no_row_twice() -> None:
    log, rows = Log(1_000), RowList()
    async with Host(rows).run_test(size=(80, 20)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        assert len(rows.items) == PAGE_ROWS
        for _ in range(30):
            await pilot.press("ctrl+d")
            await settled(pilot)
        assert len(rows.items) == 2 * PAGE_ROWS
        assert rows.cursor_number == 150
        assert keys(rows.items) == [str(number) for number in log.ids[: len(rows.items)]]
        assert max(log.asked) == PAGE_ROWS


async def test_the_end_of_a_list_is_reached_and_then_nothing_more_is_asked() -> None:
    log, rows = Log(250), RowList()
    async with Host(rows).run_test(size=(80, 20)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        for _ in range(4):
            await pilot.press("G")
            await settled(pilot)
        assert rows.cursor_number == 249
        assert not rows.has_more
        asked = len(log.asked)
        await pilot.press("G", "j")
        await settled(pilot)
        assert len(log.asked) == asked


async def test_the_cursor_stays_on_its_row_and_place_when_rows_come_above_it() -> None:
    log, rows = Log(300), RowList()
    async with Host(rows).run_test(size=(80, 20)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        await pilot.press(*["ctrl+d"] * 5)
        await settled(pilot)
        before = rows.cursor_item
        y = rows.cursor_number * 2 - rows.scroll_offset.y
        log.ids = [303, 302, 301, *log.ids]
        rows.reload()
        await settled(pilot)
        assert rows.cursor_item is not None
        assert before is not None
        assert rows.cursor_item.key == before.key
        assert rows.cursor_number * 2 - rows.scroll_offset.y == y
        assert keys(rows.items)[:3] == ["303", "302", "301"]


async def test_a_key_pressed_while_all_is_read_again_moves_the_cursor_for_good() -> None:
    log, rows = Log(10), RowList(stays_first=True)
    async with Host(rows).run_test(size=(80, 30)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        log.ids.insert(0, 11)
        log.gate.clear()
        rows.reload()
        await pilot.press("j")
        log.gate.set()
        await settled(pilot)
        assert keys(rows.items)[0] == "11"
        assert rows.cursor_item is not None
        assert rows.cursor_item.key == "9"
        await pilot.press("g")
        log.ids.insert(0, 12)
        rows.reload()
        await settled(pilot)
        assert rows.cursor_item.key == "12"


async def test_moving_towards_the_end_while_all_is_read_again_does_not_leave_the_old_rows() -> None:
    log, rows = Log(250), RowList()
    async with Host(rows).run_test(size=(80, 20)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        log.ids.insert(0, 251)
        log.gate.clear()
        rows.reload()
        await pilot.press("G")
        log.gate.set()
        await settled(pilot)
        assert keys(rows.items)[:2] == ["251", "250"]
        assert len(rows.items) > PAGE_ROWS


async def test_when_its_row_is_gone_the_cursor_goes_to_the_next_and_at_the_end_to_the_one_before() -> None:
    log, rows = Log(10), RowList()
    async with Host(rows).run_test(size=(80, 30)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        await pilot.press("j", "j", "j")
        log.ids.remove(7)
        rows.reload()
        await settled(pilot)
        assert rows.cursor_item is not None
        assert rows.cursor_item.key == "6"
        await pilot.press("G")
        log.ids.remove(1)
        rows.reload()
        await settled(pilot)
        assert rows.cursor_item.key == "2"


async def test_marks_stay_through_moving_and_reloading_and_come_in_the_order_of_marking() -> None:
    log, rows = Log(10), RowList()
    host = Host(rows)
    async with host.run_test(size=(80, 30)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        await pilot.press("j", "space", "g", "space", "j")
        log.ids.insert(0, 11)
        rows.reload()
        await settled(pilot)
        assert keys(rows.marked) == ["9", "10"]
        assert "✓" in host.lines()[2]
        await pilot.press("g", "j", "space")
        assert keys(rows.marked) == ["9"]


async def test_a_page_that_can_not_be_read_is_told_and_the_old_rows_stay() -> None:
    def broken(_limit_rows: int) -> ItemPage:
        raise StoreBusyError("read x: busy")

    log, rows = Log(5), RowList()
    host = Host(rows)
    async with host.run_test(size=(80, 30)) as pilot:
        rows.show(log.read())
        await settled(pilot)
        rows.show(broken)
        await settled(pilot)
        assert len(rows.items) == 5


async def test_an_empty_list_says_what_it_was_told_wrapped_to_its_width() -> None:
    rows = RowList()
    host = Host(rows)
    async with host.run_test(size=(50, 12)) as pilot:
        rows.show_empty([line("error: " + "a long reason " * 6)])
        rows.show(Log(0).read())
        await settled(pilot)
        assert " ".join(text.strip() for text in host.lines()).strip().endswith("a long reason")


@pytest.mark.case("T01", "T03")
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
async def test_no_text_of_a_row_drives_the_terminal_or_breaks_a_line(text: str) -> None:
    entry = replace(ENTRY, actor=text, reason=text, from_tier=text, kind="override", node_id=text)
    rows = RowList()
    host = Host(rows)
    async with host.run_test(size=(70, 12)) as pilot:
        rows.show(lambda _: ItemPage((LogItem(entry, row(text)), LogItem(replace(entry, id=2), None))))
        await settled(pilot)
        shown = host.lines()
        assert controls("".join(shown)) == []
        assert "\u202e" not in "".join(shown)
        assert "gone" in shown[3] or "…" in shown[3]


async def test_going_through_a_long_log_reads_every_page_beside_the_event_loop() -> None:
    log, rows = Log(20_000), RowList()
    async with Host(rows).run_test(size=(100, 40)) as pilot:
        rows.show(log.read())
        for _ in range(60):
            await pilot.press("ctrl+d")
        await settled(pilot)
        assert rows.cursor_number == 600
        assert len(log.asked) >= 6
        assert threading.main_thread().ident not in log.threads
