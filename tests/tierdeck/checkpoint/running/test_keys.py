"""Sessions whose checkpoints are sealed with a key: gone on from, forked, taken back, imported, compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.family.test_family_file import family_json
from tests.tierdeck.checkpoint.folder.making import packed
from tierdeck.checkpoint import CONSOLE_LIMITS, open_checkpoint, read_head
from tierdeck.checkpoint.family import import_family_checkpoints
from tierdeck.checkpoint.folder import RetentionPolicy, diff, open_session_folder, plan_prune, verify
from tierdeck.checkpoint.running import Rewound, fork, questions_at, rewind
from tierdeck.config import CheckpointSettings
from tierdeck.errors import CheckpointKeyError, InvalidValueError
from tierdeck.session import open_session

KEY, OTHER = b"the operator's", b"somebody's"


def run(root: Path, turns: int, key: bytes | None = KEY, session: str = "s") -> None:
    with open_session(None, session, checkpoints=root, every=1, checkpoint_key=key) as opened:
        opened.resume()
        for _ in range(turns):
            opened.turn({"x": opened.turns})
            opened.flush()
        assert opened.problems == ()


@pytest.mark.spec("SPEC-09.22", "SPEC-09.23")
def test_a_session_goes_on_with_its_key_and_with_no_other(tmp_path: Path) -> None:
    run(tmp_path, 2)
    run(tmp_path, 1)
    folder = open_session_folder(tmp_path, "s", key=KEY)
    assert [each.turn for each in folder.listed()] == [1, 2, 3]
    assert all(read_head(each.path).is_keyed for each in folder.listed())
    for wrong, said in ((OTHER, "another one"), (None, "none is set")):
        with (
            open_session(None, "s", checkpoints=tmp_path, every=1, checkpoint_key=wrong) as session,
            pytest.raises(CheckpointKeyError, match=f"none of its checkpoints can be read: .*{said}"),
        ):
            session.resume()
    with open_session(None, "s", checkpoints=tmp_path, every=1, checkpoint_key=KEY) as session:
        back = session.resume()
        assert back is not None
        assert (back.checkpoint.turn, back.skipped) == (3, ())


@pytest.mark.spec("SPEC-09.22")
def test_a_file_that_somebody_without_the_key_put_there_is_passed_over_and_named(tmp_path: Path) -> None:
    run(tmp_path, 2)
    branch = open_session_folder(tmp_path, "s").head()
    assert branch is not None
    foreign = packed(session_id="s", turn=9, branch=branch.branch)
    open_session_folder(tmp_path, "s").save(foreign)
    open_session_folder(tmp_path, "s", key=OTHER).save(foreign)
    with open_session(None, "s", checkpoints=tmp_path, every=1, checkpoint_key=KEY) as session:
        back = session.resume()
        assert back is not None
        assert back.checkpoint.turn == 2
        assert ["another one" in why or "made without one" in why for _, why in back.skipped] == [True, True]
        assert "Passed over:" in back.note


@pytest.mark.spec("SPEC-09.23")
def test_fork_and_rewind_need_the_key_and_write_with_it(tmp_path: Path) -> None:
    run(tmp_path, 3)
    without, keyed = open_session_folder(tmp_path, "s"), open_session_folder(tmp_path, "s", key=KEY)
    first = keyed.listed()[0]
    assert questions_at(first.path, "fork") == (), "looking needs none"
    for wrong in (None, OTHER):
        with pytest.raises(CheckpointKeyError):
            fork(tmp_path, first.path, as_="t", key=wrong)
    with pytest.raises(CheckpointKeyError):
        rewind(without, first.file, by="ann")
    assert keyed.switched_head() is None
    made = fork(tmp_path, first.path, as_="t", key=KEY)
    assert verify(made.path, CONSOLE_LIMITS, key=KEY).state == "ok"
    assert isinstance(rewind(keyed, first.file, by="ann"), Rewound)
    for session in ("s", "t"):
        run(tmp_path, 1, session=session)
        assert open_session_folder(tmp_path, session).listed()[-1].turn == 2


@pytest.mark.spec("SPEC-09.23")
def test_a_live_agent_goes_back_to_what_was_sealed_with_its_key(tmp_path: Path) -> None:
    with open_session(None, "s", checkpoints=tmp_path, every=1, checkpoint_key=KEY) as session:
        for x in range(2):
            session.turn({"x": x})
            session.flush()
        folder = open_session_folder(tmp_path, "s")
        asked = rewind(folder, folder.listed()[0].file, by="ann")
        back = session.turn({"x": 2})
        assert back is not None
        assert back.variables["x"] == 0
        answer = folder.answer_to(getattr(asked, "request_id", ""))
        assert answer is not None
        assert answer.state == "applied"
    assert all(read_head(each.path).is_keyed for each in folder.listed())


def test_the_key_comes_from_the_settings_file_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(KEY + b"\n")
    path.chmod(0o600)
    keep = CheckpointSettings(key_file=str(path))
    with open_session(None, "s", checkpoints=tmp_path / "all", every=1, keep=keep) as session:
        session.turn({})
    [listed] = open_session_folder(tmp_path / "all", "s").listed()
    assert verify(listed.path, CONSOLE_LIMITS, key=KEY).state == "ok"
    path.chmod(0o644)
    with pytest.raises(CheckpointKeyError, match="others may read it"):
        open_session(None, "t", checkpoints=tmp_path / "all", keep=keep)
    with pytest.raises(InvalidValueError, match="1 to 64 bytes"):
        open_session(None, "t", checkpoints=tmp_path / "all", checkpoint_key=b"")
    assert [each.name for each in (tmp_path / "all").iterdir()] == [listed.folder.name], "no session was opened"


def test_what_is_taken_over_is_sealed_with_the_key(tmp_path: Path) -> None:
    source = tmp_path / "old.json"
    source.write_bytes(family_json(session_id="s"))
    found = import_family_checkpoints(tmp_path / "all", [source], key=KEY)
    assert (len(found.taken), found.refused) == (1, ())
    path = found.taken[0].path
    assert path is not None
    assert verify(path, CONSOLE_LIMITS, key=KEY).state == "ok"


def test_two_sealed_checkpoints_are_compared_and_the_newest_that_verifies_is_kept(tmp_path: Path) -> None:
    run(tmp_path, 4)
    folder = open_session_folder(tmp_path, "s", key=KEY)
    first, *_, last = folder.listed()
    with open_checkpoint(first.path, key=KEY) as a, open_checkpoint(last.path, key=KEY) as b:
        assert [change.name for change in diff(a, b).changed if change.after.kind == "variable"] == ["x"]
    policy = RetentionPolicy(last_per_branch=1)
    assert len(plan_prune(folder, policy).delete) == 3
    assert plan_prune(open_session_folder(tmp_path, "s"), policy).delete == (), "without the key none verifies"
