"""A file is there whole or not at all, for its owner alone, and never in another's place."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.sample import file_bytes
from tierdeck.checkpoint import open_checkpoint, publish, read_head
from tierdeck.errors import CheckpointError, ConflictError, DamagedCheckpointError, NotFoundError


@pytest.mark.spec("SPEC-09.22")
def test_a_published_file_is_whole_and_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.rlmckpt"
    data = file_bytes()
    publish(path, [data[:100], data[100:]])
    assert path.read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["a.rlmckpt"]
    assert path.stat().st_nlink == 1
    assert read_head(path).summary.turn == 5


def test_a_file_of_that_name_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.rlmckpt"
    path.write_bytes(b"mine")
    with pytest.raises(ConflictError, match="is there"):
        publish(path, [b"other"])
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConflictError):
        publish(tmp_path / "link", [b"other"])
    assert path.read_bytes() == b"mine"
    assert sorted(os.listdir(tmp_path)) == ["a.rlmckpt", "link"]


def test_a_folder_without_links_gets_the_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_args: object, **_more: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "a.rlmckpt"
    publish(path, [b"one", b"two"])
    assert path.read_bytes() == b"onetwo"
    with pytest.raises(ConflictError):
        publish(path, [b"other"])
    assert os.listdir(tmp_path) == ["a.rlmckpt"]


def test_a_folder_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="No such file or directory") as found:
        publish(tmp_path / "gone" / "a.rlmckpt", [b"x"])
    assert found.value.exit_code == 11


def test_a_full_disk_is_reported_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left"):
        publish(tmp_path / "a.rlmckpt", [b"x" * 1000])
    assert os.listdir(tmp_path) == []


def test_only_an_ordinary_file_is_opened(tmp_path: Path) -> None:
    data = file_bytes()
    publish(tmp_path / "a.rlmckpt", [data])
    (tmp_path / "link").symlink_to("a.rlmckpt")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for name, error in (
        ("link", CheckpointError),
        ("pipe", CheckpointError),
        (".", CheckpointError),
        ("none", NotFoundError),
        ("empty", DamagedCheckpointError),
    ):
        with pytest.raises(error), open_checkpoint(tmp_path / name):
            pass


def test_a_variable_is_read_from_a_file_on_disk(tmp_path: Path) -> None:
    publish(tmp_path / "a.rlmckpt", [file_bytes()])
    with open_checkpoint(tmp_path / "a.rlmckpt") as file:
        file.verify()
        assert file.variable("numbers") is not None
