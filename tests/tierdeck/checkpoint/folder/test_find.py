"""A checkpoint is found by path, by session and sequence, or by how its id begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import files, filled, opened, packed
from tests.tierdeck.checkpoint.sample import file_bytes
from tierdeck.checkpoint.folder import find_checkpoint
from tierdeck.errors import AmbiguousIdError, NotFoundError


def test_each_way_leads_to_the_same_checkpoint(tmp_path: Path) -> None:
    folder = opened(tmp_path, "a:b:1")
    for turn in range(1, 4):
        folder.save(packed(turn, session_id="a:b:1", checkpoint_id=f"abcd{turn}" + "0" * 11))
    filled(tmp_path, 3, "a:b")
    second = folder.listed()[1]
    folder.set_label(second.file, "found")
    for text in ("a:b:1:2", "a:b:1:00000002", "abcd2", "abcd200000000000", str(second.path), second.file):
        found = find_checkpoint(tmp_path, text)
        assert found.listed.path == second.path
        assert found.listed.label == "found"
        assert found.folder is not None
        assert found.folder.session_id == "a:b:1"


def test_several_that_begin_so_are_named(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    for digit in "123":
        folder.save(packed(checkpoint_id=f"abcd{digit}" + "0" * 11))
    other = opened(tmp_path, "other")
    other.save(packed(session_id="other", checkpoint_id="abcd4" + "0" * 11))
    with pytest.raises(AmbiguousIdError) as found:
        find_checkpoint(tmp_path, "abcd")
    assert sorted(found.value.matches) == [f"abcd{digit}" + "0" * 11 for digit in "1234"]


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "abc", "ABCD", "agent-7:9", "agent-7:", ":1", "agent-7", "nobody:1", "ffffffff",
        "../../etc/passwd", "/none.rlmckpt", "a\0.rlmckpt", "00000009-1-aaaaaaaa.rlmckpt",
        "agent-7:9999999999999999", "x" * 1100 + ":1", "x" * 300 + ".rlmckpt",
    ],
)  # fmt: skip
def test_what_names_none_says_so(tmp_path: Path, text: str) -> None:
    filled(tmp_path, 2)
    with pytest.raises(NotFoundError, match="find checkpoint"):
        find_checkpoint(tmp_path, text)


def test_a_file_that_lies_elsewhere_has_no_session(tmp_path: Path) -> None:
    path = tmp_path / "sent by mail.rlmckpt"
    path.write_bytes(file_bytes())
    found = find_checkpoint(tmp_path / "root", str(path))
    assert found.folder is None
    assert found.listed.summary is not None
    assert (found.listed.turn, found.listed.label) == (5, "before the merge")


def test_a_damaged_one_is_found_by_name_and_sequence(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    folder.listed()[0].path.write_bytes(b"gone")
    for text in (files(folder)[0], "agent-7:1"):
        assert find_checkpoint(tmp_path, text).listed.state == "damaged"
