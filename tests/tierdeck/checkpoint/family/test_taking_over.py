"""JSON checkpoints into the sessions' folders: in order, once, and none stopped by another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.family.test_family_file import family_json
from tierdeck.checkpoint import load_checkpoint, open_checkpoint
from tierdeck.checkpoint.family import family_files, import_family_checkpoints
from tierdeck.checkpoint.folder import list_sessions, open_session_folder
from tierdeck.errors import NotFoundError


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A folder as the family's program leaves it: three checkpoints of a session, one of another."""
    folder = tmp_path / "family"
    folder.mkdir()
    for turn, at in ((15, 300.0), (5, 100.0), (10, 200.0)):
        (folder / f"sess-1_{at:.0f}.json").write_bytes(family_json(turn=turn, timestamp=at))
    (folder / "proj_b_1.json").write_bytes(family_json(session_id="proj_b"))
    return folder


@pytest.mark.spec("SPEC-09.26")
def test_the_checkpoints_of_a_session_come_in_the_order_of_their_times(family: Path, tmp_path: Path) -> None:
    report = import_family_checkpoints(tmp_path / "root", family_files(family))
    assert (len(report.taken), report.known, report.refused) == (4, (), ())
    listed = open_session_folder(tmp_path / "root", "sess-1").listed()
    assert [(each.sequence, each.turn) for each in listed] == [(1, 5), (2, 10), (3, 15)]
    with open_checkpoint(listed[2].path) as file:
        assert load_checkpoint(file).turn == 15


def test_a_second_time_changes_nothing(family: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    import_family_checkpoints(root, family_files(family))
    before = {each: each.read_bytes() for each in root.rglob("*.rlmckpt")}
    report = import_family_checkpoints(root, family_files(family))
    assert (report.taken, len(report.known)) == ((), 4)
    assert {each: each.read_bytes() for each in root.rglob("*.rlmckpt")} == before


def test_the_familys_own_files_stay_as_they_are(family: Path, tmp_path: Path) -> None:
    before = {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in family.iterdir()}
    import_family_checkpoints(tmp_path / "root", family_files(family))
    assert {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in family.iterdir()} == before


def test_a_dry_run_says_the_same_and_writes_nothing(family: Path, tmp_path: Path) -> None:
    report = import_family_checkpoints(tmp_path / "root", family_files(family), is_dry_run=True)
    assert [(each.turn, each.path) for each in report.taken[1:]] == [(5, None), (10, None), (15, None)]
    assert not (tmp_path / "root").exists()


def test_one_that_is_damaged_stops_no_other(family: Path, tmp_path: Path) -> None:
    (family / "broken.json").write_bytes(b"{")
    (family / "newer.json").write_bytes(family_json(version="9.0"))
    os.mkfifo(family / "pipe.json")
    report = import_family_checkpoints(tmp_path / "root", [*family_files(family), family / "gone.json"])
    assert len(report.taken) == 4
    told = {each.source.name: each.why for each in report.refused}
    assert set(told) == {"broken.json", "newer.json", "pipe.json", "gone.json"}
    assert "newer version (9.0)" in told["newer.json"]


@pytest.mark.case("C19")
@pytest.mark.parametrize("session_id", ["../../x", "/abs", "a/b", "CON", "a\x00b", "\ud800"])
def test_no_session_id_leaves_the_root(tmp_path: Path, session_id: str) -> None:
    source = tmp_path / "source.json"
    source.write_bytes(family_json(session_id=session_id))
    report = import_family_checkpoints(tmp_path / "root", [source])
    assert report.refused == ()
    assert {each.name for each in tmp_path.iterdir()} == {"root", "source.json"}
    assert [each.session_id for each in list_sessions(tmp_path / "root")] == [session_id]


def test_a_session_id_that_is_too_long_is_refused_as_one(tmp_path: Path) -> None:
    source = tmp_path / "source.json"
    source.write_bytes(family_json(session_id="x" * 1_025))
    [refused] = import_family_checkpoints(tmp_path / "root", [source]).refused
    assert "1,024 bytes" in refused.why


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        family_files(tmp_path / "gone")
