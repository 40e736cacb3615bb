"""A disk that is really full, of bytes or of files: a small one is mounted for the test where that is allowed."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tierdeck.checkpoint import AGENT_LIMITS
from tierdeck.checkpoint.folder import (
    RetentionPolicy,
    SessionFolder,
    empty_trash,
    open_session_folder,
    plan_prune,
    prune,
    verify,
)
from tierdeck.session import open_session

Mounted = Callable[[str], Path]
_SESSION = "s"


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mounted]:
    """What mounts a small disk with these options; the test is skipped where nobody lets it."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> Path:
        try:
            done = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            pytest.skip("there is no mount")
        if done.returncode != 0:
            pytest.skip(f"a disk can't be mounted: {done.stderr.strip()}")
        return place

    yield mount
    while os.path.ismount(place):
        subprocess.run(["umount", "-l", place], check=True)


def _laid_over_read_only(place: Path) -> None:
    """The same disk over itself, read-only: one with a file open for writing can't become so itself."""
    subprocess.run(["mount", "--bind", place, place], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)


def _fill(path: Path) -> None:
    """Until not one byte more fits."""
    with open(path, "wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4_096)):
            pass


def _use_up_names(folder: Path) -> list[Path]:
    """Until not one more file can be made."""
    made: list[Path] = []
    with suppress(OSError):
        while True:
            path = folder / f"filler-{len(made)}"
            path.touch(exist_ok=False)
            made.append(path)
    return made


def _state(seed: int) -> dict[str, object]:
    return {"n": seed, "noise": random.Random(seed).randbytes(30_000)}


def _turns_and_states(root: Path) -> tuple[SessionFolder, list[int]]:
    """The session's folder, and the turns of what it holds, each of which verifies."""
    folder = open_session_folder(root, _SESSION, limits=AGENT_LIMITS)
    listed = folder.listed()
    assert [verify(each.path, AGENT_LIMITS, use_cache=False).state for each in listed] == ["ok"] * len(listed)
    assert not [name for name in os.listdir(folder.path) if name.startswith(".part")]
    return folder, [each.turn for each in listed]


def _runs_through(root: Path, use_up: Callable[[], None], give_back: Callable[[], None]) -> None:
    """A session whose disk is full in its second turn; it says so, goes on, and saves when there is room again."""
    told: list[str] = []
    with open_session(None, _SESSION, checkpoints=root, every=1, on_problem=told.append) as session:
        session.turn(_state(1))
        session.flush()
        assert session.save_problem is None
        use_up()
        session.turn(_state(2))
        session.flush()
        assert session.save_problem is not None
        assert "No space left on device" in session.save_problem
        assert any("No space left on device" in said for said in told)
        assert _turns_and_states(root)[1] == [1]
        assert session.checkpoint().problem is not None
        assert session.turns == 2
        give_back()
        session.turn(_state(3))
        session.flush()
        assert session.save_problem is None
    assert 3 in _turns_and_states(root)[1]
    with open_session(None, _SESSION, checkpoints=root, every=1) as session:
        resumed = session.resume()
        assert resumed is not None
        assert resumed.checkpoint.repl_state["n"] == 3


@pytest.mark.case("C09")
@pytest.mark.spec("SPEC-09.22")
def test_a_disk_without_a_byte_left_is_told_of_and_the_next_save_with_room_works(mounted: Mounted) -> None:
    disk = mounted("size=1m")
    filler = disk / "filler"
    _runs_through(disk / "root", lambda: _fill(filler), filler.unlink)


@pytest.mark.case("C09")
@pytest.mark.spec("SPEC-09.22")
def test_a_disk_that_takes_no_more_files_is_told_of_and_the_next_save_with_room_works(mounted: Mounted) -> None:
    disk = mounted("size=4m,nr_inodes=64")
    made: list[Path] = []

    def give_back() -> None:
        for path in made:
            path.unlink()

    _runs_through(disk / "root", lambda: made.extend(_use_up_names(disk)), give_back)


@pytest.mark.case("C09")
def test_a_disk_that_becomes_read_only_keeps_what_it_has_and_the_agent_goes_on(mounted: Mounted) -> None:
    disk = mounted("size=4m")
    with open_session(None, _SESSION, checkpoints=disk / "root", every=1) as session:
        session.turn(_state(1))
        session.flush()
        _laid_over_read_only(disk)
        session.turn(_state(2))
        session.flush()
        assert session.save_problem is not None
        assert "Read-only file system" in session.save_problem
        assert session.turns == 2
        subprocess.run(["umount", disk], check=True)
        session.turn(_state(3))
        session.flush()
        assert session.save_problem is None
    assert _turns_and_states(disk / "root")[1] == [1, 3]


@pytest.mark.case("C15")
def test_a_full_disk_is_made_room_on_by_pruning_and_emptying_the_trash(mounted: Mounted) -> None:
    disk = mounted("size=1m")
    with open_session(None, _SESSION, checkpoints=disk / "root", every=1) as session:
        for number in range(6):
            session.turn(_state(number))
            session.flush()
    _fill(disk / "filler")
    folder = open_session_folder(disk / "root", _SESSION)
    assert len(prune(folder, plan_prune(folder, RetentionPolicy(last_per_branch=1))).moved) == 5
    assert len(empty_trash(folder, older_than_days=0).files) == 5
    (disk / "room").write_bytes(bytes(100_000))
    with open_session(None, _SESSION, checkpoints=disk / "root", every=1) as session:
        assert session.resume() is not None
        session.turn(_state(7))
    assert [each.sequence for each in folder.listed()] == [6, 7]
