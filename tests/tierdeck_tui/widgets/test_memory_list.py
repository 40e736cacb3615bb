from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.settled import settled
from tests.tierdeck_tui.view.rows import hit, row
from tests.tierdeck_tui.widgets.host import Host
from tierdeck.model import NodeDraft, NodeFilter
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import Cursor, Page, Store, add_nodes, open_store
from tierdeck_tui.reading.memory_pages import PAGE_ROWS, MemoryPages
from tierdeck_tui.view.line import line
from tierdeck_tui.view.memory_row import memory_of
from tierdeck_tui.widgets.memory_list import MemoryList

START_MS = 1_700_000_000_000


@dataclass(frozen=True, slots=True)
class CountedPages(MemoryPages):
    """The store's pages; `read` keeps the number of rows of each that was read."""

    read: list[int] | None = None

    def around(self, cursor: Cursor | None) -> Page:
        return self._counted(super(CountedPages, self).around(cursor))

    def at(self, first_row: int, total_rows: int | None) -> Page:
        return self._counted(super(CountedPages, self).at(first_row, total_rows))

    def _counted(self, page: Page) -> Page:
        if self.read is not None:
            self.read.append(len(page.rows))
        return page


def fill(store: Store, count: int, *, start: int = 0) -> list[str]:
    """Memories a second apart, the last one the newest."""
    return add_nodes(
        store,
        [
            NodeDraft(f"memory {n}", id=f"{n:08}-0000-4000-8000-000000000000", created_at_ms=START_MS + n * 1000)
            for n in range(start, start + count)
        ],
    )


def texts(host: Host) -> list[str]:
    """The second line of each row in view."""
    return [line.strip(" ▌") for line in host.lines()[1::2]]


async def test_rows_are_shown_with_the_cursor_on_the_first() -> None:
    host = Host(MemoryList())
    async with host.run_test(size=(80, 10)) as pilot:
        host.shown.show_rows([hit("first words"), hit("other words")])  # type: ignore[attr-defined]
        await pilot.pause()
        assert texts(host)[:3] == ["first words", "other words", ""]
        assert host.lines()[0].startswith("▌")


async def test_the_keys_move_the_cursor(store: Store) -> None:
    fill(store, 300)
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter()))
        await settled(pilot)
        for key, number in (("j", 1), ("k", 0), ("ctrl+d", 5), ("ctrl+u", 0), ("G", 299), ("g", 0), ("end", 299)):
            await pilot.press(key)
            await settled(pilot)
            assert shown.cursor_number == number
            assert shown.cursor_row is not None
            assert memory_of(shown.cursor_row).excerpt == f"memory {299 - number}"
        assert texts(host)[-1] == "memory 0"


async def test_oldest_first_begins_with_the_oldest(store: Store) -> None:
    fill(store, 250)
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter(), is_oldest_first=True))
        await settled(pilot)
        assert texts(host)[:2] == ["memory 0", "memory 1"]
        await pilot.press("G")
        await settled(pilot)
        assert texts(host)[-1] == "memory 249"


@pytest.mark.case("T09")
async def test_a_paint_reads_at_most_two_pages_however_long_the_list(store: Store) -> None:
    fill(store, 5_000)
    read: list[int] = []
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(120, 50)) as pilot:
        shown.show_pages(CountedPages(store, NodeFilter(), read=read))
        await settled(pilot)
        assert len(read) <= 2
        assert sum(read) <= 2 * PAGE_ROWS
        for key in ("G", "g", "ctrl+d"):
            read.clear()
            await pilot.press(key)
            await settled(pilot)
            assert sum(read) <= 2 * PAGE_ROWS
        assert texts(host)[0] == "memory 4999"


async def test_scrolling_takes_the_cursor_along_and_loads_what_is_seen(store: Store) -> None:
    fill(store, 1_000)
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter()))
        await settled(pilot)
        shown.scroll_to(y=1_000, animate=False, force=True)
        await settled(pilot)
        assert texts(host)[0] == "memory 499"
        assert shown.cursor_number == 500
        assert shown.cursor_row is not None


@pytest.mark.case("T10")
async def test_five_hundred_changes_by_another_program_reload_one_page_only(store: Store, tmp_path: Path) -> None:
    ids = fill(store, 2_000)
    read: list[int] = []
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(CountedPages(store, NodeFilter(), read=read))
        await settled(pilot)
        for _ in range(3):
            await pilot.press("j")
        read.clear()
        with open_store(store.path) as other:
            archive_nodes(other, ids[500:1_000], actor="other")
        shown.reload()
        await settled(pilot)
        assert len(read) == 1
        assert shown.total_rows == 1_500


async def test_the_cursor_follows_its_memory_while_another_program_writes(store: Store) -> None:
    fill(store, 400)
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter()))
        await settled(pilot)
        for _ in range(12):
            await pilot.press("j")
        before = shown.cursor_row
        place = texts(host).index("memory 387")
        with open_store(store.path) as other:
            fill(other, 50, start=1_000)
        shown.reload()
        await settled(pilot)
        assert shown.cursor_row == before
        assert shown.cursor_number == 62
        assert texts(host)[place] == "memory 387", "it stands on the same line of the screen"


async def test_marks_are_kept_by_memory_and_can_be_cleared(store: Store) -> None:
    ids = fill(store, 10)
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter()))
        await settled(pilot)
        await pilot.press("space", "space")
        assert list(shown.marked_ids) == [ids[9], ids[8]]
        assert shown.cursor_number == 2
        assert host.lines()[0].startswith(" ✓")
        await pilot.press("k", "space")
        assert list(shown.marked_ids) == [ids[9]]
        shown.clear_marks()
        assert list(shown.marked_ids) == []


async def test_a_key_acts_on_what_is_highlighted_or_on_nothing(store: Store) -> None:
    fill(store, 500)
    opened: list[str] = []

    class Watch(Host):
        def on_memory_list_opened(self, event: MemoryList.Opened) -> None:
            opened.append(memory_of(event.row).excerpt)

    shown = MemoryList()
    host = Watch(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter()))
        await settled(pilot)
        shown.action_cursor_last()  # its page is not there yet
        shown.action_open_row()
        shown.action_toggle_mark()
        assert shown.marked_ids == ()
        await settled(pilot)
        await pilot.press("enter")
        assert opened == ["memory 0"]


async def test_a_click_moves_and_a_second_one_opens(store: Store) -> None:
    fill(store, 30)
    opened: list[str] = []

    class Watch(Host):
        def on_memory_list_opened(self, event: MemoryList.Opened) -> None:
            opened.append(memory_of(event.row).excerpt)

    shown = MemoryList()
    host = Watch(shown)
    async with host.run_test(size=(80, 20)) as pilot:
        shown.show_pages(MemoryPages(store, NodeFilter()))
        await settled(pilot)
        await pilot.click(MemoryList, offset=(5, 7))
        assert shown.cursor_number == 3
        await pilot.double_click(MemoryList, offset=(5, 4))
        assert opened == ["memory 27"]


async def test_an_empty_list_says_why() -> None:
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(40, 5)) as pilot:
        shown.show_empty([line(""), line("  nothing [/x] here")])
        shown.show_rows([])
        await pilot.press("j", "k", "G", "enter", "space")
        assert host.lines()[1].strip() == "nothing [/x] here"


@pytest.mark.case("U01", "U05", "U07", "T05", "T07")
@pytest.mark.parametrize("cells", [120, 60, 25])
async def test_hostile_rows_are_shown_as_signs_in_lines_of_one_width(cells: int) -> None:
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(cells, 2 * len(HOSTILE_TEXTS))) as pilot:
        shown.show_rows([replace(row(text), id=str(n)) for n, text in enumerate(HOSTILE_TEXTS)])
        await pilot.pause()
        for y in range(2 * len(HOSTILE_TEXTS)):
            strip = shown.render_line(y)
            assert strip.cell_length == cells
            assert all(c >= " " and not "\x7f" <= c <= "\x9f" and c != "\ufe0f" for c in strip.text)


@pytest.mark.case("X01")
async def test_secrets_are_masked_until_revealed() -> None:
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(100, 4)) as pilot:
        shown.show_rows([row("export OPENAI_API_KEY=sk-test-0000aaaabbbbccccdddd1111")])
        await pilot.pause()
        assert "hidden" in texts(host)[0]
        shown.set_reveal(True)
        assert "sk-test-0000" in texts(host)[0]


async def test_a_list_that_is_filled_while_it_is_hidden_begins_at_its_first_row() -> None:
    shown = MemoryList()
    host = Host(shown)
    async with host.run_test(size=(80, 14)) as pilot:
        shown.display = False
        await pilot.pause()
        shown.show_rows([replace(row(), id=str(n)) for n in range(30)])
        await pilot.pause()
        shown.display = True
        await pilot.pause()
        assert shown.cursor_number == 0
        assert shown.scroll_offset.y == 0
