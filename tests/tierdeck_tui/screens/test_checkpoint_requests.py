"""A running agent is asked for a checkpoint: requested until it answers, then what it answered; or taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.checkpoints_host import SESSION, Deck, empty_store, filled, settings_for
from tierdeck.checkpoint.folder import Lease, SessionFolder
from tierdeck.checkpoint.folder.requests import EXPIRY_NS


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    return filled(tmp_path / "checkpoints")


@pytest.fixture
async def deck(tmp_path: Path, folder: SessionFolder, make_app: MakeApp) -> AsyncIterator[Deck]:
    app = make_app(empty_store(tmp_path / "s.db"), settings_for(folder.path.parent))
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        found = Deck(app, pilot)
        await found.open()
        yield found


def running(folder: SessionFolder) -> Lease:
    """The lease, as an agent holds it."""
    lease = folder.try_lease()
    assert lease is not None
    return lease


@pytest.mark.spec("SPEC-09.26")
async def test_a_checkpoint_is_asked_for_with_its_label_and_called_done_when_the_agent_says_so(
    deck: Deck, folder: SessionFolder
) -> None:
    with running(folder):
        await deck.press("r")
        shown = await deck.asked("c")
        assert "asked for one at the end of its turn" in shown
        await deck.confirm("before the [x] merge")
        assert "requested: a checkpoint now; the agent has not answered" in deck.status
        request = folder.pending_request()
        assert request is not None
        assert (request.kind, request.label, request.by) == ("checkpoint", "before the [x] merge", "ann")
        await deck.press("g")
        await deck.until(lambda: "save a checkpoint “before the [x] merge”" in " ".join(deck.pane.split()))
        folder.claim(request.request_id)
        await deck.until(lambda: "the agent is at it" in deck.pane)
        assert "applied" not in deck.told
        folder.answer(request.request_id, "applied", file=folder.listed()[-1].file)
        await deck.until(lambda: f"{SESSION}, a checkpoint now: applied" in deck.told)
        await deck.until(lambda: "its newest answer" in deck.pane)
        assert "requested" not in deck.status


async def test_without_a_label_it_has_none(deck: Deck, folder: SessionFolder) -> None:
    with running(folder):
        await deck.asked("c")
        await deck.confirm()
        request = folder.pending_request()
        assert request is not None
        assert request.label is None


async def test_a_session_without_an_agent_is_not_asked(deck: Deck, folder: SessionFolder) -> None:
    await deck.press("c")
    await deck.until(lambda: f"no agent runs {SESSION}" in deck.told)
    assert folder.pending_request() is None


async def test_an_agent_that_ended_while_the_dialog_was_open_is_not_asked(
    deck: Deck, folder: SessionFolder
) -> None:
    lease = running(folder)
    await deck.asked("c")
    lease.release()
    await deck.confirm()
    await deck.until(lambda: "its agent has ended" in deck.told)
    assert folder.pending_request() is None


async def test_a_request_that_nobody_takes_up_is_called_expired(
    deck: Deck, folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(folder):
        await deck.asked("c")
        await deck.confirm()
        monkeypatch.setattr("tierdeck.checkpoint.folder.requests.EXPIRY_NS", -EXPIRY_NS)
        await deck.until(lambda: "a checkpoint now: expired" in deck.told)
        assert "requested" not in deck.status


async def test_that_an_agent_began_or_ended_is_seen_without_a_key(deck: Deck, folder: SessionFolder) -> None:
    assert "  running" not in deck.lines()[0]
    with running(folder):
        await deck.until(lambda: "  running" in deck.lines()[0])
    await deck.until(lambda: "  running" not in deck.lines()[0])
