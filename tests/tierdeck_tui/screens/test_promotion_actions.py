"""What is done from the Promotions screen and from Search about a tier, each by what it leaves in the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.held_key import hold_as_opener, repeat_key
from tests.tierdeck_tui.screens.promotions_host import (
    IDS,
    ONE_SHORT,
    PROVEN,
    SETTINGS,
    UNUSED,
    USED_ONCE,
    USED_TWICE,
    Board,
    waiting_store,
)
from tierdeck.model import NodeChanges, NodeDraft, Tier
from tierdeck.promote.moves.holds import hold, holds
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import runs
from tierdeck.store import add_nodes, edit_node, get_node, open_store
from tierdeck_tui.screens.choice import ChoiceDialog
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.dialog import CANCEL_ID, Dialog
from tierdeck_tui.screens.hold import HoldDialog
from tierdeck_tui.screens.override import OverrideDialog
from tierdeck_tui.screens.search import SearchScreen
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow


def held(board: Board) -> list[str]:
    return [each.node_id for each in holds(board.store, now_ms=board.store.now_ms())]


async def until_said(board: Board, text: str) -> None:
    await board.until(lambda: text in board.painted())


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.case("P13")
async def test_an_override_shows_what_the_rules_say_and_moves_with_the_reason_and_a_hold(board: Board) -> None:
    shown = await board.asked("p")
    assert "task → session  the rules: due" in shown
    dialog = board.app.screen
    assert isinstance(dialog, OverrideDialog)
    assert dialog.query_one("#confirm", DialogButton).disabled, "a reason is mandatory"
    dialog.query_one("#override-tier", OptionRow).focus()
    await board.pilot.press("right")
    await board.pilot.pause()
    assert "1 memory would move to longterm" in board.painted(), "the preview follows the target"
    await board.confirm("it is a rule of the house")
    assert board.tier(USED_TWICE) is Tier.LONGTERM
    row = board.log(node_id=USED_TWICE)[-1]
    assert (row.kind, row.actor, row.reason) == ("override", "ann", "it is a rule of the house")
    assert held(board) == [USED_TWICE]
    assert [item.key for item in board.rows.items] == [PROVEN], "it waits no more"


@pytest.mark.case("T12", "X04")
async def test_neither_the_key_that_opened_it_nor_enter_confirms(board: Board) -> None:
    for key in ("p", "a", "d", "h", "S"):
        await board.asked(key)
        dialog = board.app.screen
        assert isinstance(dialog, Dialog)
        await board.until(lambda: board.app.focused is not None)
        hold_as_opener(board.app, dialog)
        repeat_key(board.app, key)
        await board.pilot.press("enter")
        await board.until(lambda: board.app.screen is board.screen)
        await board.settle()
    assert board.log() == []
    assert {board.tier(node_id) for node_id in (USED_TWICE, USED_ONCE, UNUSED)} == {Tier.TASK}


async def test_a_reason_of_two_visible_characters_is_not_enough(board: Board) -> None:
    await board.asked("p")
    box, button = board.app.screen.query_one("#reason", Input), board.app.screen.query_one("#confirm", DialogButton)
    box.value = " a  b "
    await board.pilot.pause()
    assert button.disabled
    box.value = "abc"
    await board.pilot.pause()
    assert not button.disabled


async def test_marked_memories_are_overridden_together_with_one_preview(board: Board) -> None:
    await board.press("space", "space")
    assert "✓ 2 marked" in board.status
    shown = await board.asked("p")
    assert "Override 2 memories" in shown
    dialog = board.app.screen
    dialog.query_one("#override-tier", OptionRow).focus()
    await board.pilot.press("right", "right", "right")
    await board.confirm("the project is over")
    assert board.tier(USED_TWICE) is board.tier(PROVEN) is Tier.ARCHIVE
    assert board.screen.chosen_ids() == ()


async def test_an_override_of_several_passes_over_held_ones_unless_it_is_asked_for(board: Board) -> None:
    await board.press("space", "space")
    hold(board.store, [PROVEN], actor="bob", reason="not yet")
    await board.asked("p")
    board.app.screen.query_one("#override-tier", OptionRow).focus()
    await board.pilot.press("right", "right")
    await board.pilot.pause()
    assert "1 memory held, and passed over" in board.painted()
    board.app.screen.query_one("#override-also", OptionRow).focus()
    await board.pilot.press("right", "space")
    await board.pilot.pause()
    assert "2 memories would move to archive" in board.painted()
    await board.pilot.press("space")
    await board.confirm("the project is over")
    assert board.tier(PROVEN) is Tier.SESSION
    assert board.tier(USED_TWICE) is Tier.ARCHIVE


async def test_what_stands_in_the_target_already_is_previewed_and_is_no_refusal(board: Board) -> None:
    await board.press("space", "space")
    shown = await board.asked("p")
    assert "1 memory already in session" in shown
    await board.confirm("both belong together")
    await until_said(board, "moved to session: 1 memory")
    assert "refused" not in board.painted()
    assert board.log(node_id=PROVEN) == []


async def test_a_memory_that_moved_since_the_preview_is_refused_and_said(board: Board) -> None:
    await board.asked("p")
    override_tier(board.store, [USED_TWICE], Tier.ARCHIVE, actor="bob", reason="theirs", hold=False)
    await board.confirm("mine")
    assert board.tier(USED_TWICE) is Tier.ARCHIVE
    await until_said(board, "1 refused")
    assert len(board.log(node_id=USED_TWICE)) == 1


@pytest.mark.spec("SPEC-09.15")
async def test_undo_takes_an_override_and_its_hold_back(board: Board) -> None:
    await board.asked("p")
    await board.confirm("a mistake")
    assert held(board) == [USED_TWICE]
    await until_said(board, "u takes it back")
    shown = await board.asked("u")
    assert "override task → session by ann: a mistake" in shown
    await board.confirm()
    assert board.tier(USED_TWICE) is Tier.TASK
    assert held(board) == []
    assert board.log(node_id=USED_TWICE)[0].kind == "undo"


async def test_u_on_a_row_of_the_log_takes_that_row_back_or_says_why_not(board: Board) -> None:
    override_tier(board.store, [UNUSED], Tier.SESSION, actor="bob", reason="first", hold=False)
    override_tier(board.store, [UNUSED], Tier.LONGTERM, actor="bob", reason="second", hold=False)
    await board.press("right", "right", "r", "j")
    assert "first" in await board.asked("u")
    await board.confirm()
    await until_said(board, "error")
    assert board.tier(UNUSED) is Tier.LONGTERM, "a newer row stands"
    await board.press("g")
    assert "second" in await board.asked("u")
    await board.confirm()
    assert board.tier(UNUSED) is Tier.SESSION


async def test_undo_covers_edits_and_moves_the_newest_of_both(board: Board) -> None:
    override_tier(board.store, [UNUSED], Tier.SESSION, actor="bob", reason="a move", hold=False)
    edit_node(board.store, UNUSED, NodeChanges(subtype="edited"), actor="bob")
    await board.press("1")
    search = board.app.screen
    assert isinstance(search, SearchScreen)
    assert search.subject_id() == UNUSED
    for expected in ("edit by bob", "override task → session by bob: a move"):
        await board.pilot.press("u")
        await board.until(lambda: isinstance(board.app.screen, ConfirmDialog))
        await board.pilot.pause()
        assert expected in board.painted()
        board.app.screen.query_one("#confirm", DialogButton).press()
        await board.until(lambda: board.app.screen is search)
        await board.until(lambda: not any(w.group == "change" and not w.is_finished for w in board.app.workers))
    assert get_node(board.store, UNUSED).subtype is None
    assert board.tier(UNUSED) is Tier.TASK


async def test_approving_moves_as_the_rules_say_in_the_operators_name(board: Board) -> None:
    await board.press("space", "space")
    shown = await board.asked("a")
    assert "Approve 2 memories" in shown
    assert "session → longterm: due" in shown
    await board.confirm()
    assert board.tier(USED_TWICE) is Tier.SESSION
    assert board.tier(PROVEN) is Tier.LONGTERM
    row = board.log(node_id=PROVEN)[0]
    assert (row.kind, row.actor, row.rule) == ("approve", "ann", "session-longterm")
    assert [criterion.passed for criterion in row.criteria] == [True] * 4


async def test_a_dismissed_candidate_waits_no_more_and_undo_brings_it_back(board: Board) -> None:
    await board.asked("d")
    await board.confirm("not worth it")
    assert [item.key for item in board.rows.items] == [PROVEN]
    assert board.tier(USED_TWICE) is Tier.TASK
    await board.asked("u")
    await board.confirm()
    assert [item.key for item in board.rows.items] == [USED_TWICE, PROVEN]


@pytest.mark.case("P14")
async def test_a_hold_takes_a_reason_and_an_end_and_h_releases_it(board: Board) -> None:
    await board.press("right")
    await board.asked("h")
    dialog = board.app.screen
    assert isinstance(dialog, HoldDialog)
    dialog.query_one("#hold-until", Input).value = "yesterday"
    dialog.query_one("#reason", Input).value = "wait for the review"
    await board.pilot.pause()
    assert dialog.query_one("#confirm", DialogButton).disabled
    assert "until takes a span or a day after today" in board.painted()
    dialog.query_one("#hold-until", Input).value = "14d"
    await board.confirm("wait for the review")
    [found] = holds(board.store, now_ms=board.store.now_ms())
    assert (found.node_id, found.actor, found.reason) == (USED_ONCE, "ann", "wait for the review")
    assert found.until_ms is not None
    assert round((found.until_ms - found.set_at_ms) / 86_400_000) == 14
    await board.press("1")
    search = board.app.screen
    assert isinstance(search, SearchScreen)
    await board.press("G", "k")
    assert search.subject_id() == USED_ONCE
    await board.pilot.press("h")
    await board.until(lambda: board.app.screen is not search)
    await board.pilot.pause()
    assert "wait for the review" in board.painted()
    board.app.screen.query_one("#confirm", DialogButton).press()
    await board.until(lambda: held(board) == [])
    assert [row.kind for row in board.log(node_id=USED_ONCE)] == ["release", "hold"]


async def test_a_sweep_shows_its_plan_and_why_it_is_to_be_confirmed_and_then_moves(board: Board) -> None:
    shown = await board.asked("S")
    assert "Sweep: 2 memories would move" in shown
    assert "To be confirmed" in shown
    assert board.log() == [], "looking at it moves nothing"
    await board.pilot.press("escape")
    await board.until(lambda: board.app.screen is board.screen)
    assert board.log() == []
    await board.asked("S")
    await board.confirm()
    assert board.tier(USED_TWICE) is Tier.SESSION
    assert board.tier(PROVEN) is Tier.LONGTERM
    assert [run.kind for run in runs(board.store)] == ["sweep"]
    assert "[Candidates 0]" in board.tabs
    await board.pilot.press("S")
    await board.until(lambda: isinstance(board.app.screen, ChoiceDialog))
    await board.pilot.pause()
    assert "nothing is due" in board.painted()


async def test_a_run_is_undone_with_what_is_refused_shown_first(board: Board) -> None:
    await board.asked("S")
    await board.confirm()
    override_tier(board.store, [PROVEN], Tier.ARCHIVE, actor="bob", reason="theirs", hold=False)
    await board.press("left", "left", "G")
    assert "sweep" in board.lines()[-2]
    await board.asked("u")  # the sweep, as the last change made here
    await board.press("escape")
    shown = await board.asked("u")
    assert "1 row would be taken back" in shown
    assert "1 row would be refused" in shown
    await board.confirm()
    assert board.tier(USED_TWICE) is Tier.TASK
    assert board.tier(PROVEN) is Tier.ARCHIVE


async def test_u_after_a_sweep_offers_that_run_and_not_an_earlier_change(board: Board) -> None:
    await board.press("j")
    await board.asked("a")
    await board.confirm()
    await board.asked("S")
    await board.confirm()
    await until_said(board, "sweep: moved 1 memory (run 2); u takes it back")
    shown = await board.asked("u")
    assert "Undo run 2" in shown
    assert "It is the last change made here" in shown
    await board.confirm()
    assert board.tier(USED_TWICE) is Tier.TASK
    assert board.tier(PROVEN) is Tier.LONGTERM


async def test_u_after_an_approval_of_several_offers_that_run_and_after_a_later_change_that_one(
    board: Board,
) -> None:
    await board.press("space", "space")
    await board.asked("a")
    await board.confirm()
    await until_said(board, "approved 2 memories (run 1); u takes it back")
    assert "Undo run 1" in await board.asked("u")
    await board.confirm()
    assert board.tier(USED_TWICE) is Tier.TASK
    await board.press("right", "space", "space")
    await board.asked("p")
    await board.confirm("both of them")
    await board.press("right")
    await board.asked("h")
    await board.confirm()
    assert "release released in" in await board.asked("u")


@pytest.mark.spec("SPEC-09.14")
async def test_a_run_is_undone_marked_so_and_redone_by_its_undo(board: Board) -> None:
    await board.asked("S")
    await board.confirm()
    await board.asked("u")
    await board.confirm()
    await board.press("left", "left")
    assert "taken back" in "\n".join(board.lines()[2:4])
    assert "taken back" not in "\n".join(board.lines()[:2])
    assert "Redo: take back run 2" in await board.asked("u")
    assert "2 rows would be done again" in board.painted()
    await board.confirm()
    await until_said(board, "did again 2 memories (run 3)")
    assert (board.tier(USED_TWICE), board.tier(PROVEN)) == (Tier.SESSION, Tier.LONGTERM)
    await board.press("g", "j")
    shown = await board.asked("u")
    assert "run 2 was taken back already, by run 3" in shown
    assert [button.id for button in board.app.screen.query(DialogButton)] == [CANCEL_ID]


@pytest.mark.case("P11")
async def test_v_says_that_the_log_is_whole_and_names_the_first_row_that_does_not_fit(board: Board) -> None:
    hold(board.store, [USED_ONCE], actor="ann", reason="first")
    hold(board.store, [ONE_SHORT], actor="ann", reason="second")
    await board.press("v")
    await until_said(board, "the log is whole: 2 rows")
    with board.store.writing() as conn:
        conn.execute("DROP TRIGGER td_promotion_log_update")
        conn.execute("UPDATE td_promotion_log SET actor = 'somebody' WHERE id = 1")
    await board.press("v")
    await until_said(board, "the log is not whole")
    assert "row 1" in board.painted()


async def test_esc_stops_what_is_at_work(tmp_path: Path, make_app: MakeApp) -> None:
    path = waiting_store(tmp_path / "waiting.db")
    with open_store(path) as store:
        many = add_nodes(store, [NodeDraft(f"number {number}") for number in range(1_500)])
        override_tier(store, many, Tier.LONGTERM, actor="bob", reason="a large run", hold=False)
    app = make_app(path, SETTINGS)
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        board = Board(app, pilot)
        await board.open()
        await board.press("left", "left")
        await board.asked("u")
        app.screen.query_one("#confirm", DialogButton).press()
        await board.until(lambda: "esc stops" in board.status and bool(board.log(kind="undo")))
        await pilot.press("escape")
        await board.until(lambda: not any(w.group == "change" and not w.is_finished for w in app.workers))
        back = sum(board.tier(node_id) is Tier.TASK for node_id in many)
        assert 0 < back < 1_500, "some transactions stand, the rest was not begun"


async def test_what_has_nothing_to_act_on_in_a_tab_is_neither_offered_nor_done(board: Board) -> None:
    assert "a approve" in board.painted()
    await board.press("right")
    assert "a approve" not in board.painted()
    await board.press("a", "d")
    assert board.app.screen is board.screen
    await board.press("right", "right")
    assert "p override" not in board.painted()
    await board.press("p", "h")
    assert board.app.screen is board.screen


async def test_override_from_the_search_screen_moves_the_memory_looked_at(board: Board) -> None:
    await board.press("1")
    search = board.app.screen
    assert isinstance(search, SearchScreen)
    await board.pilot.press("p")
    await board.until(lambda: isinstance(board.app.screen, OverrideDialog))
    board.app.screen.query_one("#reason", Input).value = "seen here first"
    await board.pilot.pause()
    board.app.screen.query_one("#confirm", DialogButton).press()
    await board.until(lambda: board.tier(IDS[-1]) is Tier.SESSION)
    assert board.log(node_id=IDS[-1])[0].reason == "seen here first"
