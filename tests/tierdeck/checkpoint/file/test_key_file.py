"""The key in a file: what is taken for one, and what is refused before it is used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierdeck.checkpoint.file.key_file import checked_key, key_named, read_key_file
from tierdeck.errors import CheckpointKeyError, InvalidValueError


def put(folder: Path, data: bytes, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_bytes(data)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"secret", b"secret"),
        (b"secret\n", b"secret"),
        (b"secret\r\n", b"secret"),
        (b"two\nlines\n", b"two\nlines"),
        (b"\x00\xff ", b"\x00\xff "),
        (b"x" * 64 + b"\r\n", b"x" * 64),
        (b"ends in \r", b"ends in \r"),
    ],
)
def test_the_key_is_all_of_the_file_less_one_newline(tmp_path: Path, data: bytes, key: bytes) -> None:
    assert read_key_file(put(tmp_path, data)) == key


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n", b"x" * 65, b"x" * 65 + b"\n", b"x" * 100_000])
def test_a_file_that_holds_no_key_of_1_to_64_bytes_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(CheckpointKeyError, match="a key has 1 to 64 bytes"):
        read_key_file(put(tmp_path, data))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666, 0o610])
def test_a_key_that_others_may_read_is_refused_and_the_mode_is_said(tmp_path: Path, mode: int) -> None:
    path = put(tmp_path, b"hidden", mode)
    with pytest.raises(CheckpointKeyError, match=f"its mode is {mode:04o}") as caught:
        read_key_file(path)
    assert "hidden" not in f"{caught.value.message} {caught.value.hint}"
    path.chmod(0o400)
    assert read_key_file(path) == b"hidden"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_of_another_owner_may_be_readable_and_not_writable(tmp_path: Path) -> None:
    path = put(tmp_path, b"mounted", 0o444)
    os.chown(path, 65_534, 65_534)
    assert read_key_file(path) == b"mounted"
    path.chmod(0o664)
    with pytest.raises(CheckpointKeyError, match="others may write it"):
        read_key_file(path)


def test_what_is_no_ordinary_file_is_refused_without_waiting_and_a_link_is_followed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "none", Path("a\0b")):
        with pytest.raises(CheckpointKeyError, match="read key file"):
            read_key_file(path)
    (tmp_path / "link").symlink_to(put(tmp_path, b"secret"))
    assert read_key_file(tmp_path / "link") == b"secret"


@pytest.mark.parametrize("key", [b"", b"x" * 65, "text", 7])
def test_a_key_that_can_t_seal_a_checkpoint_is_refused_before_a_session_is_opened(key: bytes) -> None:
    with pytest.raises(InvalidValueError, match="1 to 64 bytes are allowed"):
        checked_key(key)
    assert (checked_key(None), checked_key(b"x" * 64)) == (None, b"x" * 64)


def test_a_setting_names_the_file_by_a_home_and_one_that_is_nobody_s_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, b"secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (key_named("~/key"), key_named(""), key_named(None)) == (b"secret", None, None)
    with pytest.raises(CheckpointKeyError, match="there is no such user"):
        key_named("~nobody-of-that-name/key")
