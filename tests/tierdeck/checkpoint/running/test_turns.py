"""Turns and checkpoints of a session: when one is made, what is in it, and what becomes of a save that fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tierdeck.checkpoint import load_checkpoint, open_checkpoint
from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.folder import Listed, open_session_folder
from tierdeck.checkpoint.running import Spending
from tierdeck.config import CheckpointSettings
from tierdeck.errors import CheckpointError, ConflictError, InvalidValueError
from tierdeck.model import NodeDraft
from tierdeck.session import Session, open_session
from tierdeck.store import Store, access_summary, add_node


def listed(root: Path, session: str = "s") -> list[Listed]:
    return open_session_folder(root, session).listed()


def turns_saved(root: Path) -> list[tuple[int, str]]:
    return [(each.turn, each.summary.reason) for each in listed(root) if each.summary]


def loaded(each: Listed) -> Checkpoint:
    with open_checkpoint(each.path) as file:
        return load_checkpoint(file)


def do_turns(session: Session, count: int) -> None:
    for _ in range(count):
        session.turn({"n": session.turns + 1})
        session.flush()


@pytest.mark.spec("SPEC-09.24")
@pytest.mark.parametrize(
    ("every", "saved"),
    [
        (None, [(5, "auto"), (10, "auto"), (12, "exit")]),
        (4, [(4, "auto"), (8, "auto"), (12, "auto")]),
        (1, [(turn, "auto") for turn in range(1, 13)][-10:]),
        (0, []),
    ],
)
def test_a_checkpoint_is_made_every_n_turns_five_by_default_and_none_with_0(
    tmp_path: Path, every: int | None, saved: list[tuple[int, str]]
) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=every) as session:
        do_turns(session, 12)
    assert turns_saved(tmp_path) == saved, "of many automatic ones the last ten stay"


def test_the_settings_say_how_often_and_how_many_are_kept(tmp_path: Path) -> None:
    keep = CheckpointSettings(every_turns=1, keep_last=2)
    with open_session(None, "s", checkpoints=tmp_path, keep=keep) as session:
        do_turns(session, 6)
        session.checkpoint("mine")
        do_turns(session, 4)
    assert turns_saved(tmp_path) == [(6, "manual"), (9, "auto"), (10, "auto")]


@pytest.mark.parametrize("every", [-1, 1.5, True, 10_001])
def test_what_is_no_number_of_turns_opens_no_session(tmp_path: Path, every: int) -> None:
    with pytest.raises(InvalidValueError, match="can't be made"):
        open_session(None, "s", checkpoints=tmp_path, every=every)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("SPEC-09.25")
def test_a_manual_checkpoint_is_on_disk_when_it_returns_with_its_label(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        session.turn({"x": [1]}, messages=["hi"], working_memory={"goal": "g"}, trajectory=[1], cells=["x = [1]"])
        report = session.checkpoint("before the merge")
        [made] = listed(tmp_path)
        assert report.saved is not None
        assert (report.saved.path, report.problem, made.label) == (made.path, None, "before the merge")
        for label in ("", " ", "x" * 201):
            with pytest.raises(InvalidValueError):
                session.checkpoint(label)
    found = loaded(made)
    assert (found.repl_state, found.messages, found.working_memory) == ({"x": [1]}, ["hi"], {"goal": "g"})
    assert (found.trajectory_events, found.cells, found.turn, found.reason) == ([1], ["x = [1]"], 1, "manual")
    assert found.writer["python"] == sys.version.split()[0]


@pytest.mark.spec("SPEC-09.25")
@pytest.mark.case("C10")
def test_twenty_manual_checkpoints_in_a_tight_loop_are_twenty_in_the_order_taken(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        for number in range(20):
            session.turn({"n": number})
            session.checkpoint(f"{number}")
    assert [each.label for each in listed(tmp_path)] == [f"{number}" for number in range(20)]


@pytest.mark.spec("SPEC-09.25")
def test_asked_for_in_the_middle_of_a_turn_it_is_made_at_its_end(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        assert session.checkpoint("first").is_deferred, "nothing is known of the state before the first turn"
        session.turn({"n": 1})
        session.operation("tool", "x").run(lambda: None)
        assert session.checkpoint("second").is_deferred
        assert [(each.turn, each.label) for each in listed(tmp_path)] == [(1, "first")]
        session.turn({"n": 2})
    assert [(each.turn, each.label) for each in listed(tmp_path)] == [(1, "first"), (2, "second")]


def test_what_the_agent_changes_after_a_turn_is_not_in_its_checkpoint(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        state = {"words": ["a"]}
        session.turn(state)
        state["words"].append("b")
        session.flush()
    assert loaded(listed(tmp_path)[0]).repl_state == {"words": ["a"]}


def test_automatic_checkpoints_may_replace_each_other_and_the_last_is_always_written(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        for turn in range(200):
            session.turn({"n": turn})
    found = listed(tmp_path)
    assert found[-1].turn == 200
    parents = [each.summary.parent for each in found if each.summary]
    ids = [each.summary.checkpoint_id for each in found if each.summary]
    assert parents[1:] == ids[:-1], "each names the one before it that came to disk"


def test_an_agent_that_ends_without_closing_loses_nothing_that_was_handed_over(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom tierdeck.session import open_session\n"
        "session = open_session(None, 's', checkpoints=Path(sys.argv[1]), every=1)\n"
        "session.turn({'x': list(range(300_000))})\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert turns_saved(tmp_path) == [(1, "auto")]
    assert open_session_folder(tmp_path, "s").is_live() is False


def test_leaving_by_an_exception_saves_no_half_turn_and_gives_the_lease_back(tmp_path: Path) -> None:
    def crash() -> None:
        with open_session(None, "s", checkpoints=tmp_path, every=2) as session:
            do_turns(session, 3)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crash()
    assert turns_saved(tmp_path) == [(2, "auto")]
    with open_session(None, "s", checkpoints=tmp_path) as session:
        assert session.turns == 0, "opening does not resume"
        back = session.resume()
        assert back is not None
        assert (session.turns, back.variables) == (2, {"n": 2})
        with pytest.raises(ConflictError, match="has begun already"):
            session.resume()


def test_a_second_process_does_not_get_a_session_that_runs(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path):
        with pytest.raises(ConflictError, match="another process runs it"):
            open_session(None, "s", checkpoints=tmp_path)
        open_session(None, "other", checkpoints=tmp_path).end()
    open_session(None, "s", checkpoints=tmp_path).end()


def test_a_folder_that_vanishes_is_told_of_and_the_agent_goes_on(tmp_path: Path) -> None:
    told: list[str] = []
    with open_session(None, "s", checkpoints=tmp_path / "root", every=1, on_problem=told.append) as session:
        session.operation("tool", 1).run(lambda: None)
        do_turns(session, 1)
        assert session.save_problem is None
        shutil.rmtree(tmp_path / "root")
        assert session.operation("tool", 2).run(lambda: "done") == "done"
        do_turns(session, 1)
        assert session.save_problem is not None
        assert "No such file or directory" in session.save_problem
        assert session.checkpoint().problem == session.save_problem
        assert session.turns == 2
    assert tuple(told) == session.problems
    assert any("journal" in said and "the file is gone" in said for said in told)


def test_a_full_disk_is_told_of_the_agent_goes_on_and_the_next_save_that_works_says_so(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys\nfrom pathlib import Path\nfrom tierdeck.session import open_session\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with open_session(None, 's', checkpoints=Path(sys.argv[1]), every=1) as session:\n"
        "    session.turn({'x': 1}); session.flush()\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))\n"
        "    session.turn({'x': 2}); session.flush()\n"
        "    print(session.save_problem)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "    session.turn({'x': 3}); session.flush()\n"
        "    print(session.save_problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    said, after = done.stdout.splitlines()
    assert "File too large" in said
    assert after == "None"
    assert turns_saved(tmp_path) == [(1, "auto"), (3, "auto")]
    assert not [path for path in listed(tmp_path)[0].folder.iterdir() if path.name.startswith(".part")]


def test_a_callback_that_raises_and_values_that_raise_end_nothing(tmp_path: Path) -> None:
    class Evil:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError

    def angry(problem: str) -> None:
        raise ZeroDivisionError(problem)

    with open_session(None, "s", checkpoints=tmp_path / "root", every=1, on_problem=angry) as session:
        session.turn({"evil": Evil(), "lock": threading.Lock(), "x": 1})
        session.flush()
        assert session.save_problem is None
        shutil.rmtree(tmp_path / "root")
        do_turns(session, 1)
        assert "the callback raised ZeroDivisionError" in session.problems[-1]


def test_a_forked_child_neither_saves_nor_holds_the_session(tmp_path: Path) -> None:
    session = open_session(None, "s", checkpoints=tmp_path, every=1)
    do_turns(session, 1)
    child = os.fork()
    if child == 0:
        try:
            session.turn({"n": 99})
        except ConflictError:
            session.flush()
            session.end()
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    do_turns(session, 1)
    session.end()
    assert turns_saved(tmp_path) == [(1, "auto"), (2, "auto")]


def test_a_session_without_checkpoints_counts_turns_and_makes_its_calls(store: Store) -> None:
    node_id = add_node(store, NodeDraft("port 5433")).id
    with open_session(store, "s") as session:
        session.use(node_id)
        assert session.turn({"x": 1}) is None
        assert session.operation("tool", 1).run(lambda: "done") == "done"
        assert (session.turns, session.branch, session.resume(), session.save_problem) == (1, None, None, None)
        assert (session.spending, session.problems) == (Spending(None, None, None, None), ())
        session.flush()
        with pytest.raises(ConflictError, match="opened without checkpoints"):
            session.checkpoint()
        with pytest.raises(ConflictError, match="no journal"):
            assert session.operation("tool", 1).op_id
    with pytest.raises(ConflictError, match="has ended"):
        session.turn({})


@pytest.mark.spec("SPEC-09.24")
def test_what_an_end_in_the_middle_of_a_turn_leaves_unsaved_is_said(tmp_path: Path) -> None:
    told: list[str] = []
    with open_session(None, "s", checkpoints=tmp_path, on_problem=told.append) as session:
        do_turns(session, 3)
        session.operation("note").run(lambda: None)
        assert session.checkpoint("important").is_deferred
        assert told == []
    assert told == [
        "save checkpoint: checkpoint 'important' was not made: the session ended in the middle of turn 4",
        "save checkpoint: turn 3 is not saved: the session ended in the middle of turn 4",
    ]
    assert turns_saved(tmp_path) == []
    told.clear()
    with open_session(None, "t", checkpoints=tmp_path, on_problem=told.append, every=1) as session:
        do_turns(session, 3)
        session.operation("note").run(lambda: None)
    assert told == [], "all turns that ended are on disk"


def test_a_session_without_a_store_has_no_memories_and_says_so(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path) as session:
        for act in (
            lambda: session.search("port"),
            lambda: session.open("x"),
            lambda: session.use("x"),
            lambda: session.push(["x"]),
            lambda: session.outcome("x", None),
            lambda: session.id,
        ):
            with pytest.raises(ConflictError, match="session s was opened without a store"):
                act()


def test_with_both_a_crash_goes_on_in_the_same_session_of_the_store(store: Store, tmp_path: Path) -> None:
    node_id = add_node(store, NodeDraft("port 5433")).id
    root = tmp_path / "checkpoints"
    first = open_session(store, "s", checkpoints=root, every=1)
    first.use(node_id)
    do_turns(first, 1)
    first.__exit__(ZeroDivisionError, None, None)
    with open_session(store, "s", checkpoints=root, every=1) as again:
        assert again.resume() is not None
        assert (again.id, again.turns) == (first.id, 1)
        again.use(node_id)
        again.end("success")
    assert access_summary(store, node_id).roots == 1


def test_what_a_turn_costs_is_added_up_and_the_unknown_stays_unknown(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        session.turn({}, cost=0.25, tokens=10)
        session.turn({}, cost=0.5)
        assert session.spending == Spending(0.75, 0.75, None, None)
        session.flush()
    made = listed(tmp_path)[-1].summary
    assert made is not None
    assert (made.cost_so_far, made.tokens) == (0.75, None)


def test_a_head_that_can_not_be_read_is_said_and_the_newest_that_verifies_is_taken(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        do_turns(session, 3)
    early = listed(tmp_path)[0]
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        session.resume(early.path)
    (early.folder / "HEAD").write_text("{")
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        back = session.resume()
        assert back is not None
        assert (session.turns, len(back.problems)) == (3, 1)
        assert "HEAD" in back.problems[0]
        assert back.problems[0] in back.note


def test_a_root_that_can_not_be_made_opens_no_session(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError):
        open_session(None, "s", checkpoints=tmp_path / "file" / "root")
