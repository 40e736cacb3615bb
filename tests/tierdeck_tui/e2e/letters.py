"""The agent of the README, word for word, as a process that is stepped: a line ends a letter's second."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from tests.waiting import until

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
SESSION, TURNS = "run-41", 9
_MAX_S = 60.0


def agent_text() -> str:
    """The program as it stands in the README."""
    [text] = re.findall(r"<!-- tests run it, kill it .*?-->\n```python\n(.+?)```", README, re.DOTALL)
    return str(text)


def stepped_text() -> str:
    """The same, but a letter's second lasts until a line comes in."""
    text = agent_text()
    assert text.count("time.sleep(1)") == 1
    return text.replace("time.sleep(1)", "sys.stdin.readline()")


def sent(folder: Path) -> list[int]:
    """The letters that went out, by number, in order; twice when one did twice."""
    path = folder / "sent.txt"
    return [int(line.split()[1]) for line in path.read_text().splitlines()] if path.exists() else []


class Letters:
    """The agent at work in a folder; killed at the end when it still runs."""

    def __init__(self, folder: Path, session: str = SESSION) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", stepped_text(), session],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Letters:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def go_to(self, letter: int) -> None:
        """Let it work, from the start, until this letter is out and what was due is saved."""
        until(lambda: bool(sent(self._folder)))
        while sent(self._folder)[-1] < letter:
            before = sent(self._folder)
            self.go_on()
            until(lambda before=before: sent(self._folder) != before)  # type: ignore[misc]
        until(lambda: len(list(self._folder.glob("saved/*/*.rlmckpt"))) == (letter - 1) // 2)

    def go_on(self) -> None:
        """End the second of the letter that is out."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._process.kill()
        self._process.communicate()

    def finish(self, *answers: str) -> str:
        """Let it run to its end, with these answers to what it asks; what it says."""
        out, err = self._process.communicate("".join(f"{answer}\n" for answer in answers), timeout=_MAX_S)
        assert (self._process.returncode, err) == (0, "")
        return out
