"""How the console gives the terminal back, whatever ends it."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.conftest import MakeTmux
from tests.tierdeck_tui.e2e.tmux import WAIT_S, Tmux, console_command
from tierdeck_tui.log_file import log_path

_BROKEN = """
import tierdeck_tui.app as app
class Broken(app.TierdeckApp):
    def action_reload(self):
        memory = "a memory's text"
        raise ValueError("boom \\x1b]0;owned\\x07 [/x]")
app.TierdeckApp = Broken
from tierdeck_tui.__main__ import main
main()
"""
_HANGING = """
import time
import tierdeck_tui.app as app
class Hanging(app.TierdeckApp):
    def action_reload(self):
        while True:
            time.sleep(0.01)
app.TierdeckApp = Hanging
from tierdeck_tui.__main__ import main
main()
"""


def _script(folder: Path, text: str, store: Path) -> str:
    file = folder / "console_with_a_fault.py"
    file.write_text(text, "utf-8")
    return shlex.join([sys.executable, str(file), "--db", str(store)])


def _assert_given_back(tmux: Tmux) -> None:
    assert tmux.value("alternate_on") == "0"
    assert tmux.value("mouse_any_flag") == "0"
    assert tmux.value("cursor_flag") == "1"


def _wait_until_gone(pid: int) -> None:
    end = time.monotonic() + WAIT_S
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.case("T18")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGQUIT, 131)],
)
def test_a_signal_gives_the_terminal_back_and_its_exit_code(
    tmux: Tmux, small_store: Path, number: int, code: int
) -> None:
    tmux.start(console_command(small_store))
    tmux.wait_for("memories")
    assert tmux.value("mouse_any_flag") == "1"
    os.kill(tmux.child_pid(), number)
    tmux.wait_for(f"exit={code}")
    _assert_given_back(tmux)


@pytest.mark.case("T18")
def test_a_signal_ends_a_console_whose_event_loop_hangs(tmux: Tmux, small_store: Path, tmp_path: Path) -> None:
    tmux.start(_script(tmp_path, _HANGING, small_store))
    tmux.wait_for("memories")
    tmux.send("4", "r")
    time.sleep(0.3)
    os.kill(tmux.child_pid(), signal.SIGTERM)
    tmux.wait_for("exit=143")
    _assert_given_back(tmux)


@pytest.mark.case("T18")
def test_a_console_whose_terminal_is_closed_does_not_live_on(tmux: Tmux, small_store: Path) -> None:
    tmux.start(console_command(small_store))
    tmux.wait_for("memories")
    pid = tmux.child_pid()
    tmux.run("kill-pane")
    _wait_until_gone(pid)


def test_a_crash_gives_the_terminal_back_and_says_one_line_and_where_the_log_is(
    tmux: Tmux, small_store: Path, tmp_path: Path
) -> None:
    tmux.start(_script(tmp_path, _BROKEN, small_store))
    tmux.wait_for("memories")
    title = tmux.value("pane_title")
    tmux.send("4", "r")
    screen = tmux.wait_for("exit=1")
    _assert_given_back(tmux)
    assert "boom ␛]0;owned␇ [/x]" in screen
    assert log_path().name in screen.replace("\n", "")  # the line may be longer than the terminal is wide
    assert "Traceback" not in screen
    assert "a memory's text" not in screen
    assert tmux.value("pane_title") == title
    log = log_path()
    assert "ValueError" in log.read_text("utf-8")
    assert "a memory's text" not in log.read_text("utf-8").replace('memory = "a memory\'s text"', "")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_ctrl_z_goes_back_to_the_shell_and_fg_paints_the_screen_again(tmux: Tmux, small_store: Path) -> None:
    tmux.start("bash --norc -i")
    tmux.wait_for("bash")
    tmux.type(console_command(small_store))
    tmux.send("Enter")
    tmux.wait_for("memories")
    tmux.send("C-z")
    tmux.wait_for("Stopped")
    _assert_given_back(tmux)
    tmux.type("fg")
    tmux.send("Enter")
    tmux.wait_for("memories")
    tmux.send("C-q")
    tmux.wait_for("Stopped")
    tmux.type("echo code=$?")
    tmux.send("Enter")
    tmux.wait_for("code=0")


@pytest.mark.case("T16")
def test_q_leaves_and_so_do_ctrl_q_and_ctrl_c_pressed_twice(make_tmux: MakeTmux, small_store: Path) -> None:
    for keys in (["q"], ["C-q"], ["C-c", "C-c"], ["/", "C-q"], ["/", "C-c", "C-c"]):
        tmux = make_tmux()
        tmux.start(console_command(small_store))
        tmux.wait_for("memories")
        if keys[0] == "q":
            tmux.send("4")
        tmux.send(*keys)
        tmux.wait_for("exit=0")
        _assert_given_back(tmux)
