"""The trash of a session on the Checkpoints screen: listed, put back from, emptied only after a look and a yes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.checkpoints_host import Deck, empty_store, filled, save, settings_for
from tierdeck.checkpoint.folder import RetentionPolicy, SessionFolder, list_trash, plan_prune, prune
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.line_list import LineList


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    """Six checkpoints, of which the first three went to the trash."""
    folder = filled(tmp_path / "checkpoints", 6)
    plan = plan_prune(folder, RetentionPolicy(last_per_branch=3))
    assert len(prune(folder, plan).moved) == 3
    return folder


@pytest.fixture
async def deck(tmp_path: Path, folder: SessionFolder, make_app: MakeApp) -> AsyncIterator[Deck]:
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(folder.path.parent))
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        found = Deck(app, pilot)
        await found.open()
        yield found


async def press_button(deck: Deck, name: str) -> None:
    deck.app.screen.query_one(f"#{name}", DialogButton).press()
    await deck.pilot.pause()


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.case("C15")
async def test_the_trash_tells_each_one_s_size_and_when_it_goes_and_the_session_that_it_is_there(
    deck: Deck,
) -> None:
    await deck.press("g")
    assert "in the trash: 3 checkpoints" in deck.pane
    shown = await deck.asked("x")
    assert "3 checkpoints, " in shown
    assert "kept for 7 days, then removed for good" in shown
    rows = deck.lines(deck.app.screen.query_one("#trash", LineList))
    assert [row.split()[1] if row.startswith("▌") else row.split()[0] for row in rows] == ["3", "2", "1"]
    assert all("goes in 7d" in row or "goes in 6d" in row for row in rows)


async def test_marked_ones_come_back_and_the_others_stay(deck: Deck, folder: SessionFolder) -> None:
    await deck.asked("x")
    await deck.pilot.press("space", "space")
    await deck.pilot.pause()
    assert "Put 2 back" in deck.painted()
    await deck.confirm(button="put-back")
    assert [each.sequence for each in folder.listed()] == [2, 3, 4, 5, 6]
    assert [each.sequence for each in list_trash(folder)] == [1]
    assert "put 2 checkpoints back" in deck.told


async def test_enter_on_a_row_goes_to_the_button_and_does_nothing_by_itself(
    deck: Deck, folder: SessionFolder
) -> None:
    await deck.asked("x")
    await deck.pilot.press("enter")
    await deck.pilot.press("enter")
    await deck.pilot.pause()
    assert len(list_trash(folder)) == 3, "the same key, still held"
    assert deck.app.focused is deck.app.screen.query_one("#put-back")
    await deck.press("escape")
    assert len(list_trash(folder)) == 3


@pytest.mark.case("T12")
async def test_it_is_emptied_only_after_a_second_dialog_that_lists_what_goes(
    deck: Deck, folder: SessionFolder
) -> None:
    await deck.asked("x")
    await press_button(deck, "empty")
    await deck.until(lambda: "Remove for good" in deck.painted())
    await deck.press("escape")
    assert len(list_trash(folder)) == 3
    await deck.asked("x")
    await press_button(deck, "empty")
    await deck.until(lambda: "Remove for good" in deck.painted())
    await deck.confirm()
    assert list_trash(folder) == []
    assert "removed 3 checkpoints" in deck.told
    assert len(folder.listed()) == 3


async def test_what_came_into_the_trash_since_it_was_shown_is_not_removed(
    deck: Deck, folder: SessionFolder
) -> None:
    await deck.asked("x")
    await press_button(deck, "empty")
    await deck.until(lambda: "Remove for good" in deck.painted())
    save(folder, 7)
    prune(folder, plan_prune(folder, RetentionPolicy(last_per_branch=1)))
    before = len(list_trash(folder))
    assert before > 3
    await deck.confirm()
    await deck.until(lambda: f"{before} checkpoints by now, 3 were shown" in deck.told)
    assert len(list_trash(folder)) == before


async def test_an_empty_trash_says_so_and_offers_nothing(deck: Deck, folder: SessionFolder) -> None:
    for each in list_trash(folder):
        each.path.unlink()
    shown = await deck.asked("x")
    assert "it is empty" in shown
    assert not deck.app.screen.query("#empty")
    await deck.press("escape")
    assert deck.app.screen is deck.screen
