"""A plain agent, written against the session alone: each turn it asks a model, sends a mail, and goes on.

Its model and its post are files in the root, one line for each time they were really used. It can be stepped by
lines on its standard input, and killed where a test wants it.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tierdeck.checkpoint.journal import Choice
from tierdeck.errors import UndecidedOperationError
from tierdeck.session import Session, open_session

TURNS = 9


@dataclass
class Plan:
    """What the agent is to do. `dies` is `turn:place`, places being model, mail (after it was sent, before that is
    written down), sent (after it is) and end. `waits`: until each checkpoint is on disk, or one may replace it.
    """

    root: str
    session: str = "run-1"
    dies: str = ""
    every: int = 2
    is_stepped: bool = False
    resumes: bool = True
    path: str | None = None
    decisions: dict[str, Choice] = field(default_factory=dict)
    takes_restores: bool = True
    waits: bool = False


@dataclass
class Report:
    """What it did."""

    answer: str
    turns: int
    note: str
    questions: list[str]
    asked: list[str]
    branch: str
    cost_of_branch: float
    cost_of_session: float
    problems: list[str]


class Agent:
    """The agent's own work; `dies` is where a crash comes."""

    def __init__(self, plan: Plan) -> None:
        self._root = Path(plan.root)
        self._dies = plan.dies

    def model(self, prompt: str, turn: int) -> str:
        self.die(f"{turn}:model")
        self._use("model.txt", prompt)
        return f"{prompt}!"

    def mail(self, text: str, turn: int) -> int:
        self._use("mails.txt", text)
        self.die(f"{turn}:mail")
        return len(text)

    def die(self, place: str) -> None:
        if place == self._dies:
            os.kill(os.getpid(), signal.SIGKILL)

    def _use(self, name: str, line: str) -> None:
        with (self._root / name).open("a") as file:
            file.write(line + "\n")


def run(plan: Plan) -> Report:
    """Run it to its end."""
    agent, asked = Agent(plan), []
    with open_session(
        None, plan.session, checkpoints=Path(plan.root), every=plan.every, takes_restores=plan.takes_restores
    ) as session:
        back = session.resume(None if plan.path is None else Path(plan.path)) if plan.resumes else None
        note = "" if back is None else back.note
        questions = [str(each.about.request.value()) for each in back.questions] if back else []
        with open(os.devnull) as closed:
            pass
        state: dict[str, object] = {"words": []} if back is None else dict(back.variables)
        while session.turns < TURNS:
            turn = session.turns + 1
            words = state["words"]
            assert isinstance(words, list)
            text = session.operation("model", f"think {turn}", has_side_effects=False).run(
                functools.partial(agent.model, f"think {turn}", turn)
            )
            asked += send(session, agent, f"{text} {len(words)}", turn, plan.decisions)
            agent.die(f"{turn}:sent")
            words.append(text)
            state |= {"words": words, "re": re, "closed": closed}
            back = session.turn(state, messages=[{"role": "user", "content": text}], cost=0.5, tokens=10)
            agent.die(f"{turn}:end")
            if back is not None:
                state, note = dict(back.variables), back.note
            if plan.waits or plan.is_stepped:
                session.flush()
            if plan.is_stepped:
                print(session.turns, flush=True)
                sys.stdin.readline()
        spent = session.spending
        assert spent.branch is not None
        assert spent.session is not None
        words = state["words"]
        assert isinstance(words, list)
        return Report(
            " ".join(words),
            session.turns,
            note,
            questions,
            asked,
            session.branch or "",
            spent.branch,
            spent.session,
            list(session.problems),
        )


def send(session: Session, agent: Agent, text: str, turn: int, decisions: dict[str, Choice]) -> list[str]:
    """Send a mail; when the session asks about it, decide as the plan says, or end."""
    mail = session.operation("mail", text)
    try:
        mail.run(lambda: agent.mail(text, turn))
    except UndecidedOperationError as e:
        choice = decisions.get(text)
        if choice is None:
            raise
        session.decide(e.op_id, choice, by="a test")
        mail.run(lambda: agent.mail(text, turn))
        return [text]
    return []


if __name__ == "__main__":
    print(json.dumps(asdict(run(Plan(**json.loads(sys.argv[1]))))), flush=True)
