"""`tierdeck demo --agent` in a real terminal: the agent is seen at work, goes back when asked, and dies with it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tierdeck_tui.e2e.conftest import MakeTmux
from tests.tierdeck_tui.e2e.test_live_agent import restore
from tests.tierdeck_tui.e2e.tmux import Tmux
from tests.waiting import until
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck.demo.live_agent import LIVE


def demo(tmux: Tmux, kept: Path) -> None:
    """Start the demo with its agent in a folder."""
    tmux.start(shlex.join([sys.executable, "-m", "tierdeck_tui", "demo", "--agent", "--keep", str(kept)]))
    tmux.wait_for("1 Search")


def agents_log(kept: Path) -> str:
    path = kept / "demo-agent.log"
    return path.read_text("utf-8") if path.exists() else ""


def pid_of(kept: Path) -> int:
    """The agent's process, as it says itself."""
    until(lambda: "process " in agents_log(kept))
    return int(agents_log(kept).partition("process ")[2].split()[0])


def is_running(pid: int) -> bool:
    """Whether it runs; what nobody has waited for yet does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


def session(kept: Path) -> SessionFolder:
    return open_session_folder(kept / "demo-checkpoints", LIVE)


@pytest.mark.spec("SPEC-09.23", "SPEC-09.24", "SPEC-09.26")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32)])
def test_the_agent_is_live_goes_back_when_asked_and_at_once_when_it_was_killed(
    make_tmux: MakeTmux, tmp_path: Path, width: int, height: int
) -> None:
    tmux = make_tmux(width, height)
    demo(tmux, tmp_path / "kept")
    until(lambda: "turn 1:" in agents_log(tmp_path / "kept"))
    tmux.send("3")
    screen = tmux.wait_for("the first mail")
    assert "1 running" in screen
    tmux.send("c")
    tmux.wait_for("Ask for it")
    tmux.send("Tab")
    tmux.wait_for("▸ Ask for it")
    tmux.send("Enter")
    tmux.wait_for("checkpoint now: applied")
    restore(tmux, 1, rewinds=True)
    until(lambda: session(tmp_path / "kept").switched_head() is not None)  # a toast says of the other: applied
    assert session(tmp_path / "kept").is_live()
    os.kill(pid_of(tmp_path / "kept"), signal.SIGKILL)
    until(lambda: not session(tmp_path / "kept").is_live())
    restore(tmux, 1, rewinds=True)
    tmux.wait_for("applied: HEAD is at turn 1")
    tmux.send("q")
    tmux.wait_for("exit=0")
    sent = (tmp_path / "kept" / "demo-outbox.txt").read_text("utf-8").splitlines()
    assert len(sent) == len(set(sent))


def test_an_agent_that_failed_is_told_of_when_the_console_is_left(tmux: Tmux, tmp_path: Path) -> None:
    (tmp_path / "kept" / "demo-outbox.txt").mkdir(parents=True)  # nothing can be appended to a folder
    demo(tmux, tmp_path / "kept")
    until(lambda: "IsADirectoryError" in agents_log(tmp_path / "kept"))
    tmux.send("C-q")
    assert "the agent had failed: IsADirectoryError" in tmux.wait_for("exit=0")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_console_ends_the_agent(tmux: Tmux, tmp_path: Path, number: int) -> None:
    demo(tmux, tmp_path / "kept")
    pid = pid_of(tmp_path / "kept")
    assert is_running(pid)
    os.kill(tmux.child_pid(), number)
    tmux.wait_for("exit=")
    until(lambda: not is_running(pid))
