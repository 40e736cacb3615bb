"""Promotion by hand in a real terminal: looked at, overridden with a reason, taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.conftest import MakeTmux
from tests.tierdeck_tui.e2e.tmux import console_command
from tests.tierdeck_tui.screens.promotions_host import USED_TWICE, waiting_store
from tierdeck.model import Tier
from tierdeck.store import get_node, open_store


def tier(path: Path) -> Tier:
    with open_store(path, read_only=True) as store:
        return get_node(store, USED_TWICE).tier


@pytest.mark.spec("SPEC-09.15")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32), (60, 16)])
def test_a_candidate_is_overridden_with_a_reason_and_the_override_taken_back(
    make_tmux: MakeTmux, tmp_path: Path, width: int, height: int
) -> None:
    path = waiting_store(tmp_path / "waiting.db")
    tmux = make_tmux(width, height)
    tmux.start(console_command(path))
    tmux.wait_for("newest first")
    tmux.send("2")
    screen = tmux.wait_for("2 pulls in one session")
    assert max(map(len, screen.splitlines())) <= width
    tmux.send("p")
    tmux.wait_for("1 memory would move to session")
    tmux.type("kept for good")
    tmux.send("Enter")
    tmux.wait_for("▸ Override")
    assert tier(path) is Tier.TASK
    tmux.send("Tab", "BTab", "Enter")
    tmux.wait_for("; u takes")
    assert tier(path) is Tier.SESSION
    tmux.send("u")
    tmux.wait_for("Undo a change of")
    tmux.send("Tab", "Enter")
    tmux.wait_for("took back")
    assert tier(path) is Tier.TASK
    tmux.send("q")
    tmux.wait_for("exit=0")
