"""What retention took can be put back for seven days, and no sequence is ever given twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import NOW_NS, files, filled, packed, save_all
from tierdeck.checkpoint.folder import (
    RetentionPolicy,
    SessionFolder,
    empty_trash,
    list_sessions,
    list_trash,
    plan_prune,
    prune,
    restore_from_trash,
)
from tierdeck.checkpoint.folder.retention import DAY_NS
from tierdeck.errors import CheckpointError, ConflictError, DamagedCheckpointError, NotFoundError

ONE = RetentionPolicy(last_per_branch=1)


def pruned(root: Path, count: int = 4, *, is_automatic: bool = False) -> SessionFolder:
    """A session of which all but the last lie in the trash."""
    folder = filled(root, count)
    prune(folder, plan_prune(folder, ONE), is_automatic=is_automatic)
    return folder


def later(folder: SessionFolder, days: float) -> None:
    """Let time pass."""
    folder.clock_ns = lambda: NOW_NS + int(days * DAY_NS)


def test_what_lies_in_the_trash_is_listed_counted_and_put_back_as_it_was(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    before, size_bytes = {each.file: each.path.read_bytes() for each in folder.listed()}, list_sessions(tmp_path)
    prune(folder, plan_prune(folder, ONE))
    trashed = list_trash(folder)
    assert [(each.sequence, each.turn, each.is_automatic) for each in trashed] == [(1, 1, False), (2, 2, False)]
    assert list_sessions(tmp_path)[0].size_bytes == size_bytes[0].size_bytes
    assert list_sessions(tmp_path)[0].checkpoints == 1
    path = restore_from_trash(folder, trashed[0].file)
    assert path.read_bytes() == before[trashed[0].file]
    assert [each.turn for each in folder.listed()] == [1, 3]
    with pytest.raises(NotFoundError, match="not there"):
        restore_from_trash(folder, trashed[0].file)


def test_what_is_put_back_overwrites_nothing(tmp_path: Path) -> None:
    folder = pruned(tmp_path)
    (trashed, *_) = list_trash(folder)
    (folder.path / trashed.file).write_bytes(b"mine")
    with pytest.raises(ConflictError, match="has one of that name"):
        restore_from_trash(folder, trashed.file)
    assert (folder.path / trashed.file).read_bytes() == b"mine"
    assert trashed.path.exists()


def test_after_seven_days_it_is_unlinked_by_the_next_retention(tmp_path: Path) -> None:
    folder = pruned(tmp_path)
    later(folder, 6.9)
    assert prune(folder, plan_prune(folder, ONE)).emptied.files == ()
    later(folder, 7.1)
    emptied = prune(folder, plan_prune(folder, ONE)).emptied
    assert len(emptied.files) == 3
    assert emptied.size_bytes > 0
    assert list_trash(folder) == []


def test_what_a_person_pruned_stays_its_seven_days_whatever_it_takes(tmp_path: Path) -> None:
    folder = pruned(tmp_path)
    assert empty_trash(folder, max_automatic_bytes=0).files == ()
    save_all(folder, 3)
    plan = plan_prune(folder, RetentionPolicy(last_per_branch=1, max_trash_bytes=0))
    report = prune(folder, plan, is_automatic=True)
    assert report.emptied.files == report.moved
    assert [each.is_automatic for each in list_trash(folder)] == [False, False, False]


def test_automatic_retention_drops_its_oldest_first(tmp_path: Path) -> None:
    folder = pruned(tmp_path, 5, is_automatic=True)
    size_bytes = list_trash(folder)[0].size_bytes
    emptied = empty_trash(folder, max_automatic_bytes=2 * size_bytes)
    assert [file[:8] for file in emptied.files] == ["00000001", "00000002"]
    assert [each.sequence for each in list_trash(folder)] == [3, 4]


@pytest.mark.case("C10")
def test_no_sequence_is_given_twice_though_the_newest_went_to_the_trash_and_out_of_it(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    folder.switch_head(files(folder)[0], "cccccccc", expected_generation=0)
    folder.set_pin(files(folder)[0], True)
    trash = folder.path / "trash"
    trash.mkdir()
    for file in files(folder)[1:]:
        (folder.path / file).rename(trash / f"{NOW_NS // 1_000_000}-m-{file}")
    assert folder.save(packed()).sequence == 4
    (folder.path / files(folder)[-1]).rename(trash / f"{NOW_NS // 1_000_000}-m-{files(folder)[-1]}")
    later(folder, 8)
    assert len(empty_trash(folder).files) == 3
    assert folder.save(packed()).sequence == 5
    assert folder.listed()[0].is_pinned


def test_the_trash_is_not_emptied_while_the_marks_cant_be_read(tmp_path: Path) -> None:
    folder = pruned(tmp_path)
    later(folder, 8)
    (folder.path / "marks.json").write_text("{")
    with pytest.raises(DamagedCheckpointError):
        empty_trash(folder)
    assert len(list_trash(folder)) == 3


def test_a_link_in_the_place_of_the_trash_is_not_followed(tmp_path: Path) -> None:
    folder = filled(tmp_path / "root", 3)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder.path / "trash").symlink_to(elsewhere)
    assert list_trash(folder) == []
    with pytest.raises(CheckpointError, match="no folder"):
        prune(folder, plan_prune(folder, ONE))
    assert list(elsewhere.iterdir()) == []
    assert len(files(folder)) == 3
