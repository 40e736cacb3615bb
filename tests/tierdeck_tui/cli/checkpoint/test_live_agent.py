"""The command line and a real agent in a process of its own: asked, answering, refusing, and killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.checkpoint.conftest import Command
from tierdeck.checkpoint.folder import open_session_folder

# Each line on stdin is one turn; what it answers is its number, after it went back if it was asked to.
AGENT = """
import sys
from pathlib import Path
from tierdeck.session import open_session

root, takes = Path(sys.argv[1]), sys.argv[2] == "takes"
with open_session(None, "live", checkpoints=root, every=1, takes_restores=takes) as session:
    number = 0
    for _ in sys.stdin:
        number += 1
        session.operation("mail", {"to": number}, has_side_effects=True).run(lambda: number)
        back = session.turn({"number": number}, cost=0.5)
        session.checkpoint()
        number = number if back is None else back.variables["number"]
        print(number, flush=True)
"""


class Agent:
    """The agent's process, stepped turn by turn."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def turn(self) -> int:
        """Have it do a turn; the number it is at then."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def agent(root: Path, *, takes: bool = True) -> Iterator[Agent]:
    """An agent on the session `live`; killed at the end."""
    words = [sys.executable, "-c", AGENT, str(root), "takes" if takes else "not"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Agent(process)
        finally:
            process.kill()


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K30")
def test_a_live_agent_goes_back_at_its_next_turn_and_only_then_it_is_called_applied(
    run: Command, root: Path
) -> None:
    with agent(root) as live:
        assert [live.turn(), live.turn(), live.turn()] == [1, 2, 3]
        told = json.loads(run("restore", "live:1", "--rewind", "--dry-run", "--json").stdout)
        assert (told["plan"]["is_live"], [each["turn"] for each in told["operations"]]) == (True, [2, 3])
        asked = run("restore", "live:1", "--rewind", "--yes")
        assert asked.exit_code == 10
        request_id = asked.stdout.split()[1]
        assert run("request", "live", "--answer", request_id).exit_code == 10
        assert live.turn() == 1
        applied = run("request", "live", "--answer", request_id)
        assert (applied.exit_code, applied.stdout.split()[0]) == (0, "applied:")
    reasons = [each.summary.reason for each in open_session_folder(root, "live").listed() if each.summary]
    assert "pre-restore" in reasons


def test_an_agent_that_takes_no_restores_refuses_and_says_why(run: Command, root: Path) -> None:
    with agent(root, takes=False) as live:
        assert [live.turn(), live.turn()] == [1, 2]
        request_id = run("restore", "live:1", "--rewind", "--yes").stdout.split()[1]
        assert live.turn() == 3
        refused = run("request", "live", "--answer", request_id)
        assert (refused.exit_code, refused.stdout.split()[0]) == (5, "refused:")


@pytest.mark.spec("SPEC-09.25")
def test_a_live_agent_saves_a_checkpoint_when_it_is_asked_to(run: Command, root: Path) -> None:
    with agent(root) as live:
        live.turn()
        asked = run("request", "live", "--checkpoint", "--label", "asked for", "--json")
        request_id = json.loads(asked.stdout)["request_id"]
        live.turn()
        assert run("request", "live", "--answer", request_id).exit_code == 0
        assert "“asked for”" in run("list", "live").stdout


def test_after_a_kill_the_same_rewind_is_done_at_once(run: Command, root: Path) -> None:
    with agent(root) as live:
        assert [live.turn(), live.turn()] == [1, 2]
        live.process.kill()
        live.process.wait()
        assert run("restore", "live:1", "--rewind", "--yes").exit_code == 0
    [head] = [each for each in open_session_folder(root, "live").listed() if each.is_head]
    assert head.turn == 1


def test_a_fork_is_made_while_the_agent_goes_on(run: Command, root: Path) -> None:
    with agent(root) as live:
        live.turn()
        assert run("restore", "live:1", "--fork", "--as", "other", "--yes").exit_code == 0
        assert live.turn() == 2
    assert run("var", "other:1", "number").stdout == "1\n"
