"""The Promotions screen's lists: what is in each tab, what the pane says of a row, filters, and what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.family import FAMILY_SCHEMA
from tests.tierdeck_tui.conftest import HOSTILE_TEXTS, MakeApp, keyword_settings
from tests.tierdeck_tui.screens.promotions_host import (
    BY_HAND,
    IDS,
    ONE_SHORT,
    PROVEN,
    SETTINGS,
    UNUSED,
    USED_ONCE,
    USED_TWICE,
    Board,
    fill,
    waiting_store,
)
from tests.tierdeck_tui.test_app import controls
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote import meet_session, record_accesses
from tierdeck.promote.moves.holds import dismiss, hold
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.rules import Rules
from tierdeck.store import add_node, add_nodes, open_store
from tierdeck_tui.screens.dialog import CANCEL_ID
from tierdeck_tui.screens.log_filter_form import LogFilterForm
from tierdeck_tui.screens.promotions import PromotionsScreen
from tierdeck_tui.screens.search import SearchScreen
from tierdeck_tui.widgets.card import Card
from tierdeck_tui.widgets.detail import Detail
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.footer import ActionFooter


async def other_program(board: Board, text: str = "") -> None:
    """Another connection uses the memory that lacks one pull; the screen is told at once, not within a second."""
    with open_store(board.store.path) as store:
        session = meet_session(store, "another")
        for _ in range(2):
            record_accesses(store, session.id, [USED_ONCE], AccessKind.PULL, settings=BY_HAND)
        if text:
            add_node(store, NodeDraft(text))
    board.screen.store_changed()
    await board.settle()


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
async def test_candidates_are_listed_with_their_step_what_they_have_and_their_text(board: Board) -> None:
    lines = board.lines()
    assert "task → session     2 pulls in one session" in lines[0]
    assert "task memory that one session used twice" in lines[1]
    assert "session → longterm 3 sessions, 3 successes, held 0.9" in lines[2]
    assert "2 memories wait · task → session 1, session → longterm 1" in board.status


async def test_the_pane_lists_each_criterion_with_found_needed_and_pass(board: Board) -> None:
    await board.press("j")
    for criterion in ("sessions", "successes", "failures", "confidence held"):
        assert f"✓ pass {criterion}" in board.pane
    assert "3 ≥ 3" in board.pane
    assert "3 pulls in 3 sessions · 0 pushes" in board.pane
    assert "session memory that three sessions used" in board.pane


async def test_near_says_what_each_lacks(board: Board) -> None:
    await board.press("right_square_bracket")
    shown = "\n".join(board.lines())
    assert "needs 1 more pull in one session" in shown
    assert "session → longterm needs 1 more session" in shown
    assert "✗ fail pulls in one session" in board.pane


async def test_every_tab_shows_its_count_and_the_header_how_many_wait(board: Board) -> None:
    assert "[Candidates 2]" in board.tabs
    assert "Near 2" in board.tabs
    assert "Log 0" in board.tabs
    assert "Runs 0" in board.tabs
    await board.until(lambda: "2 Promotions (2)" in board.painted())


async def test_arrows_and_brackets_go_through_the_tabs_and_round(board: Board) -> None:
    seen = []
    for key in ("right", "right_square_bracket", "right", "right", "right", "left", "left_square_bracket"):
        await board.press(key)
        seen.append(board.rows.id)
    assert seen == ["near", "log", "runs", "held", "candidates", "held", "runs"]


async def test_a_click_on_a_tab_shows_it(board: Board) -> None:
    await board.pilot.click("#tabs", offset=(board.tabs.index("Log") + 1, 0))
    await board.settle()
    assert board.rows.id == "log"


async def test_empty_lists_say_why(board: Board) -> None:
    await board.press("left")
    assert "Nothing is held" in "\n".join(board.lines())
    await board.press("left")
    assert "No run yet" in "\n".join(board.lines())
    await board.press("left")
    assert "Nothing was moved, held or dismissed yet" in "\n".join(board.lines())
    dismiss(board.store, [USED_TWICE, PROVEN], actor="bob", rules=Rules())
    await board.press("left", "left", "r")
    shown = "\n".join(board.lines())
    assert "Nothing waits" in shown
    assert "2 memories lack one thing: ] shows which" in shown


async def test_a_change_by_another_program_keeps_cursor_and_marks(board: Board) -> None:
    await board.press("j", "space")
    assert board.screen.chosen_ids() == (PROVEN,)
    await other_program(board)
    assert [item.key for item in board.rows.items] == [USED_ONCE, USED_TWICE, PROVEN]
    assert board.screen.subject_id() == PROVEN, "the cursor is on its memory, one row further down"
    assert board.screen.chosen_ids() == (PROVEN,)
    assert "[Candidates 3]" in board.tabs


async def test_a_hidden_tab_is_read_again_when_it_is_shown(board: Board) -> None:
    await board.press("right", "left")
    await board.press("right")
    assert {item.key for item in board.rows.items} == {USED_ONCE, ONE_SHORT}
    await board.press("left")
    await other_program(board)
    await board.press("right")
    assert [item.key for item in board.rows.items] == [ONE_SHORT]


async def test_candidates_can_be_listed_by_rule_and_all_again(board: Board) -> None:
    await board.pilot.press("f")
    await board.until(lambda: board.app.screen is not board.screen)
    next(button for button in board.app.screen.query(DialogButton) if button.value == "session-longterm").press()
    await board.until(lambda: board.app.screen is board.screen)
    await board.settle()
    assert [item.key for item in board.rows.items] == [PROVEN]
    assert "1 memory waits · only session → longterm" in board.status
    await board.press("x")
    assert [item.key for item in board.rows.items] == [USED_TWICE, PROVEN]


@pytest.mark.spec("SPEC-09.14")
async def test_the_log_is_filtered_by_actor_kind_and_tier_and_says_so(board: Board) -> None:
    store = board.store
    override_tier(store, [UNUSED], Tier.LONGTERM, actor="bob", reason="worth it", hold=False)
    override_tier(store, [ONE_SHORT], Tier.ARCHIVE, actor="ann", reason="obsolete", hold=False)
    hold(store, [PROVEN], actor="ann", reason="keep it")
    await board.press("right", "right", "r")
    assert len(board.rows.items) == 3
    await board.pilot.press("f")
    await board.until(lambda: isinstance(board.app.screen, LogFilterForm))
    form = board.app.screen
    form.query_one("#log-actor", Input).value = "ann"
    form.query_one("#log-kind", Input).value = "nonsense"
    await board.pilot.press("ctrl+s")
    await board.pilot.pause()
    assert "is none of auto, approve" in board.painted()
    form.query_one("#log-kind", Input).value = "ov"
    await board.pilot.press("ctrl+s")
    await board.until(lambda: board.app.screen is board.screen)
    await board.settle()
    assert [item.node_id for item in board.rows.items] == [ONE_SHORT]
    assert "1 row, newest first [by:ann] [kind:ov]" in board.status
    await board.press("escape")
    assert len(board.rows.items) == 3


async def test_a_row_of_the_log_says_who_how_why_and_that_it_was_taken_back(board: Board) -> None:
    report = override_tier(board.store, [UNUSED], Tier.LONGTERM, actor="bob", reason="worth it", hold=False)
    await board.press("right", "right", "r")
    assert "task → longterm  by hand, by bob" in board.lines()[0]
    assert "“worth it”" in board.lines()[1]
    assert "worth it" in board.pane
    await board.press("right", "r")
    assert f"#{report.run_id} override" in board.lines()[0]
    assert "moved 1 of 1" in board.lines()[1]
    await board.press("enter")
    assert board.rows.id == "log"
    assert f"[run:{report.run_id}]" in board.status


async def test_l_on_the_search_screen_opens_the_memorys_log(board: Board) -> None:
    override_tier(board.store, [UNUSED], Tier.LONGTERM, actor="bob", reason="worth it", hold=False)
    hold(board.store, [PROVEN], actor="ann", reason="keep it")
    await board.press("1")
    search = board.app.screen
    assert isinstance(search, SearchScreen)
    wanted = search.subject_id()
    assert wanted == UNUSED
    await board.press("l")
    assert board.app.screen is board.screen
    assert [item.node_id for item in board.rows.items] == [UNUSED]
    assert f"[memory:{UNUSED[:8]}]" in board.status


async def test_the_log_can_be_the_first_thing_that_the_screen_shows(tmp_path: Path, make_app: MakeApp) -> None:
    path = waiting_store(tmp_path / "waiting.db")
    with open_store(path) as store:
        hold(store, [PROVEN], actor="ann", reason="keep it")
        hold(store, [UNUSED], actor="ann", reason="keep it")
    app = make_app(path, SETTINGS)
    async with app.run_test(size=(120, 32)) as pilot:
        board = Board(app, pilot)
        await board.settle()
        await board.press("l")
        await board.settle()
        assert isinstance(app.screen, PromotionsScreen)
        assert board.rows.id == "log"
        assert [item.node_id for item in board.rows.items] == [UNUSED]


async def test_o_opens_the_memory_on_the_search_screen_also_when_its_list_shows_others(board: Board) -> None:
    await board.press("j", "o")
    search = board.app.screen
    assert isinstance(search, SearchScreen)
    assert search.query_one(Detail).subject_id == PROVEN
    await board.press("backspace")
    assert search.query_one(Detail).subject_id == IDS[-1], "back to the row under the cursor"


async def test_in_a_small_terminal_enter_opens_the_pane_and_esc_goes_back(
    tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(waiting_store(tmp_path / "waiting.db"), SETTINGS)
    async with app.run_test(size=(60, 16)) as pilot:
        board = Board(app, pilot)
        await board.open()
        assert board.lines()[0].strip("▌ ").startswith("task → session")
        await board.press("enter")
        assert "✓ pass pulls in one session" in board.painted()
        assert not board.rows.is_on_screen
        await board.press("escape")
        assert board.rows.has_focus
        assert "✓ pass" not in board.painted()


@pytest.mark.case("X03")
async def test_in_another_programs_store_every_tab_says_what_to_do(tmp_path: Path, make_app: MakeApp) -> None:
    import sqlite3

    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as conn:
        conn.executescript(FAMILY_SCHEMA)
    conn.close()
    app = make_app(path, SETTINGS)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        board = Board(app, pilot)
        await board.open()
        for _ in range(5):
            shown = " ".join(" ".join(board.lines()).split())
            assert "Not adopted: no accesses are recorded" in shown
            assert "`tierdeck adopt` backs the store up and begins to record them" in shown
            assert board.status == "not adopted: no accesses are recorded"
            assert "error" not in board.painted()
            assert str(path) not in board.painted()
            await board.press("right")
        for key in ("S", "v"):
            await board.press(key)
            await board.until(lambda: "the store is another program's" in board.painted())
            assert app.screen is board.screen


async def test_a_store_opened_for_reading_lists_and_refuses_what_writes(tmp_path: Path, make_app: MakeApp) -> None:
    path = waiting_store(tmp_path / "waiting.db")
    app = make_app(path, SETTINGS, read_only=True)
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        board = Board(app, pilot)
        await board.open()
        assert len(board.rows.items) == 2
        for key in ("a", "d", "p", "h", "u"):
            await board.press(key)
            assert app.screen is board.screen
        await board.until(lambda: "open for reading only" in board.painted())
        grey = {item.id for item in board.screen.query_one(ActionFooter).items() if item.is_grey}
        assert {"approve", "override", "hold", "undo"} <= grey
        assert "sweep" not in grey
        shown = await board.asked("S")
        assert "Sweep: 2 memories would move" in shown
        assert "Not to be applied: the store is open for reading only" in " ".join(shown.split())
        assert [button.id for button in app.screen.query(DialogButton)] == [CANCEL_ID]
        await board.press("escape")
        assert board.log() == []


@pytest.mark.case("T01", "T02", "T03", "T04")
async def test_no_text_drives_the_terminal_from_any_place_of_the_screen(tmp_path: Path, make_app: MakeApp) -> None:
    path = tmp_path / "hostile.db"
    texts = dict(zip(IDS, HOSTILE_TEXTS, strict=False))
    with open_store(path, create=True) as store:
        fill(store, texts)
        more = add_nodes(store, [NodeDraft(text) for text in HOSTILE_TEXTS])
        for node_id, text in zip(more, HOSTILE_TEXTS, strict=True):
            override_tier(store, [node_id], Tier.LONGTERM, actor=text.strip() or "x", reason=text)
        session = meet_session(store, HOSTILE_TEXTS[0], project=HOSTILE_TEXTS[1], agent=HOSTILE_TEXTS[5])
        record_accesses(store, session.id, IDS, AccessKind.PULL, settings=BY_HAND)
    app = make_app(path, keyword_settings(operator="[/x] \x1b[2J"))
    async with app.run_test(size=(120, 32)) as pilot:
        board = Board(app, pilot)
        await board.open()
        for _ in range(5):
            for _ in range(min(9, len(board.rows.items))):
                assert controls(board.painted()) == []
                await board.press("j")
            await board.press("g", "right")
        for key in ("p", "h", "a", "d"):
            assert controls(await board.asked(key)) == []
            await board.press("escape")
        await board.press("right", "right", "f")
        assert controls(board.painted()) == []


async def test_the_held_tab_says_until_when_who_and_why_and_h_releases(board: Board) -> None:
    hold(board.store, [PROVEN], actor="bob", reason="not before the review", until_ms=4_000_000_000_000)
    hold(board.store, [UNUSED], actor="ann", reason="keep it")
    with board.store.writing() as conn:
        conn.execute("UPDATE nodes SET tier = 'longterm' WHERE id = ?", (UNUSED,))
    board.app.post_message(Card.BoardOpened("held", None))
    await board.press("r")
    await board.until(lambda: "[Held 2]" in board.tabs)
    assert board.status == "2 memories are held, newest first · 1 moved by another program"
    first, text, second, reason = board.lines()[:4]
    assert "task  moved to longterm by another program  without end" in first
    assert "“keep it” · task memory that nobody used" in text
    assert "session  until 2096-10-02" in second
    assert "by bob" in second
    assert "“not before the review” · session memory" in reason
    assert "p override" in board.painted()
    shown = await board.asked("h")
    assert "Release 1 memory" in shown
    await board.confirm()
    assert [item.node_id for item in board.rows.items] == [PROVEN]
    assert "held in session" in board.pane


@pytest.mark.case("X05")
@pytest.mark.parametrize("cells", [60, 80])
async def test_a_narrow_terminal_cuts_no_count_away(tmp_path: Path, make_app: MakeApp, cells: int) -> None:
    app = make_app(waiting_store(tmp_path / "waiting.db"), SETTINGS)
    async with app.run_test(size=(cells, 16)) as pilot:
        board = Board(app, pilot)
        await board.open()
        await board.press("space")
        tabs, status = board.painted().split("\n")[1:3]
        assert all(part in tabs for part in ("Candidates 2", "Near 2", "Log 0", "Runs 0", "Held 0"))
        if cells == 60:
            assert "✓ 1 marked · 2 wait · t→s 1 · s→l 1" in status
        assert "…" not in status


async def test_the_log_shows_what_is_new_unless_the_cursor_was_moved(board: Board) -> None:
    hold(board.store, [PROVEN], actor="bob", reason="first")
    await board.press("right", "right", "r")
    for number in range(40):
        hold(board.store, [UNUSED], actor="bob", reason=f"again {number}")
    await board.press("r")
    assert "again 39" in board.lines()[1]
    assert board.rows.cursor_number == 0
    await board.press("left")
    hold(board.store, [UNUSED], actor="bob", reason="while another tab was shown")
    await board.press("r", "right")
    assert "while another tab was shown" in board.lines()[1]
    await board.press("j")
    stood = board.screen.subject_entry()
    hold(board.store, [UNUSED], actor="bob", reason="the latest")
    await board.press("r")
    assert board.screen.subject_entry() == stood


async def test_the_overviews_cards_open_a_tab_by_rule_and_the_log_without_its_filter(board: Board) -> None:
    hold(board.store, [PROVEN], actor="bob", reason="keep it")
    board.screen.open_log(UNUSED)
    await board.settle()
    assert board.rows.items == []
    await board.press("4")
    board.app.post_message(Card.BoardOpened("log", None))
    await board.until(lambda: isinstance(board.app.screen, PromotionsScreen))
    await board.settle()
    assert [item.node_id for item in board.rows.items] == [PROVEN]
    board.app.post_message(Card.BoardOpened("near", "session-longterm"))
    await board.pilot.pause()
    await board.settle()
    assert [item.key for item in board.rows.items] == [ONE_SHORT]
    assert "only session → longterm" in board.status
