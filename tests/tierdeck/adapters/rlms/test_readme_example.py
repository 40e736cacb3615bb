"""The README's program for `rlms` does what stands there: started again, it goes on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tests.tierdeck.adapters.rlms.adapter  # noqa: F401  # skips where rlms is missing
from tests.tierdeck.adapters.rlms.chat_server import ChatServer
from tests.tierdeck.adapters.rlms.sums import CONTEXT
from tests.tierdeck.adapters.rlms.test_killed_run import ANSWER, REPO
from tests.tierdeck.adapters.rlms.test_saved_state import fails_at

README = (REPO / "README.md").read_text("utf-8")


@pytest.mark.spec("SPEC-09.23")
def test_the_readme_s_program_started_again_after_an_outage_goes_on_and_pays_no_turn_twice(
    server: ChatServer, tmp_path: Path
) -> None:
    [text] = re.findall(r"<!-- run by a test where rlms .*?-->\n```python\n(.+?)```", README, re.DOTALL)
    (tmp_path / "ledger.txt").write_text(CONTEXT)
    program = text.replace("http://127.0.0.1:8000/v1", server.base_url)
    assert program != text

    server.before_answer = fails_at(4)
    first = start(program, tmp_path)
    assert (first.returncode, first.stdout) == (1, "")
    assert "APIConnectionError" in first.stderr
    server.before_answer = lambda chat: None
    second = start(program, tmp_path)
    assert (second.stdout, second.returncode) == (f"{ANSWER}\n", 0)
    assert [server.paid[f"turn {turn}"] for turn in (1, 2, 3, 5)] == [1, 1, 1, 1]


def start(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
