"""The demo's live agent as a program of its own, two seconds a turn:

    python -m tierdeck.demo.live_agent DIR/demo.db

It begins session `s-15` in the demo's checkpoints, or goes on in it: killed by any means, it is started again by
the same command. `--session` has it go on in another one, such as a fork.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path

from tierdeck.checkpoint.journal import CHOICES, Decision
from tierdeck.checkpoint.running import CallRules, Question
from tierdeck.config import CheckpointSettings, PromotionSettings
from tierdeck.demo.build import checkpoints_beside
from tierdeck.demo.mail_agent import MailAgent, say
from tierdeck.errors import TierdeckError
from tierdeck.session import open_session
from tierdeck.store import open_store

LIVE = "s-15"
PACE_S = 2.0
# By default ten are kept: of turns this short they would be gone while their plan is read.
_KEEP = CheckpointSettings(every_turns=5, keep_last=20)
_INTERRUPTED = 130


def ask_at_the_terminal(question: Question) -> Decision | None:
    """What the person in front of it says about a call; None when nobody is there."""
    request = question.about.request
    say(f"{question.about.kind} {'' if request is None else request.value()}: {question.why}")
    while True:
        say(f"{', '.join(CHOICES[:-1])} or {CHOICES[-1]}?")
        line = sys.stdin.readline()
        if not line:
            return None
        said = line.strip().lower()
        for choice in CHOICES:
            if said and choice.startswith(said):
                return Decision(choice, by="the terminal")


def never_twice(question: Question) -> Decision:
    """Where nobody can be asked: what was done counts as done, and what may have been done is left out."""
    return Decision("done" if question.about.state == "done" else "skip", by="the demo's agent")


def run_agent(options: argparse.Namespace) -> None:
    """Open store and session and work; raises as `MailAgent.work`."""
    stop = threading.Event()
    if options.ends_with_stdin:
        threading.Thread(target=_await_end_of_stdin, args=(stop,), daemon=True).start()
    store_path: Path = options.store
    say(f"session {options.session}, process {os.getpid()}")
    with (
        open_store(store_path) as store,
        open_session(
            store,
            options.session,
            project="harbor",
            agent="live-agent",
            # The demo's operator wants to see what moves before it does.
            promotion=PromotionSettings(automatic=False),
            checkpoints=checkpoints_beside(store_path),
            keep=_KEEP,
            rules=CallRules(ask=never_twice if options.ends_with_stdin else ask_at_the_terminal),
            on_problem=say,
        ) as session,
    ):
        outbox = store_path.with_name(f"{store_path.stem}-outbox.txt")
        MailAgent(session, outbox, options.pace, stop).work(options.turns)


def main() -> int:
    """Read the command line and work; gives the exit code."""
    try:
        run_agent(_options())
    except TierdeckError as e:
        say(e.message if e.hint is None else f"{e.message}\n{e.hint}")
        return e.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _await_end_of_stdin(stop: threading.Event) -> None:
    """The other end of the pipe is closed when the console ends, by whatever means."""
    # Not by `sys.stdin`: a thread that waits in it holds its lock, and an interpreter that ends meanwhile aborts.
    while os.read(0, 4_096):
        pass
    stop.set()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tierdeck.demo.live_agent", description="The live agent of `tierdeck demo --agent`, by hand."
    )
    parser.add_argument("store", type=Path, help="the demo store; its checkpoints lie beside it")
    parser.add_argument("--session", default=LIVE, metavar="ID", help="the session to go on in, or to begin")
    parser.add_argument("--pace", type=float, default=PACE_S, metavar="SECONDS", help="how long a turn takes")
    parser.add_argument("--turns", type=int, metavar="N", help="end after so many turns of the session")
    parser.add_argument(
        "--ends-with-stdin", action="store_true", help="end when standard input does, and ask nobody anything"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
