"""A restore dialog follows what an agent in another process does meanwhile; what was confirmed is what is done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tests.tierdeck.checkpoint.running.agent import Plan
from tests.tierdeck.checkpoint.running.agent_process import Stepped, run_agent, stepped
from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.checkpoints_host import Deck, empty_store, settings_for
from tierdeck.checkpoint.folder import SessionFolder, list_sessions, open_session_folder
from tierdeck.checkpoint.running import Rewound, operations_at, rewind
from tierdeck_tui.view.line import text_of
from tierdeck_tui.widgets.call_list import CallList
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.text_view import TextView

SESSION = "run-1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "saved").mkdir()
    return tmp_path / "saved"


@pytest.fixture
def agent(root: Path) -> Iterator[Stepped]:
    """An agent in a process of its own; it has done three turns, each of them saved and with a mail sent."""
    with stepped(Plan(str(root), every=1)) as found:
        found.step(2)
        yield found


@pytest.fixture
async def deck(tmp_path: Path, agent: Stepped, root: Path, make_app: MakeApp) -> AsyncIterator[Deck]:
    assert agent.turns == 3
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        found = Deck(app, pilot)
        await found.open()
        yield found


def folder_of(root: Path) -> SessionFolder:
    return open_session_folder(root, SESSION)


def plan(deck: Deck) -> str:
    return " ".join(" ".join(text_of(one) for one in deck.app.screen.query_one("#plan", TextView).lines).split())


def moved(deck: Deck) -> str:
    return str(deck.app.screen.query_one("#moved", Static).content)


def typed(deck: Deck) -> Input:
    return deck.app.screen.query_one("#reason", Input)


def button(deck: Deck) -> DialogButton:
    return deck.app.screen.query_one("#confirm", DialogButton)


async def restoring(deck: Deck, *, rewinds: bool) -> None:
    """Open the dialog of turn 1, which is the last row."""
    await deck.press("G")
    await deck.asked("R")
    if rewinds:
        deck.app.screen.query_one("#mode", OptionRow).focus()
        await deck.pilot.press("right")
        await deck.pilot.pause()
    assert moved(deck) == ""


async def type_turn(deck: Deck) -> None:
    typed(deck).value = "1"
    await deck.pilot.pause()
    assert not button(deck).disabled


@pytest.mark.spec("SPEC-09.23", "SPEC-09.26")
async def test_what_the_agent_saves_and_calls_meanwhile_comes_into_the_plan_and_what_was_typed_stands(
    deck: Deck, agent: Stepped, root: Path
) -> None:
    await restoring(deck, rewinds=True)
    assert "2 later checkpoints stay" in plan(deck)
    assert len(deck.app.screen.query_one("#calls", CallList).keys) == 2
    await type_turn(deck)
    agent.step(2)
    await deck.until(lambda: "4 later checkpoints stay" in plan(deck))
    assert "what it does until then is left too" in plan(deck)
    assert moved(deck) == "meanwhile: 2 checkpoints were saved; 2 calls were made or planned"
    assert len(deck.app.screen.query_one("#calls", CallList).keys) == 4
    assert typed(deck).value == "1"
    await deck.confirm()
    assert "requested: back to turn 1" in deck.told
    agent.step()
    await deck.until(lambda: "back to turn 1: applied" in deck.told)
    head = folder_of(root).head()
    assert head is not None
    assert head.generation == 1


@pytest.mark.spec("SPEC-09.23")
async def test_an_agent_that_ended_meanwhile_changes_the_plan_and_the_turn_is_typed_again(
    deck: Deck, agent: Stepped, root: Path
) -> None:
    await restoring(deck, rewinds=True)
    await type_turn(deck)
    agent.kill()
    await deck.until(lambda: "no agent is running: it is done at once" in plan(deck))
    assert moved(deck) == "meanwhile: its agent has ended"
    assert typed(deck).value == ""
    assert button(deck).disabled
    await deck.confirm("1")
    assert "applied: HEAD is at turn 1" in deck.told
    assert folder_of(root).pending_request() is None


@pytest.mark.spec("SPEC-09.23")
async def test_what_was_confirmed_is_not_done_when_the_agent_ended_before_it_was_seen(
    deck: Deck, agent: Stepped, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierdeck_tui.widgets.restore_watch.LOOK_S", 3600.0)
    await restoring(deck, rewinds=True)
    await type_turn(deck)
    agent.kill()
    dialog = deck.app.screen
    button(deck).press()
    await deck.until(lambda: deck.app.screen not in (dialog, deck.screen))
    await deck.until(lambda: "no agent is running: it is done at once" in plan(deck))
    assert moved(deck) == "not done: its agent has ended: look at the plan as it is now"
    assert button(deck).label == "Rewind"
    assert button(deck).disabled
    head = folder_of(root).head()
    assert head is not None
    assert head.generation == 0
    await deck.confirm("1")
    assert "applied: HEAD is at turn 1" in deck.told


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14")
async def test_a_choice_about_a_call_that_went_on_meanwhile_is_taken_away_and_said(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    run_agent(Plan(str(root), every=1, dies="3:mail", waits=True))
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        await deck.asked("R")
        calls = deck.app.screen.query_one("#calls", CallList)
        calls.focus()
        await deck.pilot.press("right")
        await deck.pilot.pause()
        assert "‹run again" in deck.lines(calls)[0]
        typed(deck).value = "2"
        await deck.pilot.pause()
        with stepped(Plan(str(root), every=1, decisions={"think 3! 2": "skip"})):
            await deck.until(lambda: "what was chosen about it does not count" in moved(deck))
            assert typed(deck).value == ""
            assert all("‹run again" not in row for row in deck.lines(calls))


@pytest.mark.spec("SPEC-09.23")
async def test_a_head_that_somebody_else_switched_is_said_and_not_switched_again_unseen(
    tmp_path: Path, root: Path, make_app: MakeApp
) -> None:
    run_agent(Plan(str(root), every=1, dies="4:model", waits=True))
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        deck = Deck(app, pilot)
        await deck.open()
        await restoring(deck, rewinds=True)
        await type_turn(deck)
        second = folder_of(root).listed()[1]
        assert isinstance(rewind(folder_of(root), second.file, by="bob"), Rewound)
        await deck.until(lambda: "HEAD was switched: it is at checkpoint 2, turn 2" in moved(deck))
        assert button(deck).disabled
        await deck.confirm("1")
        head = folder_of(root).head()
        assert head is not None
        assert head.generation == 2


async def test_a_checkpoint_that_is_gone_meanwhile_can_not_be_confirmed(deck: Deck, root: Path) -> None:
    await restoring(deck, rewinds=False)
    await type_turn(deck)
    folder_of(root).listed()[0].path.unlink()
    await deck.until(lambda: button(deck).disabled)
    assert "no such file" in str(deck.app.screen.query_one("#reason-lacks", Static).content)
    assert len(list_sessions(root)) == 1


@pytest.mark.spec("SPEC-09.23")
async def test_a_fork_that_was_refused_is_asked_again_with_what_was_entered(deck: Deck, root: Path) -> None:
    await restoring(deck, rewinds=False)
    deck.app.screen.query_one("#as", Input).value = SESSION
    await type_turn(deck)
    dialog = deck.app.screen
    button(deck).press()
    await deck.until(lambda: deck.app.screen not in (dialog, deck.screen))
    await deck.until(lambda: "is there already" in moved(deck))
    named = deck.app.screen.query_one("#as", Input)
    assert named.value == SESSION
    named.value = "another"
    await deck.confirm("1")
    assert "session another begins at turn 1" in deck.told
    fork = open_session_folder(root, "another")
    assert len(operations_at(fork.listed()[0].path, "fork")) >= 2
