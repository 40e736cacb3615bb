"""A few whole screens as text; `pytest --snapshot-update` takes them anew after they were looked at."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.screen import Screen

from tests.tierdeck_tui.conftest import MakeApp, finished
from tests.tierdeck_tui.screens.checkpoints_host import Deck, empty_store, filled, ruin
from tests.tierdeck_tui.screens.promotions_host import Board, waiting_store
from tests.tierdeck_tui.settled import until
from tests.tierdeck_tui.test_app import screen_text
from tierdeck.config import ConsoleSettings
from tierdeck_tui.screens.choice import Choice, ChoiceDialog
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.help import HelpScreen
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.shell import ShellApp
from tierdeck_tui.widgets.card import READING, Card

_MOVING = (
    (re.compile(r"\d+[smhdy] ago *"), "AGE ago "),
    (re.compile(r"[\d.]+ k?M?B \+ [\d.]+ k?M?B index *"), "SIZES "),
    (re.compile(r"[\d,]+ +bytes"), "BYTES"),
    (re.compile(r"\d+[smhdy] old *"), "AGE old "),
    (re.compile(r" +\d+[smhd]  agent-"), " AGE  agent-"),
    (re.compile(r"20\d\d-\d\d-\d\d"), "THE-DAY"),
    (re.compile(r"\d\d:\d\d:\d\d [+-]\d\d:\d\d"), "THE-TIME"),
    (re.compile(r"\b\d+y\b"), "NY"),
    (re.compile(r"[·▁▂▃▄▅▆▇█]{30} "), "SPARKLINE "),
    # The end of a scroll bar: how high it is hangs on what an age or a size of another length wraps.
    (re.compile(r"(?<= )[▁▂▃▄▅▆▇](?= *$)", re.MULTILINE), "▄"),
)
_DIALOGS: dict[str, Callable[[], Screen[bool | None] | Screen[str | None] | Screen[None]]] = {
    "confirm": lambda: ConfirmDialog(
        "Take back the last change", "memory 1234abcd: edited by ada", confirm="Take back"
    ),
    "reason": lambda: ReasonDialog("Archive 3 memories", "They leave normal queries.", confirm="Archive"),
    "choice": lambda: ChoiceDialog("Copy", "", [Choice("id", "the id"), Choice("text", "the text")], first="id"),
    "help": lambda: HelpScreen({}, is_read_only=True),
}


def _still(text: str) -> str:
    """The screen without what differs from run to run."""
    for pattern, instead in _MOVING:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.case("T24")
@pytest.mark.parametrize("name", list(_DIALOGS))
async def test_a_dialog_looks_as_it_did(snapshot: SnapshotAssertion, name: str) -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test(size=(72, 20)) as pilot:
        await app.push_screen(_DIALOGS[name]())
        await pilot.pause()
        assert _still(screen_text(app)) == snapshot


@pytest.mark.case("T24")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 16)])
async def test_the_overview_looks_as_it_did(
    make_app: MakeApp,
    small_store: Path,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    height: int,
) -> None:
    monkeypatch.setenv("HOME", str(small_store.parent))  # the path is shown below it
    app = make_app(small_store)
    async with app.run_test(size=(width, height)) as pilot:
        await finished(app, "meaning")
        await pilot.press("4")
        await until(pilot, lambda: app.status.memories == 20)
        await until(pilot, lambda: all(card.lines != READING for card in app.screen.query(Card)))
        await finished(app, "overview", "vectors")
        await pilot.pause()
        assert _still(screen_text(app)) == snapshot


@pytest.mark.case("T24")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32)])
async def test_the_promotions_screen_looks_as_it_did(
    make_app: MakeApp, tmp_path: Path, snapshot: SnapshotAssertion, width: int, height: int
) -> None:
    app = make_app(waiting_store(tmp_path / "waiting.db"))
    async with app.run_test(size=(width, height)) as pilot:
        board = Board(app, pilot)
        await finished(app, "meaning")
        await board.open()
        await board.press("space")
        await board.until(lambda: "Promotions (2)" in board.painted() and app.status.memories == 5)
        await finished(app, "promotion")
        await pilot.pause()
        assert _still(screen_text(app)) == snapshot


@pytest.mark.case("T24")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32)])
async def test_the_checkpoints_screen_looks_as_it_did(
    make_app: MakeApp,
    tmp_path: Path,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    height: int,
) -> None:
    monkeypatch.chdir(tmp_path)  # the path is shown
    monkeypatch.setenv("RLM_CHECKPOINT_DIR", "checkpoints")
    folder = filled(Path("checkpoints"))
    ruin(folder)
    folder.set_label(folder.listed()[0].file, "before the merge")
    app = make_app(empty_store(tmp_path / "s.db"))
    async with app.run_test(size=(width, height)) as pilot:
        deck = Deck(app, pilot)
        await finished(app, "meaning")
        await deck.open()
        await deck.press("j", "space", "k")
        await deck.until(lambda: app.status.memories == 0)
        assert _still(screen_text(app)) == snapshot
