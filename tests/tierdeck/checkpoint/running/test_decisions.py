"""Choosing for calls when a session goes on from a checkpoint: known before, and counted in the world."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.running.agent import Plan
from tests.tierdeck.checkpoint.running.agent_process import failure_of, run_agent, stepped
from tests.tierdeck.checkpoint.running.test_crash import mails
from tests.tierdeck.checkpoint.running.test_rewind import at_turn, bytes_of
from tierdeck.checkpoint.folder import FoundCheckpoint, Request, find_checkpoint, open_session_folder
from tierdeck.checkpoint.folder.requested_decision import RequestedDecision
from tierdeck.checkpoint.journal import Choice, Decision, store_value
from tierdeck.checkpoint.running import (
    Asked,
    Forked,
    OpenOperation,
    RestoreMode,
    Rewound,
    decide,
    fork,
    open_operations_of,
    operations_at,
    questions_at,
    questions_of,
    rewind,
)
from tierdeck.checkpoint.running.decisions import MAX_DECIDED_BYTES
from tierdeck.errors import CheckpointError, ConflictError, InvalidValueError, NotFoundError
from tierdeck.session import open_session


def at(root: Path, turn: int, session: str = "run-1") -> FoundCheckpoint:
    folder = open_session_folder(root, session)
    return find_checkpoint(root, f"{session}:{at_turn(folder, turn).sequence}")


def text_of(operation: OpenOperation) -> str:
    return str(operation.entry.request.value())


def chosen(found: tuple[OpenOperation, ...], **choices: Choice) -> dict[str, Decision]:
    """By the turn of a mail, as `t4`, what is done about it; what is not named stays open."""
    by_turn = {f"t{each.entry.turn}": each.entry.op_id for each in found}
    return {by_turn[turn]: Decision(choice, by="ann") for turn, choice in choices.items()}


def all_of(found: tuple[OpenOperation, ...], choice: Choice) -> dict[str, Decision]:
    return {each.entry.op_id: Decision(choice, by="ann") for each in found}


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14", "K28")
@pytest.mark.parametrize("mode", ["fork", "rewind"])
def test_what_an_agent_asks_is_known_before_and_nothing_is_changed_by_looking(
    tmp_path: Path, mode: RestoreMode
) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail", waits=True))
    found = at(tmp_path, 2)
    assert found.folder is not None
    before = bytes_of(found.folder.path)
    asked = questions_at(found, mode)
    assert [str(each.about.request.value()) for each in asked] == ["think 3! 2", "think 4! 3", "think 5! 4"]
    assert [each.about.state for each in asked] == ["done", "done", "running"]
    assert questions_at(found.listed.path, mode) == asked
    assert bytes_of(found.folder.path) == before
    if mode == "fork":
        fork(tmp_path, found.listed.path, as_="other")
        ended = failure_of(Plan(str(tmp_path), session="other"))
        other = open_session_folder(tmp_path, "other")
        assert [each.about.op_id for each in questions_of(other)] == [each.about.op_id for each in asked]
    else:
        rewind(found.folder, found.listed.file, by="ann")
        ended = failure_of(Plan(str(tmp_path)))
        assert [each.about.op_id for each in questions_of(found.folder)] == [each.about.op_id for each in asked]
    assert "UndecidedOperationError" in ended
    assert len(mails(tmp_path)) == 5, "nothing went out again"


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14", "K28")
@pytest.mark.parametrize("mode", ["fork", "rewind"])
def test_what_was_chosen_before_is_done_without_asking_and_the_rest_asks(tmp_path: Path, mode: RestoreMode) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail", waits=True))
    found = at(tmp_path, 2)
    choices = chosen(operations_at(found, mode), t3="done", t4="run again")
    session = "run-1"
    if mode == "fork":
        session = fork(tmp_path, found.listed.path, as_="other", decisions=choices).session_id
    else:
        assert found.folder is not None
        assert isinstance(rewind(found.folder, found.listed.file, by="ann", decisions=choices), Rewound)
    assert "UndecidedOperationError" in failure_of(Plan(str(tmp_path), session=session)), "turn 5 was left open"
    report = run_agent(Plan(str(tmp_path), session=session, decisions={"think 5! 4": "skip"}))
    assert report is not None
    assert (report.asked, report.turns) == (["think 5! 4"], 9)
    sent = mails(tmp_path)
    assert [sent.count(f"think {turn}! {turn - 1}") for turn in range(1, 10)] == [1, 1, 1, 2, 1, 1, 1, 1, 1]


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.parametrize(
    ("choice", "value", "sent", "given"),
    [
        ("run again", None, 2, "new"),
        ("done", None, 1, "old"),
        ("done", {"id": 7}, 1, {"id": 7}),
        ("skip", None, 1, None),
    ],
)
def test_each_choice_does_what_it_says(
    tmp_path: Path, choice: Choice, value: object, sent: int, given: object
) -> None:
    world: list[str] = []

    def send(result: str) -> str:
        world.append(result)
        return result

    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        session.turn({})
        session.operation("mail", "x").run(lambda: send("old"))
    folder = open_session_folder(tmp_path, "s")
    [operation] = operations_at(find_checkpoint(tmp_path, "s:1"), "rewind")
    stored = None if value is None else store_value(value)
    decision = Decision(choice, stored, "ann", operation.entry.state)
    rewind(folder, folder.listed()[0].file, by="ann", decisions={operation.entry.op_id: decision})
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        session.resume()
        assert session.operation("mail", "x").run(lambda: send("new")) == given
    assert len(world) == sent


@pytest.mark.spec("SPEC-09.23")
def test_to_abort_stops_the_agent_when_it_comes_to_the_call(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:mail", waits=True))
    found = at(tmp_path, 4)
    fork(tmp_path, found.listed.path, as_="other", decisions=all_of(operations_at(found, "fork"), "abort"))
    assert "StoppedError" in failure_of(Plan(str(tmp_path), session="other"))
    assert len(mails(tmp_path)) == 5


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K28")
def test_a_rewind_after_a_rewind_asks_about_the_mails_of_both_branches_that_were_left(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    found = at(tmp_path, 2)
    assert found.folder is not None
    first = chosen(operations_at(found, "rewind"), t3="done", t4="done", t5="run again")
    rewind(found.folder, found.listed.file, by="ann", decisions=first)
    run_agent(Plan(str(tmp_path), dies="7:sent", waits=True))
    assert len(mails(tmp_path)) == 8, "5, turn 5 again, 6 and 7"
    again = operations_at(at(tmp_path, 2), "rewind")
    assert sorted({text_of(each) for each in again}) == [f"think {turn}! {turn - 1}" for turn in (3, 4, 5, 6, 7)]
    rewind(found.folder, found.listed.file, by="ann", decisions=all_of(again, "done"))
    report = run_agent(Plan(str(tmp_path), waits=True))
    assert report is not None
    assert (report.asked, len(mails(tmp_path))) == ([], 10), "8 and 9 alone are new"


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K28")
def test_a_fork_of_a_fork_knows_what_the_first_session_sent(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="4:sent", waits=True))
    one = at(tmp_path, 2)
    fork(tmp_path, one.listed.path, as_="second", decisions=all_of(operations_at(one, "fork"), "done"))
    run_agent(Plan(str(tmp_path), session="second", dies="5:sent", waits=True))
    assert len(mails(tmp_path)) == 5
    two = find_checkpoint(tmp_path, "second:1")
    asked = operations_at(two, "fork")
    assert [text_of(each) for each in asked] == ["think 3! 2", "think 4! 3", "think 5! 4"]
    made = fork(tmp_path, two.listed.path, as_="third", decisions=all_of(asked, "done"))
    assert isinstance(made, Forked)
    report = run_agent(Plan(str(tmp_path), session="third", waits=True))
    assert report is not None
    assert (report.asked, len(mails(tmp_path))) == ([], 9)


@pytest.mark.spec("SPEC-09.23")
def test_a_live_agent_gets_the_choices_with_the_request(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path), waits=True, decisions={"think 5! 4": "done"})) as agent:
        agent.step(3)
        found = at(tmp_path, 2)
        assert found.folder is not None
        choices = chosen(operations_at(found, "rewind"), t3="done", t4="skip")
        asked = rewind(found.folder, found.listed.file, by="ann", decisions=choices)
        assert isinstance(asked, Asked)
        assert agent.step() == 2
        answer = found.folder.answer_to(asked.request_id)
        assert answer is not None
        assert answer.state == "applied"
        report = agent.finish()
    assert (report.asked, len(mails(tmp_path))) == (["think 5! 4"], 9), "turn 5 was done after they were made"


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K28")
def test_a_choice_about_a_call_that_has_ended_meanwhile_does_not_count(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path), waits=True)) as agent:
        agent.step(2)
        folder = open_session_folder(tmp_path, "run-1")
        found = at(tmp_path, 2)
        [third] = [each for each in operations_at(found, "rewind") if each.entry.turn == 3]
        # As though it was seen while the mail was under way; it is done by the time the agent goes back.
        wanted = RequestedDecision(third.entry.op_id, "run again", "running", "ann")
        folder.ask(Request("rewind", found.listed.file, "rewind", 0, "ann", folder.clock_ns(), decisions=(wanted,)))
        assert agent.step() == 2
        agent.kill()
    assert "UndecidedOperationError" in failure_of(Plan(str(tmp_path)))
    assert len(mails(tmp_path)) == 4


@pytest.mark.spec("SPEC-09.23")
def test_a_choice_that_can_t_be_kept_is_refused_by_name_and_nothing_is_written(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="4:mail", waits=True))
    found = at(tmp_path, 2)
    folder = found.folder
    assert folder is not None
    operation = next(each for each in operations_at(found, "rewind") if each.entry.turn == 4)
    op_id = operation.entry.op_id
    before = bytes_of(folder.path)
    wrong: list[tuple[dict[str, Decision], type[Exception], str]] = [
        ({"f" * 32: Decision("skip")}, NotFoundError, "operation ffffffff.* is not open there"),
        ({op_id: Decision("perhaps")}, InvalidValueError, f"{op_id}: 'perhaps' is no choice"),  # type: ignore[arg-type]
        ({op_id: Decision("skip", store_value(1))}, InvalidValueError, "a value goes with `done`"),
        ({op_id: Decision("done", store_value(open))}, InvalidValueError, "its value can't be kept"),
        ({op_id: Decision("done", store_value(b"x" * MAX_DECIDED_BYTES))}, InvalidValueError, "bytes, at most"),
        ({op_id: Decision("skip", seen="done")}, ConflictError, "is running by now"),
        ({op_id: Decision("skip"), "e" * 32: Decision("skip")}, NotFoundError, "operation eeeeeeee"),
    ]  # fmt: skip
    for decisions, kind, said in wrong:
        with pytest.raises(kind, match=said):
            rewind(folder, found.listed.file, by="ann", decisions=decisions)
        with pytest.raises(kind, match=said):
            fork(tmp_path, found.listed.path, as_="other", decisions=decisions)
        assert bytes_of(folder.path) == before
    with pytest.raises(NotFoundError):
        open_session_folder(tmp_path, "other")


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.parametrize("is_live", [False, True])
def test_a_rewind_says_what_moved_since_the_plan_was_made(tmp_path: Path, is_live: bool) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    seen = folder.head()
    assert seen is not None
    rewind(folder, at_turn(folder, 2).file, by="bob")
    lease = folder.try_lease() if is_live else None
    with pytest.raises(ConflictError, match=f"it is at {at_turn(folder, 2).file} on branch .* seen was 0"):
        rewind(folder, at_turn(folder, 4).file, by="ann", expected_generation=seen.generation)
    assert folder.pending_request() is None
    if lease is not None:
        lease.release()
    done = rewind(folder, at_turn(folder, 4).file, by="ann", expected_generation=1)
    assert isinstance(done, Rewound)
    assert done.generation == 2


@pytest.mark.spec("SPEC-09.23")
def test_a_rewind_that_is_done_at_once_is_not_asked_for_nor_the_other_way_round(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    file = at_turn(folder, 2).file
    lease = folder.try_lease()
    assert lease is not None
    with lease, pytest.raises(ConflictError, match="an agent runs it by now"):
        rewind(folder, file, by="ann", expected_live=False)
    assert folder.pending_request() is None
    with pytest.raises(ConflictError, match="its agent has ended since it was looked at"):
        rewind(folder, file, by="ann", expected_live=True)
    assert folder.switched_head() is None
    assert isinstance(rewind(folder, file, by="ann", expected_live=False), Rewound)


@pytest.mark.spec("SPEC-09.23")
def test_what_was_saved_since_the_plan_was_made_is_not_left_unseen_unless_an_agent_runs(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="5:sent", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    seen = folder.head()
    assert seen is not None
    run_agent(Plan(str(tmp_path), dies="7:model", waits=True, decisions={"think 5! 4": "skip"}))
    now = folder.head()
    assert now is not None
    assert (now.generation, now.file != seen.file) == (seen.generation, True)
    file = at_turn(folder, 2).file
    with pytest.raises(ConflictError, match=f"it is at {now.file}, no longer at {seen.file}"):
        rewind(folder, file, by="ann", expected_file=seen.file)
    assert folder.switched_head() is None
    lease = folder.try_lease()
    assert lease is not None
    with lease:
        assert isinstance(rewind(folder, file, by="ann", expected_file=seen.file), Asked)


@pytest.mark.case("C14")
def test_a_copy_without_its_journal_asks_about_what_was_under_way_by_its_own_word(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with open_session(None, "s", checkpoints=tmp_path / "a", every=1) as session:
        session.turn({})
        with pytest.raises(KeyboardInterrupt), session.operation("mail", "x"):
            raise KeyboardInterrupt
        session.plan(session.operation("mail", "y"))
        session.turn({})
    folder = open_session_folder(tmp_path / "a", "s")
    for each in folder.path.glob("*.rlmjournal"):
        each.unlink()
    asked = open_operations_of(folder)
    assert [(text_of(each), each.question is not None) for each in asked] == [("y", False), ("x", True)]
    with pytest.raises(ConflictError, match=r"the journal of branch .* is lost") as caught:
        decide(folder, asked[1].entry.op_id, Decision("skip"))
    assert "restore --rewind --operation" in (caught.value.hint or "")
    with open_session(None, "s", checkpoints=tmp_path / "a", every=1) as session:
        back = session.resume()
        assert back is not None
        assert [question.about.request.value() for question in back.questions] == ["x"]
        assert [str(call.entry.request.value()) for call in session.unfinished()] == ["x", "y"]


def test_a_file_in_no_session_s_folder_can_t_be_rewound_to(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="3:sent", waits=True))
    copy = tmp_path / "copy.rlmckpt"
    copy.write_bytes(at(tmp_path, 2).listed.path.read_bytes())
    found = find_checkpoint(tmp_path, str(copy))
    assert questions_at(found, "fork") == ()
    with pytest.raises(CheckpointError, match="it lies in no session's folder"):
        questions_at(found, "rewind")


def test_a_planned_call_that_is_decided_about_is_not_made_on_the_new_branch(tmp_path: Path) -> None:
    world: list[str] = []
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        session.plan(session.operation("mail", "x" * 10_000), session.operation("mail", "y"))
        session.turn({})
    folder = open_session_folder(tmp_path, "s")
    planned = operations_at(find_checkpoint(tmp_path, "s:1"), "rewind")
    assert [each.question for each in planned] == [None, None]
    rewind(folder, folder.listed()[0].file, by="ann", decisions={planned[0].entry.op_id: Decision("skip")})
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        session.resume()
        for call in session.unfinished():
            call.run(lambda: world.append("sent"))
    assert world == ["sent"]
