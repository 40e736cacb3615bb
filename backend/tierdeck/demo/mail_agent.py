"""What the demo's live agent does: each turn it answers a mail out of the demo's memories.

It is written as any agent is, against the session alone: it searches and opens memories, journals its calls, saves
itself, goes on from where it was, and goes back when an operator has it do so. Nothing here is a model or a
network: a draft is a sentence, and what is sent is a line in a file.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, deque
from pathlib import Path
from typing import cast

from tierdeck.checkpoint.running import Resumed
from tierdeck.demo.tickets import ticket_of
from tierdeck.session import Session

_KEPT_MESSAGES, _KEPT_ANSWERS = 30, 50
_DRAFT_CHARS = 120


class MailAgent:
    """Answers mails until it is stopped.

    Args:
        session: opened with a store and with checkpoints.
        outbox: the file that gets a line for each mail that is sent, one more when one is sent twice.
        pace_s: how long a turn takes, half of it between a mail and its receipt, where a crash leaves it unknown
            whether it was sent.
        stop: ends the agent at the end of its turn, and pauses at once.
    """

    def __init__(self, session: Session, outbox: Path, pace_s: float, stop: threading.Event) -> None:
        self._session = session
        self._outbox = outbox
        self._pause_s = pace_s / 2
        self._stop = stop
        self._messages: deque[object] = deque(maxlen=_KEPT_MESSAGES)
        self._receipts: dict[int, str | None] = {}
        self._opened: Counter[str] = Counter()

    def work(self, turns: int | None = None) -> None:
        """Go on from the newest checkpoint, or begin; work until so many turns are done or it is stopped.

        Raises:
            UndecidedOperationError: nobody says what is to become of a call whose outcome is unknown.
            TierdeckError: the store or the checkpoints can't be used.
        """
        self._take(self._session.resume())
        while not self._stop.is_set() and (turns is None or self._session.turns < turns):
            self._answer(self._session.turns + 1)
            self._take(self._end_turn())
            self._stop.wait(self._pause_s)

    def _answer(self, number: int) -> None:
        ticket = ticket_of(number)
        self._messages.append({"role": "user", "content": f"{ticket.who}: {ticket.question}"})
        found = self._session.search(ticket.words, alpha=0, limit_rows=3).hits
        known = "nobody here knows"
        if found:
            known = self._session.open(found[0].row.id).content
            self._opened[found[0].row.id[:8]] += 1
        draft = self._session.operation("model", ticket.question, has_side_effects=False).run(
            lambda: f"Dear {ticket.who}, {known[:_DRAFT_CHARS]}"
        )
        self._messages.append({"role": "assistant", "content": draft})
        # Number and addressee alone tell which mail it is: with another text it is still the same deed.
        mail = f"mail {number} to {ticket.who}"
        self._receipts[number] = self._session.operation("send", mail).run(lambda: self._send(mail))
        say(f"turn {number}: {mail}, receipt {self._receipts[number]}")

    def _send(self, mail: str) -> str:
        """The side effect, which nothing takes back."""
        with self._outbox.open("a", encoding="utf-8") as outbox:
            outbox.write(f"{mail}\n")
        self._stop.wait(self._pause_s)
        return f"r-{mail.split()[1]}"

    def _end_turn(self) -> Resumed | None:
        self._receipts = dict(list(self._receipts.items())[-_KEPT_ANSWERS:])
        state = {"receipts": self._receipts, "opened": self._opened, "pid": os.getpid()}
        back = self._session.turn(state, messages=list(self._messages), cost=0.004, tokens=900)
        if back is None and self._session.turns == 1:
            self._session.checkpoint("the first mail")
        return back

    def _take(self, back: Resumed | None) -> None:
        """Go on with the state of a checkpoint, and with the note on what came back and what has to be decided."""
        if back is None:
            return
        # What `_end_turn` has saved comes back in its own types.
        self._receipts = cast("dict[int, str | None]", back.variables["receipts"])
        self._opened = cast("Counter[str]", back.variables["opened"])
        self._messages = deque(back.checkpoint.messages, maxlen=_KEPT_MESSAGES)
        self._messages.append({"role": "system", "content": back.note})
        say(back.note)


def say(text: str) -> None:
    """Write to standard output at once: somebody may read along."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
