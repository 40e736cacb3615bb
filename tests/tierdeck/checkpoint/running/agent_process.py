"""The agent in a process of its own: run to its end or death, or stepped turn by turn."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.tierdeck.checkpoint.running.agent import Plan, Report

_MODULE = "tests.tierdeck.checkpoint.running.agent"
_ROOT = Path(__file__).parents[4]


def run_agent(plan: Plan) -> Report | None:
    """Run it to its end; None when it was killed, as the plan says."""
    done = subprocess.run(_command(plan), capture_output=True, text=True, cwd=_ROOT, timeout=120, check=False)
    if plan.dies:
        assert done.returncode == -9, done.stderr
        return None
    assert done.returncode == 0, done.stderr
    return Report(**json.loads(done.stdout.splitlines()[-1]))


def failure_of(plan: Plan) -> str:
    """Run an agent that must fail; what it said last."""
    done = subprocess.run(_command(plan), capture_output=True, text=True, cwd=_ROOT, timeout=120, check=False)
    assert done.returncode == 1, done.stdout
    return done.stderr.strip().splitlines()[-1]


class Stepped:
    """A live agent that waits after each turn."""

    def __init__(self, plan: Plan) -> None:
        plan.is_stepped = True
        self._process = subprocess.Popen(
            _command(plan), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT
        )
        self.turns = self._read_turns()

    def step(self, turns: int = 1) -> int:
        """Let it do so many turns; how many it has done then, by its own count."""
        for _ in range(turns):
            self._go()
            self.turns = self._read_turns()
        return self.turns

    def finish(self) -> Report:
        """Let it run to its end."""
        line = ""
        while not line.startswith("{"):
            self._go()
            line = self._line()
        self._process.wait(timeout=60)
        return Report(**json.loads(line))

    def kill(self) -> None:
        """End it as a crash does."""
        self._process.kill()
        self._process.communicate()

    def _go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _read_turns(self) -> int:
        return int(self._line())


@contextmanager
def stepped(plan: Plan) -> Iterator[Stepped]:
    """A live agent, killed at the end when it still runs."""
    agent = Stepped(plan)
    try:
        yield agent
    finally:
        agent.kill()


def _command(plan: Plan) -> list[str]:
    return [sys.executable, "-m", _MODULE, json.dumps(asdict(plan))]
