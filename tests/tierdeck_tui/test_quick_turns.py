from __future__ import annotations

import sys
from pathlib import Path

from tests.tierdeck_tui.conftest import MakeApp
from tierdeck.store import open_store
from tierdeck_tui.quick_turns import TURN_S


async def test_threads_ask_for_their_turn_sooner_while_the_console_runs(tmp_path: Path, make_app: MakeApp) -> None:
    path, before_s = tmp_path / "memory.db", sys.getswitchinterval()
    open_store(path, create=True).close()
    async with make_app(path).run_test() as pilot:
        await pilot.pause()
        assert sys.getswitchinterval() == TURN_S
    assert sys.getswitchinterval() == before_s
