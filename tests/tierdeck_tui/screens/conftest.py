from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.promotions_host import SETTINGS, Board, waiting_store
from tests.tierdeck_tui.settled import QUICK_REST_S
from tierdeck_tui.widgets import checkpoint_pane, detail, promotion_pane


@pytest.fixture(autouse=True)
def quick_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pane begins to read 10 ms after the last key instead of 60: tests wait for that after each of theirs."""
    for pane in (checkpoint_pane, detail, promotion_pane):
        monkeypatch.setattr(pane, "REST_S", QUICK_REST_S)


@pytest.fixture
async def board(tmp_path: Path, make_app: MakeApp) -> AsyncIterator[Board]:
    """The Promotions screen on a store in which something waits."""
    app = make_app(waiting_store(tmp_path / "waiting.db"), SETTINGS)
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        found = Board(app, pilot)
        await found.open()
        yield found
