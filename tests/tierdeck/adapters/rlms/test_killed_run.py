"""A real run of `rlms` in a process of its own, killed by SIGKILL, taken up by another process."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tests.tierdeck.adapters.rlms.adapter  # noqa: F401  # skips where rlms is missing
from tests.tierdeck.adapters.rlms.chat_server import Chat, ChatServer
from tests.tierdeck.adapters.rlms.sums import TURNS
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.running import Asked, rewind

REPO = Path(__file__).parents[4]
ANSWER = "99282 7 419 42 99282"
CALLS = 1 + 7 * 3 + 1


@contextmanager
def agent(server: ChatServer, folder: Path, session_id: str, every: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.tierdeck.adapters.rlms.agent", server.base_url, str(folder), session_id]
    with subprocess.Popen([*command, str(every)], cwd=REPO, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def run(server: ChatServer, folder: Path, session_id: str, every: int) -> list[str]:
    """Let an agent go on to its end; gives what it printed."""
    with agent(server, folder, session_id, every) as process:
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return printed.splitlines()


def run_until(server: ChatServer, folder: Path, session_id: str, every: int, call: str) -> None:
    """Let an agent go on, and kill it when its call has come to the server and has no answer yet."""
    came, is_dead = threading.Event(), threading.Event()

    def hold(chat: Chat) -> None:
        if chat.name.startswith(call):
            came.set()
            is_dead.wait(30)
            raise ConnectionAbortedError

    server.before_answer = hold
    with agent(server, folder, session_id, every) as process:
        assert came.wait(60)
        process.kill()
        assert process.wait(30) == -9
    is_dead.set()
    server.before_answer = lambda chat: None


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K27")
@pytest.mark.parametrize(
    ("every", "call", "begins_after"),
    [
        pytest.param(1, "turn 5", 4, id="as-turn-5-begins"),
        pytest.param(1, "high 5", 4, id="in-turn-5-between-two-calls-of-its-cell"),
        pytest.param(5, "high 8", 5, id="three-turns-after-its-last-checkpoint"),
        pytest.param(5, "high 3", 0, id="before-its-first-checkpoint"),
    ],
)
def test_a_killed_run_ends_with_the_same_answer_and_pays_no_call_again_that_was_done(
    server: ChatServer, tmp_path: Path, every: int, call: str, begins_after: int
) -> None:
    run_until(server, tmp_path, "s", every, call)
    printed = run(server, tmp_path, "s", every)
    assert printed[:2] == [f"begins after turn {begins_after}", f"answer: {ANSWER}"]
    assert len(server.paid) == CALLS
    assert [name for name, times in server.paid.items() if times > 1] == [
        name for name in server.paid if name.startswith(call)
    ], "only the one whose answer never came"
    assert sum(server.paid.values()) == CALLS + 1
    assert printed[2].startswith(f"calls: {CALLS} ")
    assert printed[3] == "cost: 0.23", "each call counts once in the account too"


@pytest.mark.spec("SPEC-09.23")
def test_a_run_that_nobody_kills_gives_the_answer_that_the_others_are_compared_with(
    server: ChatServer, tmp_path: Path
) -> None:
    printed = run(server, tmp_path, "s", 1)
    assert printed[:2] == ["begins after turn 0", f"answer: {ANSWER}"]
    assert set(server.paid.values()) == {1}
    assert [listed.turn for listed in open_session_folder(tmp_path, "s").listed()] == list(range(1, TURNS + 1))
    again = run(server, tmp_path, "s", 1)
    assert again[:2] == [f"begins after turn {TURNS}", f"answer: {ANSWER}"], "a run that is over is not made again"
    assert sum(server.paid.values()) == CALLS


@pytest.mark.spec("SPEC-09.24")
@pytest.mark.case("K30")
def test_an_operator_has_a_live_run_go_back_and_it_ends_with_the_same_answer(
    server: ChatServer, tmp_path: Path
) -> None:
    asked: list[str] = []

    def ask(chat: Chat) -> None:
        if chat.name == "turn 6" and not asked:
            folder = open_session_folder(tmp_path, "s")
            third = next(each for each in folder.listed() if each.turn == 3)
            request = rewind(folder, third.file, by="ann")
            assert isinstance(request, Asked)
            asked.append(request.request_id)

    server.before_answer = ask
    printed = run(server, tmp_path, "s", 1)
    assert printed[1] == f"answer: {ANSWER}"
    answer = open_session_folder(tmp_path, "s").answer_to(asked[0])
    assert answer is not None
    assert (answer.state, answer.why) == ("applied", None)
    turns = Counter({name: times for name, times in server.paid.items() if name.startswith("turn")})
    assert [turns[f"turn {number}"] for number in range(1, TURNS + 1)] == [1, 1, 1, 2, 2, 2, 1, 1, 1]
    told = next(chat for chat in server.chats[-1:]).text
    assert told.count("This session goes on from the checkpoint after turn 3") == 1
    branches = {each.summary.branch for each in open_session_folder(tmp_path, "s").listed() if each.summary}
    assert len(branches) == 2
    assert printed[3] == "cost: 0.32", "what was spent stays spent"
