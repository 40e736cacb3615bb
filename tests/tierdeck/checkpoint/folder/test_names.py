"""No id of a session leaves the root, and no two share a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck.checkpoint.folder.making import files, filled, opened
from tierdeck.checkpoint.folder import list_sessions, open_session_folder
from tierdeck.checkpoint.folder.names import (
    FileName,
    is_session_folder_name,
    parse_file_name,
    parse_trash_name,
    session_folder_name,
)
from tierdeck.errors import CheckpointError, InvalidValueError, NotFoundError

HOSTILE = (
    "../../x", "/abs", "a/b", "a\\b", "CON", "nul.txt", "a\x00b", ".", "..", "-rf", "~root", "*", "[a-z]?", "a b",
    "\n", "é", "\ud800", "proj", "Proj", "proj_b", "proj-b", "x" * 300, "%2e%2e%2f", "$(id)",
    "ｐｒｏｊ", "\u202eabc",
)  # fmt: skip


@pytest.mark.case("C19")
@pytest.mark.spec("SPEC-09.22")
def test_no_id_puts_a_file_outside_the_root_or_meets_another_id(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for session_id in HOSTILE:
        filled(root, 1, session_id)
    assert os.listdir(tmp_path) == ["root"]
    assert len(os.listdir(root)) == len(HOSTILE)
    assert all(is_session_folder_name(name) for name in os.listdir(root))
    assert {each.session_id for each in list_sessions(root)} == set(HOSTILE)
    for session_id in HOSTILE:
        (listed,) = open_session_folder(root, session_id).listed()
        assert listed.summary is not None
        assert listed.summary.session_id == session_id


@pytest.mark.case("C19")
def test_a_session_never_sees_the_checkpoints_of_one_whose_id_begins_alike(tmp_path: Path) -> None:
    filled(tmp_path, 3, "proj_b")
    with pytest.raises(NotFoundError):
        open_session_folder(tmp_path, "proj")
    folder = filled(tmp_path, 1, "proj")
    assert len(files(folder)) == 1


@pytest.mark.case("C19")
@pytest.mark.parametrize("session_id", ["", "x" * 1025, "é" * 513])
def test_an_empty_or_endless_id_is_refused(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(InvalidValueError, match="1 to 1,024 bytes"):
        open_session_folder(tmp_path, session_id, create=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("session_id", [5, None, b"bytes", ["a"]])
def test_an_id_that_is_no_text_is_refused(tmp_path: Path, session_id: Any) -> None:
    with pytest.raises(InvalidValueError, match="an id is text"):
        open_session_folder(tmp_path, session_id, create=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.case("C19")
def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / session_folder_name("a")).symlink_to(elsewhere)
    for create in (True, False):
        with pytest.raises(CheckpointError, match="no folder"):
            open_session_folder(root, "a", create=create)
    assert os.listdir(elsewhere) == []
    assert list_sessions(root) == []


@pytest.mark.case("C19")
def test_a_file_of_another_session_is_not_taken_for_one_of_this(tmp_path: Path) -> None:
    mine, others = filled(tmp_path, 1, "mine"), filled(tmp_path, 2, "others")
    stray = others.listed()[1]
    (mine.path / stray.file).write_bytes(stray.path.read_bytes())
    found = mine.listed()
    assert [each.state for each in found] == ["not verified", "damaged"]
    assert "another session: 'others'" in (found[1].why or "")
    good, skipped = mine.newest_good()
    assert good is not None
    assert good.file == found[0].file
    assert [each.file for each in skipped] == [stray.file]


@given(st.text(st.characters(), min_size=1, max_size=200))
def test_the_folder_of_any_id_is_one_plain_component(session_id: str) -> None:
    name = session_folder_name(session_id)
    assert is_session_folder_name(name)
    assert len(name) <= 80


@given(st.integers(0, 10**12 - 1), st.integers(0, 10**20 - 1), st.integers(0, 2**32 - 1))
def test_a_file_name_reads_back_as_its_parts(sequence: int, turn: int, tag: int) -> None:
    name = FileName(sequence, turn, f"{tag:08x}")
    assert parse_file_name(str(name)) == name


@pytest.mark.parametrize(
    "name",
    [
        "1-1-aaaaaaaa.rlmckpt", "00000001-1-aaaaaaaa.rlmckpt.tmp", ".part-00000001-1-aaaaaaaa.rlmckpt",
        "00000001-1-AAAAAAAA.rlmckpt", "00000001--aaaaaaaa.rlmckpt", "0000000１-1-aaaaaaaa.rlmckpt",
        "00000001-1-aaaaaaaa.rlmckpt\n", "../00000001-1-aaaaaaaa.rlmckpt",
    ],
)  # fmt: skip
def test_other_names_are_no_checkpoints(name: str) -> None:
    assert parse_file_name(name) is None
    assert parse_trash_name(f"1-a-{name}") is None


def test_a_folder_is_its_owners_alone(tmp_path: Path) -> None:
    folder = opened(tmp_path / "root")
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert all((folder.path / file).stat().st_mode & 0o777 == 0o600 for file in os.listdir(folder.path))
