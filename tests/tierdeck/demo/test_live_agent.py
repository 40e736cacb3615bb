"""The demo's live agent: it works, dies and goes on, and what it sent it does not send again by itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import until
from tierdeck.checkpoint.folder import SessionFolder, list_sessions, open_session_folder
from tierdeck.checkpoint.journal import Decision
from tierdeck.checkpoint.running import Asked, Rewound, fork, questions_at, questions_of, rewind
from tierdeck.demo import build_demo
from tierdeck.demo.agent_process import agent_process
from tierdeck.demo.build import checkpoints_beside
from tierdeck.demo.live_agent import LIVE
from tierdeck.store import open_store
from tierdeck.store.session_uses import session_uses

_MODULE = [sys.executable, "-m", "tierdeck.demo.live_agent"]
# It stands in its first mail, which is out and has no receipt, for longer than any test takes.
_STUCK = ("--pace", "2000")
_QUICK = ("--pace", "0.02")
_MAX_S = 60.0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo, to be copied: it takes a second to make."""
    return build_demo(tmp_path_factory.mktemp("demo") / "demo.db").path.parent


@pytest.fixture
def store(tmp_path: Path, built: Path) -> Path:
    return shutil.copytree(built, tmp_path / "demo") / "demo.db"


def run(store: Path, *options: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Run it by hand, with somebody at the terminal who says this."""
    return subprocess.run(
        [*_MODULE, str(store), *options], input=said, capture_output=True, text=True, check=False, timeout=_MAX_S
    )


@contextmanager
def stuck(store: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """It runs by hand and stands in a mail; killed at the end as by a crash."""
    sent = len(outbox(store))
    command = [*_MODULE, str(store), *_STUCK, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            until(lambda: len(outbox(store)) > sent)
            yield process
        finally:
            process.kill()


def outbox(store: Path) -> list[str]:
    """What it has sent: a line for each time."""
    path = store.with_name("demo-outbox.txt")
    return path.read_text("utf-8").splitlines() if path.exists() else []


def folder_of(store: Path, session: str = LIVE) -> SessionFolder:
    return open_session_folder(checkpoints_beside(store), session)


def files(store: Path) -> list[str]:
    return [each.file for each in folder_of(store).listed()]


def test_it_searches_opens_sends_and_saves_itself_every_fifth_turn(store: Path) -> None:
    done = run(store, *_QUICK, "--turns", "7")
    assert done.returncode == 0, done.stdout
    assert outbox(store)[:2] == ["mail 1 to lena", "mail 2 to park"]
    assert len(outbox(store)) == 7
    found = folder_of(store).listed()
    assert [each.turn for each in found] == [1, 5, 7]
    assert [each.summary.reason for each in found if each.summary] == ["manual", "auto", "exit"]
    with open_store(store) as opened:
        [used] = session_uses(opened, agent="live-agent")
    assert (used.session.external_id, used.pulls) == (LIVE, 7)


@pytest.mark.case("K27")
def test_killed_in_a_mail_it_asks_about_that_one_and_repeats_none_that_was_sent(store: Path) -> None:
    assert run(store, *_QUICK, "--turns", "4").returncode == 0
    with stuck(store):
        pass
    assert outbox(store)[4:] == ["mail 5 to li wei"]
    [question] = questions_of(folder_of(store))
    assert question.about.state == "running"
    nobody = run(store, *_QUICK, "--turns", "6")
    assert (nobody.returncode, len(outbox(store))) == (5, 5)
    assert "send mail 5 to li wei: it was under way" in nobody.stdout
    answered = run(store, *_QUICK, "--turns", "6", said="what?\ndone\n")
    assert answered.returncode == 0, answered.stdout
    assert outbox(store)[4:] == ["mail 5 to li wei", "mail 6 to nadia"]


def test_whoever_says_run_again_has_it_sent_twice(store: Path) -> None:
    with stuck(store):
        pass
    assert run(store, *_QUICK, "--turns", "1", said="r\n").returncode == 0
    assert outbox(store) == ["mail 1 to lena"] * 2


@pytest.mark.spec("SPEC-09.24")
def test_asked_to_go_back_it_answers_at_its_turn_s_end_and_sends_no_mail_of_the_left_branch_again(
    store: Path,
) -> None:
    with agent_process(store, *_QUICK) as process:
        until(lambda: len(outbox(store)) > 8)
        folder = folder_of(store)
        asked = rewind(folder, files(store)[1], by="mira")
        assert isinstance(asked, Asked)
        until(lambda: folder.answer_to(asked.request_id) is not None)
        answer = folder.answer_to(asked.request_id)
        assert answer is not None
        assert answer.state == "applied"
        sent = len(outbox(store))
        until(lambda: len(outbox(store)) > sent + 3)
    assert process.returncode == 0
    assert len(set(outbox(store))) == len(outbox(store))
    assert outbox(store) == sorted(outbox(store), key=lambda line: int(line.split()[1]))


@pytest.mark.spec("SPEC-09.23")
def test_a_rewind_of_the_dead_one_is_done_at_once_and_it_asks_about_each_mail_it_comes_to_again(
    store: Path,
) -> None:
    assert run(store, *_QUICK, "--turns", "7").returncode == 0
    assert isinstance(rewind(folder_of(store), files(store)[1], by="mira"), Rewound)
    done = run(store, *_QUICK, "--turns", "8", said="done\nskip\n")
    assert done.returncode == 0, done.stdout
    assert "send mail 6 to nadia: it was done on branch" in done.stdout
    assert [line.split()[1] for line in outbox(store)] == ["1", "2", "3", "4", "5", "6", "7", "8"]


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K28")
def test_what_an_operator_decided_with_the_request_beats_the_running_agent_s_own_rule(store: Path) -> None:
    with agent_process(store, *_QUICK):
        until(lambda: len(outbox(store)) > 8)
        folder = folder_of(store)
        fifth = folder.listed()[1]
        found = {str(q.about.request.value()): q for q in questions_at(fifth.path, "rewind") if q.about.request}
        again = {found["mail 7 to sven"].about.op_id: Decision("run again", by="mira")}
        asked = rewind(folder, fifth.file, by="mira", decisions=again)
        assert isinstance(asked, Asked)
        until(lambda: folder.answer_to(asked.request_id) is not None)
        until(lambda: outbox(store).count("mail 7 to sven") == 2)
        sent = len(outbox(store))
        until(lambda: len(outbox(store)) > sent + 2)
    assert len(outbox(store)) - len(set(outbox(store))) == 1


def test_a_fork_goes_on_under_its_own_name_while_the_first_one_runs(store: Path) -> None:
    assert run(store, *_QUICK, "--turns", "3").returncode == 0
    with stuck(store):
        made = fork(checkpoints_beside(store), folder_of(store).listed()[-1].path, as_="other")
        live = {info.session_id for info in list_sessions(checkpoints_beside(store)) if info.is_live}
        assert live == {LIVE}
        done = run(store, *_QUICK, "--session", made.session_id, "--turns", "5", said="skip\n")
        assert done.returncode == 0, done.stdout
    assert [line.split()[1] for line in outbox(store)] == ["1", "2", "3", "4", "5"]
    assert folder_of(store, "other").listed()[-1].turn == 5


def test_the_process_ends_cleanly_with_the_block_and_says_what_it_did_in_its_log(store: Path) -> None:
    with agent_process(store, *_STUCK) as process:
        until(lambda: len(outbox(store)) == 1)
        assert folder_of(store).is_live()
    assert process.returncode == 0
    assert not folder_of(store).is_live()
    assert [each.turn for each in folder_of(store).listed()] == [1]
    log = store.with_name("demo-agent.log").read_text("utf-8")
    assert f"process {process.pid}" in log
    assert "turn 1: mail 1 to lena, receipt r-1" in log


def test_it_ends_when_the_process_that_started_it_is_killed(store: Path) -> None:
    parent = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tierdeck.demo.agent_process import agent_process\n"
        "with agent_process(Path(sys.argv[1])) as agent:\n"
        "    print(agent.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", parent, str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        until(lambda: len(outbox(store)) > 0)
        assert os.getpgid(pid) == pid
        process.kill()
    until(lambda: not folder_of(store).is_live())
    until(lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    """Whether it runs; what nobody has waited for yet does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")
