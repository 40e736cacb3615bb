"""A search that takes its time: old rows stay and are said to be old, and the loop goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tierdeck_tui.screens.search_host import Seen, words_only
from tests.tierdeck_tui.settled import until
from tierdeck.embed.embedder import Embedder
from tierdeck.model import NodeDraft
from tierdeck.store import add_nodes, open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.console import Console

PATIENCE_S = 30.0


class HeldConsole(Console):
    """A console whose searches wait until the gate is open."""

    gate: threading.Event

    def embedder(self) -> Embedder | None:
        """What every search asks for first."""
        assert self.gate.wait(PATIENCE_S)
        return super().embedder()


@pytest.fixture
def deck(tmp_path: Path) -> HeldConsole:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft("redis holds the sessions"), NodeDraft("refunds are booked by hand")])
    console = HeldConsole(open_store(path), words_only())
    console.gate = threading.Event()
    console.gate.set()
    return console


@pytest.fixture
async def seen(deck: HeldConsole) -> AsyncIterator[Seen]:
    app = TierdeckApp(deck)
    async with app.run_test(size=(120, 32)) as pilot:
        found = Seen(app, pilot)
        await found.settle()
        yield found
        deck.gate.set()
        await found.settle()
    deck.close()


async def test_old_rows_stay_and_are_said_to_be_old_until_the_answer_is_there(
    seen: Seen, deck: HeldConsole
) -> None:
    before = seen.rows()
    deck.gate.clear()
    await seen.pilot.press("slash", *"redis", "enter")
    await until(seen.pilot, lambda: seen.status.startswith("searching…"))
    assert "the list is as it was" in seen.status
    assert seen.rows() == before
    deck.gate.set()
    await seen.settle()
    assert seen.status.startswith("1 memory")
    assert seen.rows() == ["redis holds the sessions"]


async def test_keys_act_while_a_search_runs(seen: Seen, deck: HeldConsole) -> None:
    deck.gate.clear()
    await seen.pilot.press("slash", *"redis", "enter", "j")
    await until(seen.pilot, lambda: seen.results.cursor_number == 1)
    await seen.pilot.press("question_mark")
    await until(seen.pilot, lambda: bool(seen.app.screen.query("#help")))


async def test_the_answers_of_queries_that_were_typed_over_are_never_shown(seen: Seen, deck: HeldConsole) -> None:
    shown: list[str] = []
    deck.gate.clear()
    await seen.pilot.press("slash", *"redis", "enter")
    await until(
        seen.pilot, lambda: any(worker.group == "search" and worker.is_running for worker in seen.app.workers)
    )
    await seen.pilot.press("slash", *["backspace"] * 5, *"refunds", "enter")
    deck.gate.set()
    while any(worker.group == "search" and not worker.is_finished for worker in seen.app.workers):
        shown += seen.rows() if seen.status.startswith("1 memory") else []
        await asyncio.sleep(0.001)
    await seen.settle()
    assert "redis holds the sessions" not in shown
    assert seen.rows() == ["refunds are booked by hand"]
