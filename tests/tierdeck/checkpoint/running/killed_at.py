"""The test agent, killed by itself (kill -9) when one function of the library is called, or has returned.

python -m tests.tierdeck.checkpoint.running.killed_at switch_head:return '{"root": …}'
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from tests.tierdeck.checkpoint.running.agent import Plan, run

_ROOT = Path(__file__).parents[4]


def run_killed_at(place: str, plan: Plan) -> None:
    """Run the agent until it comes to `function:call` or `function:return`; it has to come there."""
    words = [sys.executable, "-m", "tests.tierdeck.checkpoint.running.killed_at", place, json.dumps(asdict(plan))]
    done = subprocess.run(words, capture_output=True, text=True, cwd=_ROOT, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, (
        f"{place}: {done.returncode} {done.stdout[-500:]} {done.stderr[-500:]}"
    )


def _kill_at(place: str) -> None:
    function, _, event = place.partition(":")

    def look(frame: FrameType, happened: str, _: object) -> None:
        is_ours = "tierdeck/checkpoint/" in frame.f_code.co_filename
        if happened == event and frame.f_code.co_name == function and is_ours:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(look)


if __name__ == "__main__":
    _kill_at(sys.argv[1])
    run(Plan(**json.loads(sys.argv[2])))
