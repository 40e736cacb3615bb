"""Going back and forking from outside the agent, with its process alive and with it dead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.running.agent import Plan
from tests.tierdeck.checkpoint.running.agent_process import run_agent, stepped
from tests.tierdeck.checkpoint.running.test_crash import ANSWER, mails, paid
from tierdeck.checkpoint.folder import Listed, Request, SessionFolder, open_session_folder
from tierdeck.checkpoint.journal import Choice, Journal
from tierdeck.checkpoint.running import Asked, Forked, Rewound, fork, rewind
from tierdeck.errors import ConflictError, DamagedCheckpointError, NotFoundError
from tierdeck.session import open_session


def at_turn(folder: SessionFolder, turn: int) -> Listed:
    return next(each for each in folder.listed() if each.turn == turn)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def done(*turns: int) -> dict[str, Choice]:
    """The mails of those turns, each to be taken as done."""
    return {f"think {turn}! {turn - 1}": "done" for turn in turns}


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K30")
def test_with_its_agent_dead_a_session_goes_back_to_the_third_of_nine_and_asks_what_was_done_since(
    tmp_path: Path,
) -> None:
    run_agent(Plan(str(tmp_path), every=1, waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    before = bytes_of(folder.path)
    third = folder.listed()[2]
    rewound = rewind(folder, third.file, by="ann")
    assert rewound == Rewound(third.file, rewound.branch if isinstance(rewound, Rewound) else "", 1)
    after = bytes_of(folder.path)
    assert {name: after[name] for name in before if name not in ("lock", "lease")} == {
        name: data for name, data in before.items() if name not in ("lock", "lease")
    }, "the later ones stay as they are"
    report = run_agent(Plan(str(tmp_path), every=1, waits=True, decisions=done(4, 5, 6, 7, 8, 9)))
    assert report is not None
    assert report.note.startswith(f"This session goes on from the checkpoint after turn 3 ({third.file})")
    assert report.questions == report.asked == list(done(4, 5, 6, 7, 8, 9))
    assert (report.answer, len(mails(tmp_path))) == (ANSWER, 9)
    assert len(paid(tmp_path)) == 9 + 6, "models are asked again: that costs only money"
    assert (report.cost_of_branch, report.cost_of_session) == (4.5, 7.5)
    assert folder.listed()[-1].summary is not None
    branches = [each.summary.branch for each in folder.listed() if each.summary is not None]
    assert len(set(branches)) == 2
    assert branches.count(report.branch) == 6


@pytest.mark.spec("SPEC-09.23")
def test_with_its_agent_alive_it_is_asked_saves_the_present_goes_back_and_answers(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path), decisions=done(3, 4, 5))) as agent:
        agent.step(4)
        folder = open_session_folder(tmp_path, "run-1")
        asked = rewind(folder, at_turn(folder, 2).file, by="ann")
        assert isinstance(asked, Asked)
        assert folder.answer_to(asked.request_id) is None, "nothing is claimed before the agent has answered"
        assert agent.step() == 2, "turn 6 was ended, and the session stands after turn 2 again"
        answer = folder.answer_to(asked.request_id)
        assert answer is not None
        assert (answer.state, answer.why, answer.file) == ("applied", None, at_turn(folder, 2).file)
        [present] = [each for each in folder.listed() if each.summary and each.summary.reason == "pre-restore"]
        assert present.turn == 6
        report_asks = done(3, 4, 5, 6)
        agent.kill()
    report = run_agent(Plan(str(tmp_path), decisions=report_asks))
    assert report is not None
    assert report.asked == list(report_asks)
    assert (report.answer, len(mails(tmp_path))) == (ANSWER, 9)
    assert (report.cost_of_branch, report.cost_of_session) == (4.5, 6.5)


def test_a_live_agent_goes_on_by_itself_after_a_restore_and_asks_before_each_mail(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path), decisions=done(3, 4))) as agent:
        agent.step(2)
        folder = open_session_folder(tmp_path, "run-1")
        rewind(folder, at_turn(folder, 2).file, by="ann")
        agent.step()
        report = agent.finish()
    assert (report.answer, report.asked) == (ANSWER, ["think 3! 2", "think 4! 3"])
    assert len(mails(tmp_path)) == 9
    assert report.note.startswith("This session goes on from the checkpoint after turn 2")


def test_a_request_left_by_a_dead_agent_is_done_when_it_starts_again(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path))) as agent:
        agent.step(4)
        folder = open_session_folder(tmp_path, "run-1")
        asked = rewind(folder, at_turn(folder, 2).file, by="ann")
        assert isinstance(asked, Asked)
    report = run_agent(Plan(str(tmp_path), decisions=done(3, 4, 5)))
    assert report is not None
    assert report.note.startswith("This session goes on from the checkpoint after turn 2")
    assert report.asked == list(done(3, 4, 5))
    answer = folder.answer_to(asked.request_id)
    assert answer is not None
    assert answer.state == "applied"


def test_an_agent_that_takes_no_restore_refuses_and_goes_on(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path), takes_restores=False)) as agent:
        agent.step(3)
        folder = open_session_folder(tmp_path, "run-1")
        asked = rewind(folder, at_turn(folder, 2).file, by="ann")
        assert isinstance(asked, Asked)
        assert agent.step() == 5
        answer = folder.answer_to(asked.request_id)
        assert answer is not None
        assert (answer.state, answer.why) == (
            "refused",
            "restore checkpoint: this agent takes no restore while it runs (fork it)",
        )
        assert folder.switched_head() is None


def test_a_request_for_a_checkpoint_that_is_damaged_by_then_is_refused_and_says_why(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path))) as agent:
        agent.step(4)
        folder = open_session_folder(tmp_path, "run-1")
        early = at_turn(folder, 2)
        asked = rewind(folder, early.file, by="ann")
        assert isinstance(asked, Asked)
        data = bytearray(early.path.read_bytes())
        data[-40] ^= 1
        early.path.write_bytes(data)
        assert agent.step() == 6
        answer = folder.answer_to(asked.request_id)
        assert answer is not None
        assert (answer.state, answer.why and early.file in answer.why) == ("refused", True)
        report = agent.finish()
    assert (report.answer, len(mails(tmp_path))) == (ANSWER, 9)
    assert report.problems[0].startswith("refuse request of ann: ")


def test_a_checkpoint_is_made_when_it_is_asked_for(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path), every=0)) as agent:
        agent.step()
        folder = open_session_folder(tmp_path, "run-1")
        request = Request("checkpoint", None, "now", 0, "ann", folder.clock_ns(), label="before lunch")
        asked = folder.ask(request)
        agent.step()
        [made] = folder.listed()
        answer = folder.answer_to(asked)
        assert answer is not None
        assert (answer.state, answer.file) == ("applied", made.file)
        assert made.summary is not None
        assert (made.turn, made.label, made.summary.reason) == (3, "before lunch", "manual")


@pytest.mark.spec("SPEC-09.23")
def test_a_fork_is_a_session_of_its_own_and_the_old_one_is_untouched_while_it_runs(tmp_path: Path) -> None:
    with stepped(Plan(str(tmp_path))) as agent:
        agent.step(5)
        folder = open_session_folder(tmp_path, "run-1")
        before = bytes_of(folder.path)
        origin = at_turn(folder, 4)
        assert origin.summary is not None
        forked = fork(tmp_path, origin.path)
        assert bytes_of(folder.path) == before
        assert agent.finish().answer == ANSWER
    assert forked.session_id.startswith("run-1-fork-")
    made = open_session_folder(tmp_path, forked.session_id).listed()[0].summary
    assert made is not None
    assert made.origin is not None
    assert (made.origin.session_id, made.origin.checkpoint_id) == ("run-1", origin.summary.checkpoint_id)
    assert (made.session_id, made.turn, made.variables, made.lost) == (forked.session_id, 4, 2, 1)
    report = run_agent(Plan(str(tmp_path), session=forked.session_id, decisions=done(5, 6)))
    assert report is not None
    assert "It was forked from session run-1." in report.note
    assert report.questions == list(done(5, 6)), "what the other had done when the fork was made"
    assert report.answer == ANSWER
    assert (report.cost_of_branch, report.cost_of_session) == (4.5, 4.5)


def test_a_fork_by_a_name_that_is_taken_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    origin = at_turn(folder, 4)
    forked = fork(tmp_path, origin.path, as_="../../other run")
    assert forked == Forked("../../other run", forked.branch, forked.path)
    assert forked.path.parent.parent == tmp_path
    for name in ("../../other run", "run-1"):
        there = open_session_folder(tmp_path, name)
        before = bytes_of(there.path)
        with pytest.raises(ConflictError, match="is there already"):
            fork(tmp_path, origin.path, as_=name)
        assert bytes_of(there.path) == before
        assert not there.is_live()


def test_a_damaged_or_missing_checkpoint_is_neither_forked_nor_gone_back_to(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    early = at_turn(folder, 4)
    data = bytearray(early.path.read_bytes())
    data[-1] ^= 1
    early.path.write_bytes(data)
    before, names = bytes_of(folder.path), sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(DamagedCheckpointError):
        fork(tmp_path, early.path)
    with pytest.raises(DamagedCheckpointError):
        rewind(folder, early.file, by="ann")
    with pytest.raises(NotFoundError, match="it has no checkpoint 'nothing'"):
        rewind(folder, "nothing", by="ann")
    assert (bytes_of(folder.path), sorted(path.name for path in tmp_path.iterdir())) == (before, names)
    assert not folder.is_live()


def test_going_forward_again_after_going_back_asks_only_what_that_past_does_not_hold(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), dies="7:sent", waits=True))
    folder = open_session_folder(tmp_path, "run-1")
    sixth, second = at_turn(folder, 6).file, at_turn(folder, 2).file
    rewind(folder, second, by="ann")
    run_agent(Plan(str(tmp_path), dies="4:sent", waits=True, decisions=done(3, 4)))
    back = rewind(folder, sixth, by="ann")
    assert isinstance(back, Rewound)
    before = [str(each.request.value()) for each in Journal(folder.path, back.branch).before()]
    assert before == list(done(7)), "3 to 6 are in its past, on whatever branch they were decided about since"
    report = run_agent(Plan(str(tmp_path), decisions=done(7)))
    assert report is not None
    assert (report.answer, report.asked, len(mails(tmp_path))) == (ANSWER, list(done(7)), 9)


def test_a_copy_of_a_checkpoint_elsewhere_is_taken_in(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "copy.rlmckpt"
    root.mkdir()
    run_agent(Plan(str(root), waits=True))
    folder = open_session_folder(root, "run-1")
    os.link(at_turn(folder, 4).path, tmp_path / "kept")
    elsewhere.write_bytes((tmp_path / "kept").read_bytes())
    for name, origin in (("run-1", None), ("run-2", "run-1")):
        with open_session(None, name, checkpoints=root, every=0) as session:
            back = session.resume(elsewhere)
            assert back is not None
            assert session.turns == 4
            assert (back.checkpoint.origin and back.checkpoint.origin.session_id) == origin
            assert back.path.parent == open_session_folder(root, name).path


def test_a_file_of_another_session_is_not_gone_back_to(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), waits=True))
    run_agent(Plan(str(tmp_path), session="run-2", waits=True))
    mine, other = (open_session_folder(tmp_path, name) for name in ("run-1", "run-2"))
    stray = at_turn(other, 4)
    (mine.path / stray.file).write_bytes(stray.path.read_bytes())
    with pytest.raises(DamagedCheckpointError, match="it is of session 'run-2'"):
        rewind(mine, stray.file, by="ann")
    assert mine.switched_head() is None
