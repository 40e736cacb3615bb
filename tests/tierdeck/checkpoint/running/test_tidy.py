"""What is taken away after saves, and what a session that stands in an odd place does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.checkpoint.folder import RetentionPolicy, SessionFolder, list_trash, open_session_folder
from tierdeck.checkpoint.journal import journalled_branches
from tierdeck.checkpoint.running import Asked, Rewound, rewind, tidy
from tierdeck.config import CheckpointSettings
from tierdeck.errors import ConflictError
from tierdeck.session import open_session

KEEP_ONE = CheckpointSettings(every_turns=1, keep_last=1)


def run(root: Path, turns: int, *, resumes: bool = False, keep: CheckpointSettings = KEEP_ONE) -> SessionFolder:
    """A session of so many more turns, each of them with a call and a checkpoint."""
    with open_session(None, "s", checkpoints=root, keep=keep) as session:
        if resumes:
            assert session.resume() is not None
        for _ in range(turns):
            session.operation("tool", session.turns).run(lambda: None)
            session.turn({"n": session.turns + 1})
            session.flush()
    return open_session_folder(root, "s")


@pytest.mark.case("K14", "K15")
def test_journals_of_branches_that_nothing_can_come_back_to_go(tmp_path: Path) -> None:
    folder = run(tmp_path, 2)
    [first] = journalled_branches(folder.path)
    run(tmp_path, 2)
    assert len(journalled_branches(folder.path)) == 2, "the first run's last checkpoint is kept, and its journal"
    for each in folder.listed()[:-1]:
        each.path.unlink()
    for trashed in list_trash(folder):
        trashed.path.unlink()
    tidy(folder, RetentionPolicy())
    assert first not in journalled_branches(folder.path)
    assert len(journalled_branches(folder.path)) == 1


def test_no_journal_goes_while_a_checkpoint_can_not_be_read_or_may_come_back_from_the_trash(tmp_path: Path) -> None:
    folder = run(tmp_path, 1, keep=CheckpointSettings(every_turns=1))
    run(tmp_path, 1, keep=CheckpointSettings(every_turns=1))
    oldest = folder.listed()[0]
    oldest.path.write_bytes(b"\0" * 64)
    tidy(folder, RetentionPolicy())
    assert len(journalled_branches(folder.path)) == 2
    oldest.path.unlink()
    run(tmp_path, 1, keep=CheckpointSettings(every_turns=1))
    assert len(journalled_branches(folder.path)) == 2, "of the unreadable one nothing is left"
    tidy(folder, RetentionPolicy(max_bytes=1))
    assert (len(folder.listed()), len(list_trash(folder))) == (1, 1)
    assert len(journalled_branches(folder.path)) == 2


def test_marks_that_can_not_be_read_stop_the_pruning_and_not_the_saves(tmp_path: Path) -> None:
    folder = run(tmp_path, 1)
    (folder.path / "marks.json").write_text("[")
    with open_session(None, "s", checkpoints=tmp_path, keep=KEEP_ONE) as session:
        for turn in range(3):
            session.turn({"n": turn})
            session.flush()
        assert session.save_problem is None
        assert any("marks.json" in said for said in session.problems)
    assert len(folder.listed()) == 4


def test_when_heads_file_is_gone_the_newest_that_verifies_is_taken_on_a_branch_of_its_own(tmp_path: Path) -> None:
    folder = run(tmp_path, 4, keep=CheckpointSettings(every_turns=1))
    second = folder.listed()[1]
    rewound = rewind(folder, second.file, by="ann")
    assert isinstance(rewound, Rewound)
    second.path.unlink()
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        back = session.resume()
        assert back is not None
        assert (session.turns, session.branch not in {rewound.branch}) == (4, True)
        assert f"HEAD names {second.file}, which is not there" in back.note
    head = folder.head()
    assert head is not None
    assert head.problem is None


def test_an_explicit_path_beats_a_request_which_is_refused_since_head_was_switched(tmp_path: Path) -> None:
    folder = run(tmp_path, 4, keep=CheckpointSettings(every_turns=1))
    first, second, *_ = folder.listed()
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        asked = rewind(folder, first.file, by="ann")
        with pytest.raises(ConflictError, match="ann asked for rewind before"):
            rewind(folder, first.file, by="bob")
        back = session.resume(second.path)
        assert back is not None
        assert session.turns == 2
        session.turn({"n": 3})
    assert isinstance(asked, Asked)
    answer = folder.answer_to(asked.request_id)
    assert answer is not None
    assert (answer.state, answer.why) == (
        "refused",
        f"restore checkpoint: HEAD was switched since it was asked for: it is at {second.file} "
        "(generation 1, seen was 0)",
    )
