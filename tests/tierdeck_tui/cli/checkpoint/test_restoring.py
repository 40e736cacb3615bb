"""restore and request: forks that need no agent, rewinds with and without one, and no success before an answer."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.sample import sample
from tests.tierdeck_tui.cli.checkpoint.conftest import SESSION, Command
from tests.tierdeck_tui.cli.terminal import in_terminal
from tierdeck.checkpoint import Operation, load_checkpoint, open_checkpoint, pack_checkpoint
from tierdeck.checkpoint.folder import Request, SessionFolder, list_sessions, open_session_folder
from tierdeck.session import open_session


def heads(folder: SessionFolder) -> list[int]:
    return [each.sequence for each in folder.listed() if each.is_head]


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K30")
def test_a_fork_is_a_new_session_and_leaves_the_old_one_as_it_is(
    run: Command, session: SessionFolder, root: Path
) -> None:
    before = {each: each.read_bytes() for each in session.path.iterdir() if each.suffix == ".rlmckpt"}
    result = run("restore", f"{SESSION}:2", "--yes")
    assert result.exit_code == 0
    new = result.stdout.strip()
    assert new.startswith(f"{SESSION}-fork-")
    [listed] = open_session_folder(root, new).listed()
    with open_checkpoint(listed.path) as file:
        made = load_checkpoint(file)
    assert (made.turn, made.repl_state["x"], made.origin and made.origin.session_id) == (10, 2, SESSION)
    assert {each: each.read_bytes() for each in session.path.iterdir() if each.suffix == ".rlmckpt"} == before
    assert heads(session) == [3]


def test_a_fork_gets_the_id_it_was_given_and_never_one_that_is_taken(run: Command, session: SessionFolder) -> None:
    made = json.loads(run("restore", f"{SESSION}:1", "--fork", "--as", "mine", "--yes", "--json").stdout)
    assert (made["mode"], made["session_id"]) == ("fork", "mine")
    again = run("restore", f"{SESSION}:1", "--as", "mine", "--yes")
    assert (again.exit_code, again.stdout) == (5, "")


def test_a_fork_needs_no_agent_and_asks_none(run: Command, session: SessionFolder) -> None:
    lease = session.try_lease()
    assert lease is not None
    with lease:
        assert run("restore", f"{SESSION}:2", "--as", "mine", "--yes").exit_code == 0
    assert session.pending_request() is None


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K30")
def test_a_rewind_without_an_agent_moves_head_and_keeps_every_file(run: Command, session: SessionFolder) -> None:
    result = run("restore", f"{SESSION}:1", "--rewind", "--yes")
    assert (result.exit_code, result.stdout) == (0, f"{session.listed()[0].path}\n")
    assert heads(session) == [1]
    assert [each.sequence for each in session.listed()] == [1, 2, 3]


def test_the_plan_names_what_changes_what_is_lost_and_what_stays(run: Command, session: SessionFolder) -> None:
    text = run("restore", f"{SESSION}:1", "--rewind", "--dry-run").stdout
    assert text.startswith(f"rewind checkpoint 1 of {SESSION}, turn 5")
    assert "stays: checkpoint 3, turn 15; 2 later checkpoints stay as a branch that is left" in text
    assert "no agent is running: it is done at once" in text
    assert "cost up to there $0.25, of the whole session $0.75" in text
    assert "~ x" in text
    assert "- late" in text
    assert "lock  LOST" in text
    plan = json.loads(run("restore", f"{SESSION}:1", "--rewind", "--dry-run", "--json").stdout)["plan"]
    assert (plan["mode"], plan["is_live"], plan["present"]["sequence"]) == ("rewind", False, 3)
    assert heads(session) == [3]


@pytest.mark.case("C14")
@pytest.mark.case("K28")
def test_the_plan_shows_unfinished_operations_and_runs_none(run: Command, root: Path) -> None:
    folder = open_session_folder(root, "mail", create=True)
    operations = (
        Operation("a", "send", "done", 5, True, {"to": "a"}, "sent"),
        Operation("b", "send", "running", 5, True, {"to": "b"}),
        Operation("c", "send", "pending", 5, True, {"to": "c"}),
    )
    folder.save(pack_checkpoint(sample(session_id="mail", pending_operations=operations)))
    text = run("restore", "mail:1", "--dry-run").stdout
    assert "2 operations not finished, or made since; what becomes of each" in text
    assert "b  send  turn 5  outcome unknown, side effects" in text
    assert "asks: it was begun on branch" in text
    assert "c  send  turn 5  not begun, side effects" in text
    assert "not asked: it is made when the agent comes to it" in text
    told = json.loads(run("restore", "mail:1", "--dry-run", "--json").stdout)["operations"]
    assert [(each["op_id"], each["state"]) for each in told] == [("c", "pending"), ("b", "running")]


@pytest.mark.case("C12")
@pytest.mark.parametrize("number", [4, 5, 7])
@pytest.mark.parametrize("mode", ["--fork", "--rewind"])
def test_nothing_is_restored_from_what_is_damaged_or_newer(
    run: Command, ruins: SessionFolder, root: Path, number: int, mode: str
) -> None:
    result = run("restore", f"{SESSION}:{number}", mode, "--yes")
    assert (result.exit_code, result.stdout) == (11, "")
    assert len(list_sessions(root)) == 1
    assert not (ruins.path / "HEAD").exists()


def test_a_present_that_is_damaged_is_said_in_the_plan(run: Command, ruins: SessionFolder) -> None:
    run("verify", "--session", SESSION)
    text = run("restore", f"{SESSION}:1", "--rewind", "--dry-run").stdout
    assert "where it stands now can't be read, so there is no way back to that" in text


def test_a_copy_outside_of_its_session_can_be_forked_and_not_rewound_to(
    run: Command, session: SessionFolder, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.rlmckpt"
    copy.write_bytes(session.listed()[0].path.read_bytes())
    refused = run("restore", str(copy), "--rewind")
    assert (refused.exit_code, refused.stdout) == (11, "")
    assert "--fork makes a session of it" in refused.stderr
    assert run("restore", str(copy), "--as", "mine", "--yes").stdout == "mine\n"


def test_without_a_terminal_it_asks_nobody_and_changes_nothing(run: Command, session: SessionFolder) -> None:
    result = run("restore", f"{SESSION}:1", "--rewind")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "rewind checkpoint 1" in result.stderr
    assert "--yes" in result.stderr
    assert heads(session) == [3]


@pytest.mark.parametrize(("typed", "code", "head"), [("5", 0, 1), ("y", 130, 3), ("", 130, 3)])
def test_the_turn_is_typed_to_confirm(root: Path, session: SessionFolder, typed: str, code: int, head: int) -> None:
    args = ("checkpoint", "--checkpoints", str(root), "restore", f"{SESSION}:1", "--rewind")
    ended = in_terminal(root, *args, answers=[("type the turn, 5,", f"{typed}\n")])
    assert ended.exit_code == code
    assert heads(session) == [head]


@pytest.mark.parametrize("args", [("--fork", "--rewind"), ("--rewind", "--as", "x")])
def test_options_that_exclude_each_other_are_refused(
    run: Command, session: SessionFolder, args: tuple[str, ...]
) -> None:
    assert run("restore", f"{SESSION}:1", *args, "--yes").exit_code == 2


@pytest.mark.spec("SPEC-09.23")
def test_a_running_agent_is_asked_and_nothing_is_called_done(run: Command, session: SessionFolder) -> None:
    lease = session.try_lease()
    assert lease is not None
    with lease:
        result = run("restore", f"{SESSION}:1", "--rewind", "--yes")
        assert result.exit_code == 10
        word, request_id = result.stdout.split()
        assert word == "requested"
        assert heads(session) == [3]
        assert "go back to checkpoint 1, turn" in run("request", SESSION).stdout
        assert run("request", SESSION, "--answer", request_id).exit_code == 10
        session.claim(request_id)
        session.answer(request_id, "refused", "the file is damaged")
        refused = run("request", SESSION, "--answer", request_id)
    assert (refused.exit_code, refused.stdout.startswith("refused: the file is damaged")) == (5, True)


@pytest.mark.parametrize(("state", "code"), [("applied", 0), ("refused", 5)])
def test_waiting_gives_the_agents_answer(run: Command, session: SessionFolder, state: str, code: int) -> None:
    lease = session.try_lease()
    assert lease is not None

    def agent() -> None:
        while (request := session.pending_request()) is None:
            time.sleep(0.01)
        session.claim(request.request_id)
        session.answer(request.request_id, "applied" if state == "applied" else "refused", "told")

    with lease:
        thread = threading.Thread(target=agent)
        thread.start()
        result = run("restore", f"{SESSION}:1", "--rewind", "--yes", "--wait", "30", "--json")
        thread.join()
    assert result.exit_code == code
    assert json.loads(result.stdout)["state"] == state


def test_a_request_can_be_taken_back_while_nobody_has_seen_it(run: Command, session: SessionFolder) -> None:
    lease = session.try_lease()
    assert lease is not None
    with lease:
        request_id = run("restore", f"{SESSION}:1", "--rewind", "--yes").stdout.split()[1]
        assert run("restore", f"{SESSION}:2", "--rewind", "--yes").exit_code == 5  # one waits already
        assert run("request", SESSION, "--take-back", request_id).exit_code == 0
        assert session.pending_request() is None
        assert run("request", SESSION, "--take-back", request_id).exit_code == 4


def test_a_checkpoint_is_asked_for_only_of_a_running_agent(run: Command, session: SessionFolder) -> None:
    assert run("request", SESSION, "--checkpoint").exit_code == 5
    lease = session.try_lease()
    assert lease is not None
    with lease:
        assert run("request", SESSION, "--checkpoint", "--label", "now").exit_code == 10
        request = session.pending_request()
        assert request is not None
        assert (request.kind, request.label) == ("checkpoint", "now")


def test_looking_at_an_expired_request_leaves_it_to_the_agent(run: Command, session: SessionFolder) -> None:
    session.ask(Request("checkpoint", None, "", 0, "ops", time.time_ns() - 3_600_000_000_000))
    assert run("request", SESSION).stdout.startswith("expired 1h ago by ops: save a checkpoint")
    assert (session.path / "request").exists()


def test_a_request_with_choices_is_listed_with_them_then_as_at_work_and_then_as_answered(
    run: Command, root: Path
) -> None:
    with open_session(None, "post", checkpoints=root, every=1) as session:
        session.turn({})
        session.operation("letter", "A").run(lambda: "receipt")
        session.flush()
        [operation] = json.loads(run("operations", "post:1", "--json").stdout)["operations"]
        choice = f"{operation['op_id']}=done:[7]"
        asked = run("restore", "post:1", "--rewind", "--yes", "--operation", choice)
        assert asked.exit_code == 10
        request_id = asked.stdout.split()[1]
        assert "go back to checkpoint 1, turn 1, 1 call decided" in run("request", "post").stdout
        document = json.loads(run("request", "post", "--json").stdout)
        [decision] = document["request"]["decisions"]
        assert (decision["choice"], decision["seen"], decision["value"]) == ("done", "done", [7])
        folder = open_session_folder(root, "post")
        folder.claim(request_id)
        assert run("request", "post").stdout.startswith("at work: requested")
        assert json.loads(run("request", "post", "--json").stdout)["claimed"]["request_id"] == request_id
        folder.answer(request_id, "refused", "not now")
        shown = run("request", "post")
        assert (shown.stdout.split("  ")[0], "nothing is asked" in shown.stderr) == ("refused: not now", True)
        [answer] = json.loads(run("request", "post", "--json").stdout)["answers"]
        assert (answer["request_id"], answer["state"]) == (request_id, "refused")
