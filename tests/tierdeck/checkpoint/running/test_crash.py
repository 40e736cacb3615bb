"""An agent killed in a real process and taken up in another one: what it ends with, and what it did twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.running.agent import Plan
from tests.tierdeck.checkpoint.running.agent_process import failure_of, run_agent
from tierdeck import open_session
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.journal import BranchLine, Decision, Journal, TurnLine, store_value
from tierdeck.checkpoint.journal.record_file import read_records
from tierdeck.checkpoint.running import decide, fork, operations_of, questions_of, rewind, start_at
from tierdeck.errors import ConflictError, DamagedCheckpointError, NotFoundError

ANSWER = " ".join(f"think {turn}!" for turn in range(1, 10))


def mails(root: Path) -> list[str]:
    """What was really sent."""
    return (root / "mails.txt").read_text().splitlines()


def paid(root: Path) -> list[str]:
    """What the model was really asked."""
    return (root / "model.txt").read_text().splitlines()


@pytest.mark.spec("SPEC-09.20", "SPEC-09.23")
@pytest.mark.case("K12", "K27")
@pytest.mark.parametrize("place", ["model", "sent", "end"])
def test_an_agent_killed_at_turn_5_of_9_ends_with_the_same_answer_and_does_nothing_twice(
    tmp_path: Path, place: str
) -> None:
    run_agent(Plan(str(tmp_path), dies=f"5:{place}", waits=True))
    report = run_agent(Plan(str(tmp_path)))
    assert report is not None
    assert (report.answer, report.turns) == (ANSWER, 9)
    assert mails(tmp_path) == [f"think {turn}! {turn - 1}" for turn in range(1, 10)]
    assert paid(tmp_path) == [f"think {turn}" for turn in range(1, 10)]
    assert (report.cost_of_branch, report.cost_of_session) == (4.5, 4.5)
    assert report.questions == []
    assert "- re: module" in report.note, "a module in the state is described and ends nothing"
    assert "Not restored:\n- closed:" in report.note
    assert report.problems == []


@pytest.mark.parametrize("way", ["gone", "emptied", "cut to its head", "cut to its first record"])
@pytest.mark.parametrize("mode", ["resume", "resume at a file", "rewind", "fork"])
def test_a_journal_without_the_turns_end_is_said_before_calls_are_made_again(
    tmp_path: Path, way: str, mode: str
) -> None:
    run_agent(Plan(str(tmp_path), dies="5:end", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    [journal] = tmp_path.rglob("*.rlmjournal")
    _spoil(journal, way)
    newest = folder.listed()[-1]
    said = f"{journal.name}: the journal is gone or cut off before the end of turn {newest.turn}: calls made since"
    assert (start_at(newest.path).unknown or "").startswith(said)
    session_id = "run-1"
    if mode == "fork":
        session_id = fork(tmp_path, newest.path).session_id
    elif mode == "rewind":
        rewind(folder, newest.file, by="tester")
    with open_session(None, session_id, checkpoints=tmp_path) as session:
        back = session.resume(newest.path if mode == "resume at a file" else None)
        assert back is not None
        is_told_before = mode in ("rewind", "fork")  # to whoever restores; the new branch has a journal of its own
        assert (said in back.note) is not is_told_before


def test_no_journal_is_missed_where_all_is_well(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:end", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    forked = fork(tmp_path, folder.listed()[0].path)
    rewind(folder, folder.listed()[0].file, by="tester")
    for session_id in ("run-1", forked.session_id):
        here = open_session_folder(tmp_path, session_id)
        assert [start_at(each.path).unknown for each in here.listed()] == [None] * len(here.listed())
        with open_session(None, session_id, checkpoints=tmp_path) as session:
            back = session.resume()
            assert back is not None
            assert back.problems == ()


def test_the_journal_of_another_session_is_refused(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:end", waits=True))
    [journal] = tmp_path.rglob("*.rlmjournal")
    other = Journal(tmp_path, journal.stem, line=BranchLine("run-2", journal.stem))
    other.begin((), (), {})
    other.end_turn(TurnLine(1, 0.0, 0.0, 0, 0, 0))
    other.close()
    journal.write_bytes(other.path.read_bytes())
    with (
        open_session(None, "run-1", checkpoints=tmp_path) as session,
        pytest.raises(DamagedCheckpointError, match="it is of session 'run-2'"),
    ):
        session.resume()


def _spoil(journal: Path, way: str) -> None:
    if way == "gone":
        journal.unlink()
        return
    found = read_records(journal)
    assert found is not None
    first = journal.read_bytes().index(found.records[0]) + len(found.records[0])
    end = {"emptied": 0, "cut to its head": 20, "cut to its first record": first}[way]
    journal.write_bytes(journal.read_bytes()[:end])


@pytest.mark.case("K27", "K28")
def test_an_agent_killed_before_its_first_checkpoint_begins_anew_and_does_nothing_twice(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="3:mail", every=5))
    assert open_session_folder(tmp_path, "run-1").listed() == []
    sent = mails(tmp_path)
    assert "UndecidedOperationError" in failure_of(Plan(str(tmp_path), every=5))
    [question] = questions_of(open_session_folder(tmp_path, "run-1"))
    assert question.about.request.value() == "think 3! 2"
    report = run_agent(Plan(str(tmp_path), every=5, decisions={"think 3! 2": "done"}))
    assert report is not None
    assert (report.answer, report.note) == (ANSWER, "")
    assert (mails(tmp_path)[:3], len(mails(tmp_path)), len(paid(tmp_path))) == (sent, 9, 9)
    assert (report.cost_of_branch, report.cost_of_session) == (4.5, 4.5)


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14", "K28")
def test_a_mail_under_way_when_the_process_died_asks_and_is_not_sent_again(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail"))
    sent = mails(tmp_path)
    said = failure_of(Plan(str(tmp_path)))
    assert said == (
        "tierdeck.errors.UndecidedOperationError: run operation mail: it was under way when the session ended: "
        "whether it was done is unknown"
    )
    assert mails(tmp_path) == sent, "nothing ran because somebody looked"


@pytest.mark.case("C14", "K28")
@pytest.mark.parametrize(("choice", "times"), [("done", 1), ("skip", 1), ("run again", 2)])
def test_what_is_decided_about_it_is_done_once_also_after_another_crash(
    tmp_path: Path, choice: str, times: int
) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail"))
    asked = "think 5! 4"
    decisions = {asked: choice}
    run_agent(Plan(str(tmp_path), dies="5:sent", decisions=decisions))  # type: ignore[arg-type]
    report = run_agent(Plan(str(tmp_path)))
    assert report is not None
    assert (report.answer, report.asked) == (ANSWER, []), "it was decided before"
    assert mails(tmp_path).count(asked) == times
    assert len(mails(tmp_path)) == 8 + times


@pytest.mark.case("C14")
def test_to_abort_ends_the_agent_when_it_comes_to_the_call(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail"))
    said = failure_of(Plan(str(tmp_path), decisions={"think 5! 4": "abort"}))
    assert said.startswith("tierdeck.errors.StoppedError: run operation mail: ")
    assert len(mails(tmp_path)) == 5


def test_an_agent_that_does_not_resume_begins_anew_under_the_same_name(tmp_path: Path) -> None:
    first = run_agent(Plan(str(tmp_path)))
    second = run_agent(Plan(str(tmp_path), resumes=False))
    assert first is not None
    assert second is not None
    assert (second.answer, second.turns, second.note) == (ANSWER, 9, "")
    assert second.branch != first.branch
    assert len(mails(tmp_path)) == 18, "no call of the run before was taken for one of this"
    third = run_agent(Plan(str(tmp_path)))
    assert third is not None
    assert third.branch == second.branch


@pytest.mark.case("C09")
def test_a_damaged_newest_checkpoint_is_passed_over_and_named(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="8:sent", waits=True))
    listed = open_session_folder(tmp_path, "run-1").listed()
    newest = listed[-1]
    assert newest.turn >= 4
    newest.path.write_bytes(newest.path.read_bytes()[: newest.size_bytes // 2])
    report = run_agent(Plan(str(tmp_path)))
    assert report is not None
    assert f"Passed over:\n- {newest.file}: " in report.note
    assert report.answer == ANSWER
    assert len(mails(tmp_path)) == 9


def test_when_no_checkpoint_can_be_read_that_is_said_and_nothing_begins(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="8:sent", waits=True))
    for listed in open_session_folder(tmp_path, "run-1").listed():
        listed.path.write_bytes(b"\0" * 100)
    sent = mails(tmp_path)
    said = failure_of(Plan(str(tmp_path)))
    assert "DamagedCheckpointError: resume session run-1: none of its checkpoints can be read: 0000" in said
    assert mails(tmp_path) == sent


@pytest.mark.spec("SPEC-09.23")
def test_an_explicit_path_beats_head_and_what_was_done_since_asks(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    early = next(each for each in folder.listed() if each.turn == 4)
    decisions = {f"think {turn}! {turn - 1}": "done" for turn in range(5, 10)}
    report = run_agent(Plan(str(tmp_path), path=str(early.path), decisions=decisions))  # type: ignore[arg-type]
    assert report is not None
    assert report.questions == report.asked == list(decisions)
    assert (report.answer, len(mails(tmp_path)), len(paid(tmp_path))) == (ANSWER, 9, 14)
    assert (report.cost_of_branch, report.cost_of_session) == (4.5, 7.0)
    head = folder.head()
    assert head is not None
    assert head.branch == report.branch


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14")
def test_an_operator_decides_while_no_agent_runs_and_looking_changes_nothing(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail"))
    folder = open_session_folder(tmp_path, "run-1")
    before = {path: path.read_bytes() for path in folder.path.iterdir() if path.is_file()}
    [question] = questions_of(folder)
    assert (question.about.kind, question.about.request.value()) == ("mail", "think 5! 4")
    assert [entry.state for entry in operations_of(folder)][-2:] == ["done", "running"]
    assert before == {path: path.read_bytes() for path in folder.path.iterdir() if path.is_file()}
    decide(folder, question.about.op_id, Decision("done", store_value(10), "ann"))
    with pytest.raises(NotFoundError):
        decide(folder, "0" * 32, Decision("skip"))
    report = run_agent(Plan(str(tmp_path)))
    assert report is not None
    assert (report.answer, report.asked, len(mails(tmp_path))) == (ANSWER, [], 9)
    with folder.try_lease() or pytest.fail("it runs"), pytest.raises(ConflictError, match="an agent runs"):
        decide(folder, question.about.op_id, Decision("skip"))


def test_a_session_that_made_no_calls_has_none_to_decide_about(tmp_path: Path) -> None:
    folder = open_session_folder(tmp_path, "run-1", create=True)
    assert (operations_of(folder), questions_of(folder)) == ((), ())
    with pytest.raises(NotFoundError, match="is not open there"):
        decide(folder, "0" * 32, Decision("skip"))
