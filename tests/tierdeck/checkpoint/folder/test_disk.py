"""What lies in the place of the small files beside the checkpoints: a link, a folder, a pipe, a socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import files, filled, opened, packed
from tests.tierdeck.checkpoint.folder.other_process import REPOSITORY
from tierdeck.checkpoint.folder import SessionFolder
from tierdeck.checkpoint.folder.disk import read_json
from tierdeck.errors import DamagedCheckpointError


def make_socket(path: Path) -> None:
    # By its folder's descriptor: the name of a socket has no room for a long path.
    fd = os.open(path.parent, os.O_RDONLY)
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(f"/proc/self/fd/{fd}/{path.name}")
    os.close(fd)


MAKERS = [
    pytest.param(lambda path: path.symlink_to(__file__), id="link"),
    pytest.param(lambda path: path.symlink_to("nowhere"), id="link to nothing"),
    pytest.param(lambda path: path.symlink_to(path.name), id="link to itself"),
    pytest.param(lambda path: path.mkdir(), id="folder"),
    pytest.param(os.mkfifo, id="pipe"),
    pytest.param(
        make_socket, id="socket", marks=pytest.mark.skipif(sys.platform != "linux", reason="named by /proc")
    ),
]
NAMES = ["HEAD", "marks.json", "verified.json", "request", "claim"]


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_no_ordinary_file_is_damaged_and_leaves_no_file_open(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(tmp_path / "HEAD")
    probe = os.open(tmp_path, os.O_RDONLY)
    os.close(probe)
    for _ in range(3):
        with pytest.raises(DamagedCheckpointError):
            read_json(tmp_path / "HEAD")
    again = os.open(tmp_path, os.O_RDONLY)
    os.close(again)
    assert again == probe, "the lowest free number is the same one"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", MAKERS)
def test_it_keeps_nobody_from_the_checkpoints(tmp_path: Path, make: Callable[[Path], object], name: str) -> None:
    folder = filled(tmp_path, 3)
    make(folder.path / name)
    assert files(folder) == sorted(path.name for path in folder.path.glob("*.rlmckpt"))
    head = folder.head()
    assert head is not None
    assert head.file == files(folder)[2]
    assert folder.save(packed(4)).sequence == 4
    lease = folder.try_lease()
    assert lease is not None
    lease.release()
    assert any(name in problem for problem in folder.problems()) == (name in ("HEAD", "marks.json"))


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000])
def test_a_session_whose_own_file_is_damaged_is_opened_and_the_file_made_anew(tmp_path: Path, text: str) -> None:
    folder = filled(tmp_path, 1)
    (folder.path / "session.json").write_text(text)
    assert opened(tmp_path).session_id == folder.session_id
    assert read_json(folder.path / "session.json") == {"format": 1, "session_id": folder.session_id}


@pytest.mark.parametrize("name", ["HEAD", "marks.json", "verified.json", "trash"])
def test_what_this_user_may_not_read_hides_no_checkpoint(open_to_all: Path, name: str) -> None:
    folder = filled(open_to_all, 3)
    folder.path.chmod(0o755)
    for each in folder.path.iterdir():
        each.chmod(0o644)
    path = folder.path / name
    if name == "trash":
        path.mkdir()
        (path / "1-m-00000009-1-aaaaaaaa.rlmckpt").touch()
    else:
        path.write_text("{}")
    path.chmod(0)
    found = [line.split(" | ") for line in as_nobody(folder)]
    assert found[0][0] == "3"
    assert found[1][0] == f"{folder.session_id} 3"
    told = {"trash": "its size can't be told: Permission denied", "verified.json": "", "HEAD": "", "marks.json": ""}
    assert found[1][1] == told[name]
    assert (f"{name}: Permission denied" in found[0][1]) == (name in ("HEAD", "marks.json"))
    path.chmod(0o755)


def as_nobody(folder: SessionFolder) -> list[str]:
    """What somebody who is not root finds in the folder, and in its root."""
    code = f"""
import os, sys
sys.path[:0] = {[str(REPOSITORY), *sys.path]!r}
from pathlib import Path
from tierdeck.checkpoint.folder import open_session_folder, list_sessions
folder = open_session_folder(Path({str(folder.path.parent)!r}), {folder.session_id!r})
list_sessions(Path("nowhere"))
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
print(len(folder.listed()), *folder.problems(), sep=" | ", end=" | \\n")
[found] = list_sessions(folder.path.parent)
print(found.session_id, found.checkpoints, "|", found.problem or "")
"""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
