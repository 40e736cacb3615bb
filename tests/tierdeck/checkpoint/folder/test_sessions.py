"""All sessions under a root, the one used last first, whatever else lies there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import SESSION, files, filled, flip, opened, packed
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint.folder import list_sessions
from tierdeck.checkpoint.folder.names import session_folder_name


@pytest.mark.spec("SPEC-09.22")
def test_sessions_are_listed_newest_first_with_count_size_and_life(tmp_path: Path) -> None:
    for session_id, at_ns in (("old", 100), ("new", 300), ("b", 200), ("a", 200)):
        opened(tmp_path, session_id).save(packed(session_id=session_id, created_at_ns=at_ns))
    opened(tmp_path, "empty")
    found = list_sessions(tmp_path)
    assert [each.session_id for each in found] == ["new", "a", "b", "old", "empty"]
    assert [each.newest_ns for each in found] == [300, 200, 200, 100, None]
    assert [each.checkpoints for each in found] == [1, 1, 1, 1, 0]
    assert found[0].size_bytes == sum(each.size_bytes for each in opened(tmp_path, "new").listed())
    assert [each.problem for each in found] == [None] * 5
    with other_process(tmp_path, "old") as other:
        other.do("lease = folder.try_lease()")
        assert [each.session_id for each in list_sessions(tmp_path) if each.is_live] == ["old"]


def test_a_root_that_is_not_there_has_no_sessions_and_is_not_made(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_other_things_in_the_root_are_passed_over(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / session_folder_name("file")).touch()
    assert [each.session_id for each in list_sessions(tmp_path)] == [SESSION]


@pytest.mark.parametrize(
    "text", [None, "{", '{"session_id": "another"}', '{"session_id": 5}', '{"session_id": ""}']
)
def test_an_id_that_its_file_does_not_give_comes_from_a_checkpoint(tmp_path: Path, text: str | None) -> None:
    folder = filled(tmp_path, 2)
    path = folder.path / "session.json"
    path.unlink() if text is None else path.write_text(text)
    (found,) = list_sessions(tmp_path)
    assert (found.session_id, found.problem) == (SESSION, None)


def test_a_session_whose_files_are_all_damaged_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    for each in folder.listed():
        flip(each.path, 60)
    (found,) = list_sessions(tmp_path)
    assert (found.session_id, found.checkpoints, found.newest_ns) == (SESSION, 2, None)
    assert found.problem == "none of its newest checkpoints can be read"
    (folder.path / "session.json").unlink()
    (found,) = list_sessions(tmp_path)
    assert (found.session_id, found.problem) == (folder.path.name, "its id can't be read")


def test_a_folder_moved_to_another_root_is_the_same_session(tmp_path: Path) -> None:
    folder = filled(tmp_path / "one", 2)
    before = files(folder)
    shutil.move(folder.path, tmp_path / folder.path.name)
    assert files(opened(tmp_path)) == before
