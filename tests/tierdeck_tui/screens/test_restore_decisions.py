"""Calls of unknown outcome are decided about in the restore dialog, by keys alone, and the library gets it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.checkpoints_host import Deck, empty_store, settings_for
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.errors import StoppedError, UndecidedOperationError
from tierdeck.session import open_session
from tierdeck_tui.view.line import text_of
from tierdeck_tui.widgets.call_list import CallList
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.text_view import TextView

SESSION = "mailer"
HOSTILE = "\x1b]52;c;aGFja2Vk\x07 [/x] [@click=app.quit]q[/] 日本語 ⚙️"


class Crash(BaseException):
    """The process ends here."""


def crash() -> object:
    raise Crash


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A session that was killed while two letters went out, one of them with a text that drives terminals."""
    root = tmp_path / "saved"
    with suppress(Crash), open_session(None, SESSION, checkpoints=root, every=1) as session:
        session.turn({"x": 1})
        for letter in ({"to": "ann"}, {"to": HOSTILE}):
            with suppress(Crash):
                session.operation("send", letter).run(crash)
        raise Crash
    return root


@pytest.fixture
async def deck(tmp_path: Path, root: Path, make_app: MakeApp) -> AsyncIterator[Deck]:
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(root))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        found = Deck(app, pilot)
        await found.open()
        yield found


def calls(deck: Deck) -> CallList:
    return deck.app.screen.query_one("#calls", CallList)


def rows(deck: Deck) -> list[str]:
    return deck.lines(calls(deck))


def plan(deck: Deck) -> str:
    return " ".join(" ".join(text_of(one) for one in deck.app.screen.query_one("#plan", TextView).lines).split())


async def restoring(deck: Deck) -> None:
    """Open the dialog of the newest checkpoint, and go to the calls by keys."""
    await deck.asked("R")
    for _ in range(6):
        if calls(deck).has_focus:
            break
        await deck.pilot.press("tab")
        await deck.pilot.pause()
    assert calls(deck).has_focus


@pytest.mark.spec("SPEC-09.23", "SPEC-09.26")
@pytest.mark.case("C14")
async def test_each_open_call_has_a_row_and_is_left_to_the_agent_unless_it_is_chosen(deck: Deck) -> None:
    await restoring(deck)
    shown = rows(deck)
    assert len(shown) == 2
    assert all("‹agent asks" in row for row in shown)
    assert "send" in shown[0]
    assert "ann" in shown[0]
    assert "2 calls left to the agent" in str(deck.app.screen.query_one("#calls-told", Static).content)
    told = plan(deck)
    assert "with side effects" in told
    assert "it was given:" in told
    assert "'ann'" in told
    assert "the agent asks before it makes it" in told
    assert "← → choose" in deck.painted()


@pytest.mark.case("U05")
async def test_what_a_call_was_given_is_shown_and_drives_nothing(deck: Deck) -> None:
    await restoring(deck)
    await deck.pilot.press("down")
    await deck.pilot.pause()
    painted = deck.painted()
    assert "\\x1b]52" in painted
    assert "[@click=app.quit]" in painted
    assert not any(char in painted for char in "\x1b\x07")


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14", "K27")
async def test_a_call_marked_done_with_a_value_is_not_made_by_the_fork_and_gives_that_value(
    deck: Deck, root: Path
) -> None:
    await restoring(deck)
    await deck.pilot.press("right", "right")
    await deck.pilot.pause()
    assert "‹mark done" in rows(deck)[0]
    value = deck.app.screen.query_one("#value", Input)
    await deck.pilot.press("tab")
    await deck.pilot.pause()
    assert value.has_focus
    value.value = '{"id": 7}'
    await deck.pilot.pause()
    assert "the agent gets {'id': 7}" in plan(deck)
    deck.app.screen.query_one("#as", Input).value = "again"
    await deck.confirm("1")
    assert "session again begins at turn 1" in deck.told
    assert "2 calls: 1 marked done, 1 left to the agent" in deck.told
    with open_session(None, "again", checkpoints=root, every=1) as session:
        session.resume()
        assert session.operation("send", {"to": "ann"}).run(crash) == {"id": 7}
        with pytest.raises(UndecidedOperationError):
            session.operation("send", {"to": HOSTILE}).run(crash)


@pytest.mark.spec("SPEC-09.23")
async def test_a_rewind_takes_its_own_choices_and_the_agent_keeps_to_them(deck: Deck, root: Path) -> None:
    await restoring(deck)
    await deck.pilot.press("right")
    await deck.pilot.pause()
    assert "‹run again" in rows(deck)[0]
    deck.app.screen.query_one("#mode", OptionRow).focus()
    await deck.pilot.press("right")
    await deck.pilot.pause()
    assert all("‹agent asks" in row for row in rows(deck)), "chosen for the fork, not for this"
    calls(deck).focus()
    await deck.pilot.press("left", "down", "left", "left")
    await deck.pilot.pause()
    assert "‹abort" in rows(deck)[0]
    assert "‹skip" in rows(deck)[1]
    await deck.confirm("1")
    assert "2 calls: 1 skipped, 1 to abort" in deck.told
    with open_session(None, SESSION, checkpoints=root, every=1) as session:
        session.resume()
        with pytest.raises(StoppedError):
            session.operation("send", {"to": "ann"}).run(crash)
        assert session.operation("send", {"to": HOSTILE}).run(crash) is None
    assert open_session_folder(root, SESSION).head() is not None


async def test_choices_are_not_dropped_without_a_question(deck: Deck) -> None:
    await restoring(deck)
    await deck.pilot.press("right", "escape")
    await deck.pilot.pause()
    assert "is not kept" in deck.painted()
    deck.app.screen.query_one("#confirm", DialogButton).press()
    await deck.until(lambda: deck.app.screen is deck.screen)


@pytest.mark.case("T21")
async def test_at_60_by_16_the_calls_the_value_the_turn_and_the_buttons_are_all_in_sight(deck: Deck) -> None:
    await deck.pilot.resize_terminal(60, 16)
    await restoring(deck)
    await deck.pilot.press("right", "right")
    await deck.pilot.pause()
    painted = deck.painted()
    for said in ("‹mark done", "‹agent asks", "value", "turn", "Cancel", "Fork", "mark done: it is not"):
        assert said in painted, said + painted
