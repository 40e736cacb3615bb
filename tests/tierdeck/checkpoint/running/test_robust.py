"""What a session meets in the world: a crash at every step of a restore, two processes, forks, clocks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.running.agent import Plan
from tests.tierdeck.checkpoint.running.agent_process import run_agent
from tests.tierdeck.checkpoint.running.killed_at import run_killed_at
from tests.tierdeck.checkpoint.running.test_crash import ANSWER, mails
from tests.tierdeck.checkpoint.running.test_decisions import all_of, at
from tests.tierdeck.checkpoint.running.test_rewind import at_turn
from tierdeck.checkpoint.folder import Request, SessionFolder, open_session_folder
from tierdeck.checkpoint.journal import Decision
from tierdeck.checkpoint.running import (
    Rewound,
    decide,
    fork,
    open_operations_of,
    open_running,
    operations_at,
    questions_at,
    rewind,
)
from tierdeck.checkpoint.running.turn_state import TurnState
from tierdeck.errors import CheckpointError, ConflictError
from tierdeck.session import open_session

MINUTE_NS = 60 * 10**9


def asked(root: Path) -> tuple[SessionFolder, str]:
    """A session that died after turn 5, with a request to go back to turn 2 and all since then taken as done."""
    run_agent(Plan(str(root), dies="5:sent", waits=True))
    folder = open_session_folder(root, "run-1")
    lease = folder.try_lease()
    assert lease is not None
    found = at(root, 2)
    assert found.folder is not None
    with lease:
        decisions = all_of(operations_at(found, "rewind"), "done")
        made = rewind(found.folder, found.listed.file, by="ann", decisions=decisions)
    return folder, str(getattr(made, "request_id", ""))


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K27", "K29")
@pytest.mark.parametrize(
    "place",
    ["claim:call", "claim:return", "begin_branch:call", "begin_branch:return", "switch_head:call",
     "write_head_pointer:return", "switch_head:return", "answer:call", "answer:return"],
)  # fmt: skip
def test_a_rewind_that_an_agent_is_killed_in_is_done_once_by_the_next_one_and_no_mail_goes_out_twice(
    tmp_path: Path, place: str
) -> None:
    folder, request_id = asked(tmp_path)
    run_killed_at(place, Plan(str(tmp_path), waits=True))
    report = run_agent(Plan(str(tmp_path), waits=True))
    assert report is not None
    assert (report.answer, report.asked, len(mails(tmp_path))) == (ANSWER, [], 9), (
        "all was decided with the request"
    )
    answer = folder.answer_to(request_id)
    head = folder.switched_head()
    assert answer is not None
    assert head is not None
    assert (answer.state, head.generation, head.last_request) == ("applied", 1, request_id)
    assert not (folder.path / "claim").exists()


@pytest.mark.spec("SPEC-09.20")
def test_of_many_processes_that_resume_a_session_at_once_one_has_it_and_the_others_say_so(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="3:sent", waits=True))
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom tierdeck.errors import ConflictError\n"
        "from tierdeck.session import open_session\n"
        "sys.stdin.readline()\n"
        "try:\n    session = open_session(None, 'run-1', checkpoints=Path(sys.argv[1]))\n"
        "    print('has it', session.resume().checkpoint.turn, flush=True)\n    sys.stdin.readline()\n"
        "except ConflictError as e:\n    print(e.message, flush=True)\n    sys.stdin.readline()\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    pipes = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    try:
        for each in pipes:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        said = sorted(each.stdout.readline().strip() for each in pipes if each.stdout is not None)
    finally:
        for each in pipes:
            each.kill()
            each.communicate()
    assert said == ["has it 2", *["open session run-1: another process runs it"] * 3]


@pytest.mark.spec("SPEC-09.23")
def test_a_forked_child_makes_no_call_writes_no_journal_and_keeps_no_lease(tmp_path: Path) -> None:
    made: list[str] = []
    session = open_session(None, "s", checkpoints=tmp_path, every=1)
    session.turn({})
    planned, begun = session.operation("mail", "x"), session.operation("mail", "y")
    begun.__enter__()
    session.flush()
    before = {each.name: each.read_bytes() for each in tmp_path.rglob("*.rlmjournal")}
    child = os.fork()
    if child == 0:
        code = 1
        try:
            planned.run(lambda: made.append("sent"))
        except ConflictError as e:
            begun.__exit__(ValueError, ValueError("in the child"), None)
            is_told = any("it is the parent process that has it" in each for each in session.problems)
            code = 0 if "forked" in e.message and not made and is_told else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert {each.name: each.read_bytes() for each in tmp_path.rglob("*.rlmjournal")} == before
    lingering = os.fork()
    if lingering == 0:
        time.sleep(30)
        os._exit(0)
    try:
        begun.__exit__(None, None, None)
        session.__exit__(SystemExit, None, None)
        with open_session(None, "s", checkpoints=tmp_path, every=1) as again:
            assert again.resume() is not None
            assert again.operation("mail", "y").run(lambda: 1 / 0) is None, "what the parent noted is given again"
    finally:
        os.kill(lingering, 9)
        os.waitpid(lingering, 0)


@pytest.mark.parametrize("minutes", [-600, 600])
def test_a_request_by_a_clock_that_is_far_off_expires_and_is_answered_so(tmp_path: Path, minutes: int) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    at_ns = time.time_ns() + minutes * MINUTE_NS
    request_id = folder.ask(Request("rewind", at_turn(folder, 2).file, "rewind", 0, "ann", at_ns))
    report = run_agent(Plan(str(tmp_path), waits=True))
    assert report is not None
    assert (report.answer, folder.switched_head()) == (ANSWER, None)
    answer = folder.answer_to(request_id)
    assert answer is not None
    assert answer.state == "expired"


def test_a_request_that_its_agent_died_with_expires_too(tmp_path: Path) -> None:
    folder, request_id = asked(tmp_path)
    run_killed_at("begin_branch:call", Plan(str(tmp_path), waits=True))
    later = open_session_folder(tmp_path, "run-1", clock_ns=lambda: time.time_ns() + 16 * MINUTE_NS)
    answer = later.answer_to(request_id)
    assert answer is not None
    assert (answer.state, answer.why) == ("expired", "the agent ended while it was doing it")
    lease = later.try_lease()
    assert lease is not None
    lease.release()
    assert (later.pending_request(), (folder.path / "claim").exists()) == (None, False)


@pytest.mark.case("K28")
def test_with_the_clock_set_back_the_calls_of_the_latest_start_count_and_not_those_of_the_latest_time(
    tmp_path: Path,
) -> None:
    """Twice begun anew and killed before a checkpoint: what goes on is the second, though its clock is behind."""
    clocks = iter([time.time_ns(), time.time_ns() - 600 * MINUTE_NS])
    for letter, now_ns in zip("ab", clocks, strict=True):
        session = open_session(None, "s", checkpoints=tmp_path, every=0, clock_ns=lambda at=now_ns: at)  # type: ignore[misc]
        session.operation("mail", letter).run(lambda: "sent")
        session.__exit__(SystemExit, None, None)
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        assert session.resume() is None
        assert session.operation("mail", "b").run(lambda: "sent twice") == "sent"


@pytest.mark.case("K28")
def test_what_an_agent_that_began_anew_has_sent_is_asked_about_in_a_fork_before_it_has_saved_anything(
    tmp_path: Path,
) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        session.turn({})
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        session.operation("mail", "from an agent that did not resume").run(lambda: "sent")
        [listed] = open_session_folder(tmp_path, "s").listed()
        assert [each.about.state for each in questions_at(listed.path, "fork")] == ["done"]


@pytest.mark.parametrize("damage", [b"", b"{", b"\x00" * 50, b'{"file": "x"}', b"[]"])
def test_with_an_unreadable_head_a_restore_goes_on_from_the_newest_that_verifies_and_says_so(
    tmp_path: Path, damage: bytes
) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    rewind(folder, at_turn(folder, 4).file, by="ann")
    (folder.path / "HEAD").write_bytes(damage)
    found = at(tmp_path, 2)
    assert found.folder is not None
    assert [each.about.turn for each in questions_at(found, "rewind")] == [3, 4, 5]
    head = folder.head()
    assert head is not None
    assert (head.generation, "is the newest checkpoint that verifies" in str(head.problem)) == (-1, True)
    decisions = all_of(operations_at(found, "rewind"), "done")
    done = rewind(found.folder, found.listed.file, by="ann", expected_generation=-1, decisions=decisions)
    assert isinstance(done, Rewound)
    report = run_agent(Plan(str(tmp_path), waits=True))
    assert report is not None
    assert (report.asked, len(mails(tmp_path))) == ([], 9)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_in_a_folder_that_can_only_be_read_a_restore_says_so_and_looking_works(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    found = at(tmp_path, 2)
    assert found.folder is not None
    for each in (tmp_path, found.folder.path):
        each.chmod(0o500)
    try:
        assert len(questions_at(found, "fork")) == 3
        assert len(open_operations_of(found.folder)) == 0
        with pytest.raises(CheckpointError, match="Permission denied"):
            rewind(found.folder, found.listed.file, by="ann")
        with pytest.raises(CheckpointError):
            fork(tmp_path, found.listed.path, as_="other")
    finally:
        for each in (tmp_path, found.folder.path):
            each.chmod(0o700)


@pytest.mark.case("K29")
@pytest.mark.parametrize("cut", [1, 7, 12, 40])
def test_a_restore_reads_past_the_torn_end_of_a_journal_and_asks_what_it_can_know(tmp_path: Path, cut: int) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    found = at(tmp_path, 2)
    assert found.folder is not None
    [journal] = found.folder.path.glob("*.rlmjournal")
    data = journal.read_bytes()
    journal.write_bytes(data[:-cut])
    states = {each.about.turn: each.about.state for each in questions_at(found, "rewind")}
    assert states == {3: "done", 4: "done", 5: "running"}, "its last record, that mail 5 is out, was torn off"
    assert journal.read_bytes() == data[:-cut]
    rewind(found.folder, found.listed.file, by="ann", decisions=all_of(operations_at(found, "rewind"), "skip"))
    report = run_agent(Plan(str(tmp_path), waits=True))
    assert report is not None
    assert len(mails(tmp_path)) == 9


def test_a_decision_counts_once_and_a_call_that_fails_again_is_asked_about_again(tmp_path: Path) -> None:
    session = open_session(None, "s", checkpoints=tmp_path, every=1)
    session.turn({})
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), session.operation("mail", "x"):
            raise KeyboardInterrupt
        session.flush()
        session.__exit__(SystemExit, None, None)
        folder = open_session_folder(tmp_path, "s")
        [operation] = open_operations_of(folder)
        assert (operation.entry.state, operation.entry.decision) == ("running", None)
        decide(folder, operation.entry.op_id, Decision("run again", by="ann"))
        session = open_session(None, "s", checkpoints=tmp_path, every=1)
        session.resume()
    session.operation("mail", "x").run(lambda: "sent")
    session.__exit__(SystemExit, None, None)
    assert open_operations_of(open_session_folder(tmp_path, "s")) == ()


class Interrupting(Mapping[str, object]):
    """Variables during whose save somebody presses ctrl+c."""

    def __getitem__(self, name: str) -> object:
        return name

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        raise KeyboardInterrupt


def test_an_agent_that_is_interrupted_in_its_last_save_keeps_no_lease(tmp_path: Path) -> None:
    first = open_running(tmp_path, "run-1", every=5)
    first.end_turn(TurnState(Interrupting()))
    with pytest.raises(KeyboardInterrupt):
        first.close(is_clean=True)
    second = open_running(tmp_path, "run-1")
    second.close(is_clean=False)
