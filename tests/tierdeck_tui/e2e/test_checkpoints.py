"""A saved session in a real terminal: looked into, verified, forked after the turn was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.conftest import MakeTmux
from tests.tierdeck_tui.e2e.tmux import console_command
from tests.tierdeck_tui.screens.checkpoints_host import empty_store, filled
from tierdeck.checkpoint.folder import list_sessions


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32), (60, 16)])
def test_a_checkpoint_is_looked_into_verified_and_forked(
    make_tmux: MakeTmux, tmp_path: Path, width: int, height: int
) -> None:
    root = tmp_path / "checkpoints"
    filled(root)
    tmux = make_tmux(width, height)
    tmux.start(console_command(empty_store(tmp_path / "s.db")), RLM_CHECKPOINT_DIR=str(root))
    tmux.wait_for("1 Search")
    tmux.send("3")
    screen = tmux.wait_for("turn 15")
    assert max(map(len, screen.splitlines())) <= width
    tmux.send("v")
    tmux.wait_for("ok ·")
    tmux.send("n", "Enter")
    tmux.wait_for("! lock")
    tmux.send("Enter")
    tmux.wait_for("x  int")
    tmux.escape()
    tmux.escape()
    tmux.send("R")
    tmux.wait_for("type the turn, 15")
    tmux.type("15")
    tmux.wait_for("turn       15 ")
    tmux.send("Enter")
    tmux.wait_for("▸ Fork")
    assert len(list_sessions(root)) == 1
    tmux.send("Tab", "BTab", "Enter")
    tmux.wait_for("applied")
    assert len(list_sessions(root)) == 2
    tmux.send("q")
    tmux.wait_for("exit=0")


@pytest.mark.spec("SPEC-09.26")
def test_the_folder_that_is_named_before_any_verb_is_the_one_that_the_console_shows(
    make_tmux: MakeTmux, tmp_path: Path
) -> None:
    root = tmp_path / "checkpoints"
    filled(root)
    tmux = make_tmux(80, 24)
    command = console_command(empty_store(tmp_path / "s.db"), "--checkpoints", str(root))
    tmux.start(command, RLM_CHECKPOINT_DIR=str(tmp_path / "others"))
    tmux.wait_for("1 Search")
    tmux.send("3")
    tmux.wait_for("turn 15")
    tmux.send("q")
    tmux.wait_for("exit=0")


def test_a_file_in_the_place_of_the_folder_is_refused_before_a_screen_is_shown(
    make_tmux: MakeTmux, tmp_path: Path
) -> None:
    store = empty_store(tmp_path / "s.db")
    tmux = make_tmux(120, 24)
    tmux.start(console_command(store, "--checkpoints", str(store)))
    tmux.wait_for("--checkpoints names the folder that holds the sessions' folders")
    tmux.wait_for("exit=2")
