"""The console walked through in a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.conftest import MakeTmux
from tests.tierdeck_tui.e2e.tmux import Tmux, console_command


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32), (60, 16)])
def test_a_query_is_typed_its_hits_are_seen_and_q_leaves(
    make_tmux: MakeTmux, small_store: Path, width: int, height: int
) -> None:
    tmux = make_tmux(width, height)
    tmux.start(console_command(small_store))
    tmux.wait_for("newest first")
    tmux.send("/")
    tmux.type("postgres tier:longterm type:decision")
    screen = tmux.wait_for("A decision that is kept in longterm", without="A fact that")
    assert max(map(len, screen.splitlines())) <= width
    tmux.escape()
    tmux.send("4")
    tmux.wait_for("By tier")
    tmux.send("1")
    tmux.wait_for("A decision that is kept in longterm")
    tmux.send("q")
    tmux.wait_for("exit=0")


def test_the_terminals_own_size_counts_and_not_what_a_shell_exported(
    make_tmux: MakeTmux, small_store: Path
) -> None:
    tmux = make_tmux(60, 16)
    tmux.start(console_command(small_store), COLUMNS="100", LINES="40")
    assert len(tmux.wait_for("newest first").splitlines()) <= 16
    tmux.resize(49, 24)
    tmux.wait_for("terminal too small: 49x24")


@pytest.mark.case("T21")
def test_a_small_terminal_gets_one_line_and_the_screen_comes_back(tmux: Tmux, small_store: Path) -> None:
    tmux.start(console_command(small_store))
    tmux.wait_for("newest first")
    tmux.resize(49, 24)
    tmux.wait_for("terminal too small: 49x24, needs 50x12", without="newest first")
    tmux.resize(80, 11)
    tmux.wait_for("terminal too small: 80x11")
    tmux.resize(80, 24)
    tmux.wait_for("newest first", without="too small")


@pytest.mark.case("T04", "U05")
def test_a_hostile_store_walked_through_changes_nothing_of_the_terminal(tmux: Tmux, hostile_store: Path) -> None:
    names = ("alternate_on", "mouse_any_flag", "pane_title", "bracket_paste_flag", "cursor_flag", "pane_mode")
    tmux.start(console_command(hostile_store))
    tmux.wait_for("memories")
    tmux.run("set-buffer", "-b", "mine", "what the operator copied")
    before = {name: tmux.value(name) for name in names if name != "bracket_paste_flag"}
    buffers = tmux.buffers()
    for row in range(8):
        tmux.send("Enter")  # open
        tmux.wait_for("number")
        tmux.send("Tab", "G", "g", "n", "n", "n", "z", "z")
        tmux.escape()
        tmux.send("j")
        assert tmux.buffers() == buffers, f"row {row}"
    tmux.send("/")
    tmux.type("title [/x] [ 日本語 \x1b]0;typed")
    tmux.escape()
    for key in ("?", "", "C-p", "", "f", "", "4", "Tab", "Tab", "1"):
        tmux.send(key) if key else tmux.escape()
        assert {name: tmux.value(name) for name in before} == before, f"after {key}"
    assert tmux.buffers() == buffers
    tmux.send("C-q")
    tmux.wait_for("exit=0")
    assert tmux.value("alternate_on") == "0"
    assert tmux.value("mouse_any_flag") == "0"
    assert tmux.value("pane_title") == before["pane_title"]
    assert tmux.buffers() == buffers
