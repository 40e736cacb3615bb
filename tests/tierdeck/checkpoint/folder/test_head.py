"""Where a session goes on: HEAD, what was saved on its branch since, or what can be told without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import (
    BRANCH,
    OTHER_BRANCH,
    SESSION,
    files,
    filled,
    flip,
    opened,
    packed,
    save_all,
)
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint.folder import HeadPointer, SessionFolder
from tierdeck.errors import CheckpointError, ConflictError, InvalidValueError, NotFoundError


def tip(folder: SessionFolder) -> str | None:
    """The file that a listing marks as HEAD; the same as `head` says."""
    marked = [each.file for each in folder.listed() if each.is_head]
    head = folder.head()
    assert marked == ([] if head is None else [head.file])
    return marked[0] if marked else None


@pytest.mark.spec("SPEC-09.22")
def test_without_a_switch_a_session_stands_at_its_newest(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    assert folder.head() is None
    save_all(folder, 3)
    assert folder.head() == HeadPointer(files(folder)[2], BRANCH, 0)
    flip(folder.listed()[2].path, 60)
    assert tip(folder) == files(folder)[1]


@pytest.mark.case("K30")
@pytest.mark.spec("SPEC-09.22")
def test_head_goes_back_to_any_checkpoint_and_on_with_its_new_branch(tmp_path: Path) -> None:
    folder = filled(tmp_path, 9)
    third = files(folder)[2]
    pointer = folder.switch_head(third, OTHER_BRANCH, expected_generation=0)
    assert pointer == HeadPointer(third, OTHER_BRANCH, 1)
    assert tip(folder) == third
    folder.save(packed(10, branch=BRANCH))
    assert tip(folder) == third, "what is saved on the abandoned branch moves nothing"
    saved = folder.save(packed(4, branch=OTHER_BRANCH))
    assert folder.head() == HeadPointer(saved.path.name, OTHER_BRANCH, 1)
    assert tip(folder) == saved.path.name
    assert len(files(folder)) == 11


def test_a_switch_that_saw_another_generation_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    first, second, _ = files(folder)
    folder.switch_head(first, OTHER_BRANCH, expected_generation=0)
    with pytest.raises(ConflictError, match="generation 1, seen was 0"):
        folder.switch_head(second, BRANCH, expected_generation=0)
    assert tip(folder) == first
    assert folder.switch_head(second, BRANCH, expected_generation=1, last_request="r").generation == 2
    assert folder.switched_head() == HeadPointer(second, BRANCH, 2, "r")


def test_saves_do_not_count_as_switches(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=0)
    save_all(folder, 5, branch=OTHER_BRANCH)
    assert folder.switch_head(files(folder)[1], BRANCH, expected_generation=1).generation == 2


def test_of_two_processes_that_switch_at_once_one_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    code = (
        "try:\n    result = folder.switch_head({!r}, '{}', expected_generation=0).generation\n"
        "except TierdeckError as e:\n    result = type(e).__name__\n"
    )
    with other_process(tmp_path, SESSION) as one, other_process(tmp_path, SESSION) as two:
        one.begin(code.format(files(folder)[0], OTHER_BRANCH))
        two.begin(code.format(files(folder)[1], BRANCH))
        assert sorted(map(str, (one.result(), two.result()))) == ["1", "ConflictError"]


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe",
        b'{"file": "../../etc/passwd", "branch": "aaaaaaaa", "generation": 1}',
        b'{"file": "00000001-1-aaaaaaaa.rlmckpt", "branch": "x", "generation": 1}',
        b'{"file": "00000001-1-aaaaaaaa.rlmckpt", "branch": "aaaaaaaa", "generation": true}',
        b'{"file": "00000001-1-aaaaaaaa.rlmckpt", "branch": "aaaaaaaa", "generation": 1e400}',
        b"[" * 100_000, b'{"generation": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_a_head_that_cant_be_read_is_said_and_the_newest_that_verifies_is_taken(
    tmp_path: Path, text: bytes
) -> None:
    folder = filled(tmp_path, 3)
    flip(folder.listed()[2].path)
    (folder.path / "HEAD").write_bytes(text)
    head = folder.head()
    assert head is not None
    assert (head.file, head.branch, head.generation) == (files(folder)[1], BRANCH, -1)
    assert head.problem is not None
    assert "HEAD" in head.problem
    assert "newest checkpoint that verifies" in head.problem
    assert any("HEAD" in problem for problem in folder.problems())
    assert not any(each.is_head for each in folder.listed())
    with pytest.raises(ConflictError):
        folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=0)
    repaired = folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=-1)
    assert repaired.generation > 1_000_000, "no request from before fits it"
    assert folder.problems() == []


def test_a_head_that_names_what_is_gone_says_so(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=0)
    folder.listed()[0].path.unlink()
    head = folder.head()
    assert head is not None
    assert "is not there" in (head.problem or "")
    assert head.generation == 1


def test_head_is_switched_only_to_what_is_there(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    for file in ("00000002-1-aaaaaaaa.rlmckpt", "../x", "HEAD", ""):
        with pytest.raises(NotFoundError, match="has none"):
            folder.switch_head(file, OTHER_BRANCH, expected_generation=0)
    with pytest.raises(InvalidValueError, match="8 hex digits"):
        folder.switch_head(files(folder)[0], "main", expected_generation=0)
    assert folder.switched_head() is None


def test_a_disk_that_refuses_leaves_head_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(tmp_path, 2)
    folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=0)

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tierdeck.checkpoint.folder.disk.os.fsync", full)
    before = sorted(each.name for each in folder.path.iterdir())
    with pytest.raises(CheckpointError, match="No space left") as found:
        folder.switch_head(files(folder)[1], BRANCH, expected_generation=1)
    assert "prune" in (found.value.hint or "")
    assert folder.switched_head() == HeadPointer(files(folder)[0], OTHER_BRANCH, 1)
    assert sorted(each.name for each in folder.path.iterdir()) == before
