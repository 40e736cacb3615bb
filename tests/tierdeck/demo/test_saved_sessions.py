"""The demo's checkpoints are what agents leave: branches, losses, files that got hurt, calls that did not end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.checkpoint import AGENT_LIMITS, CONSOLE_LIMITS, load_checkpoint, open_checkpoint
from tierdeck.checkpoint.folder import Listed, SessionFolder, list_sessions, open_session_folder, verify
from tierdeck.checkpoint.running import operations_of, questions_of
from tierdeck.demo.material import read_sessions
from tierdeck.demo.saved_sessions import NEXT_NIGHT, NIGHTLY, REFUNDS, save_sessions
from tierdeck.session import open_session

NOW = 1_790_000_000_000
DAY_NS = 86_400 * 10**9


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "checkpoints"
    save_sessions(path, NOW)
    return path


def listed(root: Path, session: str) -> list[Listed]:
    return open_session_folder(root, session).listed()


def shape(root: Path) -> list[tuple[object, ...]]:
    """All of the sessions that does not hold a drawn id."""
    found: list[tuple[object, ...]] = []
    for info in list_sessions(root):
        for each in SessionFolder(info.path, info.session_id).listed():
            said = each.summary
            facts = None if said is None else (said.created_at_ns, said.reason, said.lost, dict(said.pending))
            found.append((info.session_id, each.sequence, each.turn, each.state, each.label, each.is_pinned, facts))
    return found


def test_they_are_of_three_sessions_of_the_store_none_of_which_runs(root: Path) -> None:
    infos = list_sessions(root)
    assert [info.session_id for info in infos] == [REFUNDS, NEXT_NIGHT, NIGHTLY]
    assert {info.session_id for info in infos} <= {session.key for session in read_sessions()}
    assert not any(info.is_live or info.problem for info in infos)
    assert all((info.newest_ns or 0) < NOW * 10**6 for info in infos)


def test_two_folders_made_for_the_same_moment_differ_in_drawn_ids_alone(root: Path, tmp_path: Path) -> None:
    save_sessions(tmp_path, NOW)
    assert shape(tmp_path) == shape(root)


@pytest.mark.spec("SPEC-09.23")
def test_the_rewound_session_left_a_branch_and_goes_on_from_another(root: Path) -> None:
    found = listed(root, REFUNDS)
    assert [each.turn for each in found] == [2, 4, 6, 6]
    branches = [each.summary.branch for each in found if each.summary is not None]
    assert branches[0] == branches[1] == branches[2] != branches[3]
    assert [each.is_head for each in found] == [False, False, False, True]
    assert [each.label for each in found] == [None, "before the schema change", None, None]


@pytest.mark.spec("SPEC-09.23")
def test_calls_are_open_in_its_checkpoint_and_those_of_unknown_outcome_are_asked_about(root: Path) -> None:
    head = listed(root, REFUNDS)[-1]
    assert head.summary is not None
    assert dict(head.summary.pending) == {"pending": 1, "running": 1}
    folder = open_session_folder(root, REFUNDS)
    assert {entry.kind: entry.state for entry in operations_of(folder)} == {
        "send mail": "pending", "migrate": "running", "push": "running",
    }  # fmt: skip
    assert [question.about.kind for question in questions_of(folder)] == ["migrate", "push"]


@pytest.mark.spec("SPEC-09.20")
def test_an_open_file_and_a_generator_are_listed_as_lost_and_the_rest_is_there(root: Path) -> None:
    good = listed(root, NIGHTLY)[1]
    assert good.is_pinned
    with open_checkpoint(good.path, limits=AGENT_LIMITS) as file:
        checkpoint = load_checkpoint(file)
    assert sorted(loss.variable or "" for loss in checkpoint.losses) == ["pages", "report"]
    assert checkpoint.repl_state["checked"] == ["httpx", "pydantic", "sqlalchemy", "stripe", "uvicorn", "orjson"]


@pytest.mark.spec("SPEC-09.26")
def test_the_damaged_file_and_the_newer_one_are_told_apart(root: Path) -> None:
    found = listed(root, NIGHTLY)
    assert [each.state for each in found] == ["not verified", "not verified", "damaged", "newer"]
    assert [verify(each.path, CONSOLE_LIMITS).state for each in found] == ["ok", "ok", "damaged", "newer"]


@pytest.mark.spec("SPEC-09.23")
def test_the_forked_session_says_where_it_came_from_and_can_be_resumed(tmp_path: Path) -> None:
    save_sessions(tmp_path, NOW)
    first = listed(tmp_path, NEXT_NIGHT)[0]
    assert first.summary is not None
    assert first.summary.origin is not None
    assert first.summary.origin.session_id == NIGHTLY
    with open_session(None, NEXT_NIGHT, checkpoints=tmp_path, every=0) as session:
        back = session.resume()
    assert back is not None
    assert sorted(back.variables) == ["advisories", "checked", "last"]
