"""How the run of a session stands: running, ended, or stopped without an end; told from what its process left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import packed
from tests.tierdeck.checkpoint.running.agent import Plan
from tests.tierdeck.checkpoint.running.agent_process import failure_of, run_agent, stepped
from tierdeck.checkpoint.folder import list_sessions, open_session_folder
from tierdeck.checkpoint.folder.lease import LEASE_FILE, RunState
from tierdeck.checkpoint.running import fork, rewind
from tierdeck.errors import ConflictError
from tierdeck.session import open_session


def runs(root: Path) -> dict[str, RunState]:
    return {info.session_id: info.run for info in list_sessions(root)}


@pytest.mark.spec("SPEC-09.22")
@pytest.mark.parametrize("every", [1, 5])
def test_an_agent_runs_until_its_process_is_killed_and_ended_only_when_it_came_to_its_end(
    tmp_path: Path, every: int
) -> None:
    with stepped(Plan(str(tmp_path), every=every)) as agent:
        agent.step(4)
        assert runs(tmp_path) == {"run-1": "running"}
        agent.kill()
        assert runs(tmp_path) == {"run-1": "stopped"}
    with stepped(Plan(str(tmp_path), every=every)) as agent:
        assert runs(tmp_path) == {"run-1": "running"}
        agent.finish()
    assert runs(tmp_path) == {"run-1": "ended"}


@pytest.mark.spec("SPEC-09.22")
def test_an_agent_that_failed_was_stopped_without_an_end(tmp_path: Path) -> None:
    plan = Plan(str(tmp_path), session="s", every=1)
    run_agent(Plan(str(tmp_path), session="s", every=1, dies="2:mail"))
    assert "UndecidedOperationError" in failure_of(plan)
    assert runs(tmp_path) == {"s": "stopped"}
    session = open_session(None, "s", checkpoints=tmp_path, every=0)
    session.end()
    assert runs(tmp_path) == {"s": "ended"}


@pytest.mark.spec("SPEC-09.22")
def test_a_fork_that_nobody_took_up_has_no_run_and_a_rewind_says_nothing_of_one(tmp_path: Path) -> None:
    run_agent(Plan(str(tmp_path), every=1, dies="3:model", waits=True))
    first = open_session_folder(tmp_path, "run-1").listed()[0]
    fork(tmp_path, first.path, as_="fork")
    rewind(open_session_folder(tmp_path, "run-1"), first.file, by="ann")
    assert runs(tmp_path) == {"fork": "unknown", "run-1": "stopped"}


def test_a_session_that_an_older_version_ended_is_known_by_its_last_checkpoint(tmp_path: Path) -> None:
    for name, reason in (("ended", "exit"), ("killed", "auto")):
        folder = open_session_folder(tmp_path, name, create=True)
        folder.save(packed(session_id=name, reason=reason))
        (folder.path / LEASE_FILE).touch()
    assert runs(tmp_path) == {"ended": "ended", "killed": "unknown"}


@pytest.mark.parametrize("left", [b"", b"endless", b"ended", b"\xff" * 4096])
def test_what_the_lease_says_is_believed_only_as_it_was_written(tmp_path: Path, left: bytes) -> None:
    folder = open_session_folder(tmp_path, "s", create=True)
    (folder.path / LEASE_FILE).write_bytes(left)
    assert runs(tmp_path) == {"s": "unknown"}


def test_a_run_that_was_refused_says_nothing_of_the_one_that_goes_on(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path):
        with pytest.raises(ConflictError), open_session(None, "s", checkpoints=tmp_path):
            pass
        assert runs(tmp_path) == {"s": "running"}
    assert runs(tmp_path) == {"s": "ended"}
