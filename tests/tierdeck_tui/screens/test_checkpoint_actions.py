"""What an operator does on the Checkpoints screen: verify, compare, label, pin, clear away, restore, undo."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.checkpoints_host import SESSION, Deck, empty_store, filled, ruin, save, settings_for
from tierdeck.checkpoint.folder import SessionFolder, list_sessions, open_session_folder
from tierdeck.session import open_session
from tierdeck_tui.screens.checkpoint_diff import CheckpointDiffScreen
from tierdeck_tui.view.line import text_of
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.line_list import LineList
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.text_view import TextView


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
def folder(root: Path) -> SessionFolder:
    return filled(root)


@pytest.fixture
async def deck(tmp_path: Path, root: Path, folder: SessionFolder, make_app: MakeApp) -> AsyncIterator[Deck]:
    assert folder.path.parent == root
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        found = Deck(app, pilot)
        await found.open()
        yield found


async def rewinding(deck: Deck) -> None:
    """Open the restore dialog of the row under the cursor and turn it to a rewind."""
    await deck.asked("R")
    deck.app.screen.query_one("#mode", OptionRow).focus()
    await deck.pilot.press("right")
    await deck.pilot.pause()


def plan_text(deck: Deck) -> str:
    return " ".join(text_of(line) for line in deck.app.screen.query_one("#plan", TextView).lines)


@pytest.mark.spec("SPEC-09.26")
async def test_verify_says_ok_and_a_damaged_file_is_told_with_why(deck: Deck, folder: SessionFolder) -> None:
    await deck.press("v")
    await deck.until(lambda: "3  turn 15" in deck.lines()[1] and "  ok · 1 lost" in deck.lines()[1])
    assert "1 checkpoint verified: as written" in deck.told
    ruin(folder)
    await deck.press("r", "g", "v")
    await deck.until(lambda: "3 of 6 checkpoints not good" in deck.told)
    await deck.settle()
    shown = "\n".join(deck.lines())
    assert "DAMAGED it" in shown
    assert "its trailer does not fit" in deck.told
    assert [each.state for each in folder.listed()][:3] == ["ok"] * 3


async def test_verifying_stops_at_esc_and_what_was_found_is_kept(
    deck: Deck, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = threading.Event()
    going_on = threading.Event()
    pread = os.pread

    def held_up(fd: int, length: int, offset: int) -> bytes:
        if os.readlink(f"/proc/self/fd/{fd}").rpartition("/")[2].startswith("00000002"):
            second.set()
            going_on.wait(10)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", held_up)
    await deck.press("g")
    await deck.pilot.press("v")
    await deck.until(second.is_set)
    assert "esc stops" in deck.status
    await deck.pilot.press("v")
    await deck.until(lambda: "is still at work" in deck.told)
    await deck.pilot.press("escape")
    assert "stopping…" in deck.status
    going_on.set()
    await deck.until(lambda: "verifying was stopped" in deck.told)
    await deck.settle()
    assert [each.state for each in folder.listed()] == ["ok", "not verified", "not verified"]


@pytest.mark.parametrize("key", ["R", "v"])
async def test_what_reads_whole_files_stops_at_esc_and_changes_nothing(
    deck: Deck, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    reading, going_on = threading.Event(), threading.Event()
    pread = os.pread

    def held_up(fd: int, length: int, offset: int) -> bytes:
        if os.readlink(f"/proc/self/fd/{fd}").endswith(".rlmckpt"):
            reading.set()
            going_on.wait(10)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", held_up)
    await deck.pilot.press(key)
    await deck.until(reading.is_set)
    await deck.until(lambda: "esc stops" in deck.status)
    await deck.pilot.press("escape")
    assert "stopping…" in deck.status
    going_on.set()
    await deck.until(lambda: "stopped" in deck.told)
    assert deck.app.screen is deck.screen
    assert [each.state for each in folder.listed()] == ["not verified"] * 3


@pytest.mark.spec("SPEC-09.22")
async def test_a_comparison_opens_what_only_one_of_the_two_has(deck: Deck) -> None:
    await deck.press("space", "space")
    await deck.pilot.press("d")
    await deck.until(lambda: isinstance(deck.app.screen, CheckpointDiffScreen))
    await deck.pilot.press("enter")
    await deck.until(lambda: deck.app.screen.query_one("#comparison", TextView).display)
    text = "\n".join(text_of(line) for line in deck.app.screen.query_one("#comparison", TextView).lines)
    assert "only in checkpoint 3, turn 15" in text
    assert "late  dict" in text


@pytest.mark.spec("SPEC-09.22")
async def test_diff_lists_what_two_marked_ones_differ_in_and_compares_a_value_on_enter(deck: Deck) -> None:
    await deck.press("d")
    assert "diff takes two checkpoints" in deck.told
    await deck.press("space", "space")
    await deck.pilot.press("d")
    await deck.until(lambda: isinstance(deck.app.screen, CheckpointDiffScreen))
    await deck.pilot.pause()
    rows = deck.app.screen.query_one("#changes", LineList)
    shown = deck.lines(rows)
    assert "+ late" in shown[0]
    assert "~ x" in "\n".join(shown)
    assert "1 variable" not in shown[-1]
    assert "2 variables the same" in shown[-1]
    at = next(number for number, key in enumerate(rows.keys) if key == "variable x")
    await deck.pilot.press(*("j" * at), "enter")
    await deck.until(lambda: deck.app.screen.query_one("#comparison", TextView).display)
    text = "\n".join(text_of(line) for line in deck.app.screen.query_one("#comparison", TextView).lines)
    assert "-2" in text
    assert "+3" in text
    await deck.pilot.press("escape")
    assert isinstance(deck.app.screen, CheckpointDiffScreen)
    await deck.pilot.press("escape")
    await deck.until(lambda: deck.app.screen is deck.screen)


async def test_a_label_is_given_and_taken_away(deck: Deck, folder: SessionFolder) -> None:
    await deck.asked("l")
    await deck.confirm("before [x] the merge")
    assert folder.listed()[-1].label == "before [x] the merge"
    assert "“before" in deck.lines()[1] or "before [x] the merge" in deck.pane
    await deck.asked("l")
    deck.app.screen.query_one("#reason", Input).value = ""
    await deck.confirm()
    assert folder.listed()[-1].label is None


async def test_a_label_typed_without_going_to_the_box_keeps_its_first_character(
    deck: Deck, folder: SessionFolder
) -> None:
    await deck.asked("l")
    await deck.press(*"old")
    assert deck.app.screen.query_one("#reason", Input).value == "old"
    await deck.confirm()
    assert folder.listed()[-1].label == "old"
    await deck.asked("l")
    await deck.press(*"er")
    assert deck.app.screen.query_one("#reason", Input).value == "older"


@pytest.mark.parametrize("key", ["R", "l", "p", "y"])
async def test_on_a_session_what_needs_a_checkpoint_says_so(deck: Deck, key: str) -> None:
    await deck.press("left", key)
    assert deck.app.screen is deck.screen
    assert "checkpoint" in deck.told


async def test_pin_pins_the_marked_ones_and_releases_when_all_are_pinned(deck: Deck, folder: SessionFolder) -> None:
    await deck.press("j", "space", "space", "p")
    await deck.until(lambda: [each.is_pinned for each in folder.listed()] == [True, True, False])
    await deck.settle()
    await deck.press("p")
    await deck.until(lambda: not any(each.is_pinned for each in folder.listed()))


@pytest.mark.case("C15")
async def test_prune_shows_first_and_moves_to_the_trash_and_u_puts_back(
    deck: Deck, folder: SessionFolder, root: Path
) -> None:
    for number in range(4, 16):
        save(folder, number)
    await deck.press("r")
    before = [each.file for each in folder.listed()]
    shown = await deck.asked("X")
    assert "Prune: 4 checkpoints" in shown
    await deck.press("escape")
    assert len(folder.listed()) == 15, "looking changes nothing"
    await deck.asked("X")
    await deck.confirm()
    left = {each.file for each in folder.listed()}
    assert len(left) == 11
    assert "moved 4 checkpoints" in deck.told
    await deck.asked("u")
    await deck.confirm()
    assert [each.file for each in folder.listed()] == before
    assert len(list_sessions(root)) == 1


async def test_prune_says_when_there_is_nothing_to_clear_away(deck: Deck) -> None:
    assert "nothing to clear away" in await deck.asked("X")
    await deck.press("escape")
    assert deck.app.screen is deck.screen


@pytest.mark.spec("SPEC-09.23")
async def test_a_fork_needs_the_turn_typed_and_makes_a_session_and_leaves_the_old_one(
    deck: Deck, folder: SessionFolder, root: Path
) -> None:
    before = {path.name: path.read_bytes() for path in folder.path.glob("*.rlmckpt")}
    await deck.press("j")
    shown = await deck.asked("R")
    assert "Restore checkpoint 2, turn 10" in shown
    assert "nothing that exists is changed" in plan_text(deck)
    button = deck.app.screen.query_one("#confirm", DialogButton)
    for typed in ("", "1", "100", "ten"):
        deck.app.screen.query_one("#reason", Input).value = typed
        await deck.pilot.pause()
        assert button.disabled, typed
        assert "type the turn, 10, to fork there" in deck.painted()
    deck.app.screen.query_one("#as", Input).value = "the fork"
    await deck.pilot.pause()
    assert "a new session the fork begins there" in plan_text(deck)
    await deck.confirm("10")
    assert {info.session_id for info in list_sessions(root)} == {SESSION, "the fork"}
    assert {path.name: path.read_bytes() for path in folder.path.glob("*.rlmckpt")} == before
    assert "applied: session the fork begins at turn 10" in deck.told
    assert "the fork" in "\n".join(deck.lines())


@pytest.mark.spec("SPEC-09.23")
async def test_a_rewind_without_an_agent_moves_head_at_once_and_the_later_ones_stay(
    deck: Deck, folder: SessionFolder
) -> None:
    await deck.press("j", "j")
    await rewinding(deck)
    assert "← → choose" in deck.painted()
    plan = plan_text(deck)
    assert "no agent is running: it is done at once" in plan
    assert "2 later checkpoints stay as a branch that is left" in plan
    assert "~ x" in plan
    assert "- late" in plan
    await deck.confirm("5")
    head = folder.head()
    assert head is not None
    assert head.file == folder.listed()[0].file or head.generation == 1
    assert "applied: HEAD is at turn 5" in deck.told
    assert len(folder.listed()) >= 3


@pytest.mark.spec("SPEC-09.23")
async def test_a_rewind_that_a_running_agent_is_asked_for_is_requested_until_it_answers(
    deck: Deck, root: Path
) -> None:
    agent = open_session_folder(root, SESSION)
    lease = agent.try_lease()
    assert lease is not None
    with lease:
        await deck.press("r", "j")
        await rewinding(deck)
        assert "it is asked, and answers at the end of its turn" in plan_text(deck)
        await deck.confirm("10")
        assert "requested: back to turn 10; the agent has not answered" in deck.status
        assert "applied" not in deck.told
        request = agent.pending_request()
        assert request is not None
        assert request.by == "ann"
        agent.claim(request.request_id)
        agent.answer(request.request_id, "refused", "it holds [/x] a lock")
        await deck.until(lambda: "refused: it holds [/x] a lock" in deck.told)
        assert "requested" not in deck.status
        assert "applied" not in deck.told


async def test_a_request_that_the_agent_has_not_seen_is_taken_back(deck: Deck, root: Path) -> None:
    agent = open_session_folder(root, SESSION)
    lease = agent.try_lease()
    assert lease is not None
    with lease:
        await deck.press("r", "j")
        await rewinding(deck)
        await deck.confirm("10")
        await deck.press("g")
        assert "requested" in deck.pane
        await deck.asked("t")
        await deck.confirm()
        assert agent.pending_request() is None
        assert "requested" not in deck.status


async def test_the_plan_says_what_the_checkpoint_lacks(deck: Deck) -> None:
    await deck.asked("R")
    assert "the checkpoint lacks: 1 lost" in plan_text(deck)


async def test_a_rewind_is_refused_when_head_was_switched_since_the_plan_was_shown(
    deck: Deck, folder: SessionFolder
) -> None:
    await deck.press("j")
    await rewinding(deck)
    folder.switch_head(folder.listed()[0].file, "cccccccc", expected_generation=0)
    dialog = deck.app.screen
    dialog.query_one("#reason", Input).value = "10"
    await deck.pilot.pause()
    dialog.query_one("#confirm", DialogButton).press()
    await deck.until(lambda: deck.app.screen not in (dialog, deck.screen))
    await deck.until(lambda: "not done: HEAD was switched: it is at checkpoint 1, turn 5" in deck.painted())
    head = folder.head()
    assert head is not None
    assert head.branch == "cccccccc"


async def test_a_damaged_checkpoint_is_not_restored(deck: Deck, folder: SessionFolder) -> None:
    ruin(folder)
    await deck.press("r", "g", "j", "j")
    await deck.press("R")
    await deck.until(lambda: "its trailer does not fit" in deck.told)
    assert deck.app.screen is deck.screen


async def test_copy_gives_the_path_and_the_command(
    deck: Deck, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(deck.app, "copy_to_clipboard", copied.append)
    path = str(folder.listed()[-1].path)
    for number, expected in ((1, path), (2, f"{3:016x}"), (3, f"tierdeck checkpoint show {path}")):
        await deck.asked("y")
        deck.app.screen.query(DialogButton)[number - 1].press()
        await deck.until(lambda: deck.app.screen is deck.screen)
        await deck.until(lambda number=number: len(copied) == number)  # type: ignore[misc]
        assert copied[-1] == expected


@pytest.mark.spec("SPEC-09.23", "SPEC-09.24")
async def test_a_running_agent_goes_back_at_its_turns_end_and_only_then_it_is_called_applied(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "agents"
    with open_session(None, "busy", checkpoints=root, every=1) as session:
        for number in range(1, 4):
            session.turn({"x": number})
        session.checkpoint("third")
        app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
        async with app.run_test(size=(120, 32), notifications=True) as pilot:
            deck = Deck(app, pilot)
            await deck.open()
            assert "  running" in deck.lines()[0]
            await deck.press("G")
            await rewinding(deck)
            await deck.confirm("1")
            assert "requested: back to turn 1" in deck.status
            assert "applied" not in deck.told
            back = session.turn({"x": 4})
            assert back is not None
            assert back.checkpoint.repl_state == {"x": 1}
            await deck.until(lambda: "busy, back to turn 1: applied" in deck.told)
            await deck.settle()
            assert "requested" not in deck.status
            assert deck.lines()[-1].endswith("ok HEAD")
            session.turn({"x": 5})
            await deck.until(lambda: "  left" in "\n".join(deck.lines()))
