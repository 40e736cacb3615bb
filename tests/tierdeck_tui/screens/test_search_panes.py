"""The panes at each size, following relations, and hostile text on every part of the screen."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS, MakeApp
from tests.tierdeck_tui.screens.search_host import Seen, words_only
from tierdeck.model import AccessKind, EdgeType, Member, NodeDraft
from tierdeck.promote import record_accesses
from tierdeck.store import add_nodes, add_session, open_store, relate
from tierdeck_tui.screens.edit_form import EditForm

START_MS = 1_700_000_000_000
SIZES = [(120, 32), (80, 24), (60, 16), (50, 12)]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Ten memories, each the cause of the next newer one."""
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        drafts = [NodeDraft(f"memory {n} of ten", created_at_ms=START_MS + n * 1000) for n in range(10)]
        ids = add_nodes(store, drafts)
        for cause, effect in pairwise(ids):
            relate(store, EdgeType.CAUSATION, [Member(cause, "cause"), Member(effect, "effect")])
    return path


@pytest.mark.parametrize("size", SIZES)
async def test_enter_opens_the_memory_and_escape_comes_back(
    db: Path, make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=size) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        await seen.press("j", "enter")
        assert seen.focused == "detail-text"
        assert "memory 8 of ten" in seen.detail_text
        if size[1] >= 16:
            assert any("memory 8 of ten" in line for line in seen.painted())
        assert all(len(line) > 0 for line in seen.painted())
        await seen.press("escape")
        assert seen.focused == "results"
        assert seen.cursor_text == "memory 8 of ten"
        assert seen.results.is_on_screen


@pytest.mark.parametrize("size", SIZES)
async def test_tab_goes_round_the_panes_that_can_be_seen(
    db: Path, make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=size) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        order = []
        for _ in range(4):
            await seen.press("tab")
            order.append(seen.focused)
        both = ["detail-text", "related", "query", "results"]
        assert order == (both if size[0] >= 100 else ["query", "results", "query", "results"])


async def test_relations_are_followed_from_the_screen_and_come_back_from(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(80, 24)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        await seen.press("enter", "tab")
        assert seen.focused == "related"
        await seen.press("enter")
        assert "memory 8 of ten" in seen.detail_text
        await seen.press("tab", "enter") if seen.focused != "related" else await seen.press("enter")
        await seen.press("backspace")
        assert "memory 8 of ten" in seen.detail_text
        await seen.press("escape")
        assert "memory 9 of ten" in seen.detail_text
        await seen.press("escape")
        assert seen.focused == "results"


async def test_zoom_gives_the_room_to_the_pane_with_the_focus_and_back(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        narrow = seen.results.size.width
        await seen.press("z")
        assert seen.results.size.width > narrow * 1.8
        await seen.press("z")
        assert seen.results.size.width == narrow
        await seen.press("tab", "z")
        assert not seen.results.is_on_screen
        assert seen.detail.size.width > 110
        await seen.press("escape")
        assert seen.results.is_on_screen


async def test_the_detail_jumps_by_sections(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(60, 16)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        await seen.press("enter", "n")
        view = seen.screen.query_one("#detail-text")
        assert view.scroll_offset.y > 0
        await seen.press("N", "N")
        assert view.scroll_offset.y == 0


async def test_a_terminal_that_grows_shows_both_panes(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(80, 24)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        assert not seen.detail.is_on_screen
        await pilot.resize_terminal(120, 32)
        await seen.settle()
        assert seen.detail.is_on_screen
        assert "memory 9 of ten" in "\n".join(line[60:] for line in seen.painted())


@pytest.fixture
def hostile_db(tmp_path: Path) -> Path:
    """A store in which every field that holds text holds all of the hostile texts, one memory for each."""
    path = tmp_path / "hostile [b] \x1b.db"
    every = "".join(HOSTILE_TEXTS)
    with open_store(path, create=True) as store:
        ids = add_nodes(
            store,
            [
                NodeDraft(f"{text} {n} needle", subtype=text, provenance=text, metadata={text: [every], "n": n})
                for n, text in enumerate(HOSTILE_TEXTS)
            ],
        )
        session = add_session(store, every, project=every, agent=every)
        for node_id in ids:
            record_accesses(store, session.id, [node_id], AccessKind.PULL)
        label = every.replace("\x00", "")[:900]
        relate(store, EdgeType.RELATION, [Member(node_id, "subject") for node_id in ids], label=label)
    return path


def check_painted(seen: Seen, width: int) -> None:
    # An editor shows a selector that it may not take out of the text.
    refused = "\u202e\u2066" if isinstance(seen.app.screen, EditForm) else "\u202e\u2066\ufe0f"
    for strip in seen.app.screen._compositor.render_strips():
        assert strip.cell_length == width
        assert all(c >= " " and not "\x7f" <= c <= "\x9f" and c not in refused for c in strip.text)


@pytest.mark.case("U01", "U05", "U07", "T01", "T04", "T05", "T07")
@pytest.mark.parametrize("size", [(120, 32), (80, 24), (60, 16)])
async def test_a_hostile_store_is_signs_on_every_part_of_the_screen(
    hostile_db: Path, make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app(hostile_db, words_only())
    async with app.run_test(size=size) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        check_painted(seen, size[0])
        for query in ("needle", "needle [/x] tier:longterm", 'session:"\x1b]0;x" tag:[b'):
            await seen.ask(query)
            check_painted(seen, size[0])
        await seen.ask("needle")
        await seen.press("j", "enter")  # every memory's metadata, sessions and relations hold all of the texts
        for key in ("n", "n", "n", "ctrl+d", "G"):
            await pilot.press(key)
            check_painted(seen, size[0])
        await seen.press("escape")
        for keys in (("y",), ("f",), ("e",), ("A",), ("u",)):
            await pilot.press(*keys)
            await pilot.pause(0.1)
            check_painted(seen, size[0])
            await pilot.press("escape")
            await pilot.pause(0.1)


async def test_a_memory_without_a_cursor_can_be_neither_opened_nor_changed(
    tmp_path: Path, make_app: MakeApp
) -> None:
    with open_store(tmp_path / "empty.db", create=True):
        pass
    app = make_app(tmp_path / "empty.db", words_only())
    async with app.run_test(size=(80, 24)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        assert "The store holds no memory yet." in "\n".join(seen.painted())
        await seen.press("enter", "escape", "space", "y", "e", "A", "R", "u", "n", "x", "s", "z", "z", "m", "m")
        assert app.screen is seen.screen


@pytest.mark.parametrize("size", [(120, 32), (80, 24)])
async def test_the_words_found_in_a_long_memory_are_gone_to_one_after_another(
    tmp_path: Path, make_app: MakeApp, size: tuple[int, int]
) -> None:
    path, lines = tmp_path / "memory.db", "a line of a log\n" * 200
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft(f"{lines}the first aardvark\n{lines}the other aardvark\n{lines}")])
    app = make_app(path, words_only())
    async with app.run_test(size=size) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        await seen.ask("aardvark")
        assert "the first aardvark" in "\n".join(seen.painted())  # in the row, before it is opened
        await seen.press("enter")
        if seen.focused != "detail-text":
            await seen.press("enter")
        text = seen.detail.query_one("#detail-text")
        for key, wanted in (("w", "first"), ("w", "other"), ("w", "other"), ("W", "first"), ("W", "first")):
            await seen.press(key)
            here = [text.render_line(y).text.strip() for y in range(text.size.height)]
            assert f"the {wanted} aardvark" in here


async def test_where_there_is_no_match_to_go_to_it_says_why(tmp_path: Path, make_app: MakeApp) -> None:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft("the aardvark")])
    app = make_app(path, words_only())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        said = []
        for before in ((), ("slash", *"aardvark", "enter"), ("enter",)):
            await seen.press(*before, "w")
            said.append([notification.message for notification in app._notifications][-1])
        assert said == [
            "nothing is searched for",
            "open the memory first",
            "no word of the query farther down in the first 200,000 characters",
        ]
