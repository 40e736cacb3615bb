"""Saving and listing: every save is a file of its own, in the order of the saves, whole or not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import SESSION, files, filled, flip, opened, packed, save_all
from tests.tierdeck.checkpoint.folder.other_process import REPOSITORY, other_process
from tierdeck.checkpoint import AGENT_LIMITS, load_checkpoint, open_checkpoint
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.folder.names import SUFFIX
from tierdeck.errors import CheckpointError, ConflictError, InvalidValueError, NotFoundError


@pytest.mark.spec("SPEC-09.22")
def test_a_saved_checkpoint_is_listed_and_reads_back(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    saved = folder.save(packed(3, label="first", reason="manual"))
    (listed,) = folder.listed()
    assert listed.path == saved.path
    assert (listed.sequence, listed.turn, listed.size_bytes) == (1, 3, saved.size_bytes)
    assert (listed.state, listed.why, listed.label, listed.is_pinned) == ("not verified", None, "first", False)
    assert listed.summary is not None
    assert listed.summary.reason == "manual"
    with open_checkpoint(saved.path, limits=AGENT_LIMITS) as file:
        assert load_checkpoint(file).repl_state == {"turn": 3}


@pytest.mark.case("C10")
def test_twenty_saves_in_a_moment_are_twenty_files_in_their_order(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    saved = save_all(folder, 20, checkpoint_id="00112233445566ff", reason="manual")
    assert [each.sequence for each in saved] == list(range(1, 21))
    assert [each.turn for each in folder.listed()] == list(range(1, 21))
    assert len(set(files(folder))) == 20


@pytest.mark.case("C10")
def test_a_clock_set_back_changes_no_order(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    hour_ns = 3600 * 10**9
    for turn, at_ns in enumerate((10 * hour_ns, 9 * hour_ns, 0), 1):
        folder.save(packed(turn, created_at_ns=at_ns))
    for listed in folder.listed():
        os.utime(listed.path, ns=(10**18 - listed.sequence, 10**18 - listed.sequence))
    assert [each.turn for each in folder.listed()] == [1, 2, 3]
    head = folder.head()
    assert head is not None
    assert head.file == files(folder)[-1]


@pytest.mark.case("C10")
def test_two_processes_that_save_at_once_lose_and_overwrite_nothing(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    code = "result = [each.path.name for each in save_all(folder, 20, repl_state={'who': %d, 'x': 'y' * 20000})]"
    with other_process(tmp_path, SESSION) as one, other_process(tmp_path, SESSION) as two:
        one.begin(code % 1)
        two.begin(code % 2)
        names = [*map(str, one.result()), *map(str, two.result())]  # type: ignore[call-overload]  # JSON lists
    assert len(set(names)) == 40
    assert sorted(names) == files(folder)
    assert [each.sequence for each in folder.listed()] == list(range(1, 41))
    assert all(each.summary is not None for each in folder.listed())


def test_sequences_go_on_beyond_eight_digits(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    first = folder.listed()[0]
    first.path.rename(folder.path / first.file.replace("00000001", "99999999"))
    assert folder.save(packed(2)).path.name.startswith("100000000-2-")
    assert [each.turn for each in folder.listed()] == [1, 2]


def test_a_file_with_the_last_sequence_there_is_stops_saves_and_is_named(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    first = folder.listed()[0]
    first.path.rename(folder.path / first.file.replace("00000001", "9" * 12))
    with pytest.raises(CheckpointError, match="999,999,999,999") as found:
        folder.save(packed(2))
    assert "by hand" in (found.value.hint or "")
    assert len(files(folder)) == 1


def test_one_that_vanishes_while_the_newest_good_is_looked_for_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(tmp_path, 2)
    listed = folder.listed()
    monkeypatch.setattr(folder, "listed", lambda: listed)
    listed[1].path.unlink()
    good, skipped = folder.newest_good()
    assert good is listed[0]
    assert "no such file" in skipped[0].why


def test_a_checkpoint_of_another_session_is_refused(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    with pytest.raises(InvalidValueError, match="of session 'other'"):
        folder.save(packed(session_id="other"))
    assert files(folder) == []


@pytest.mark.case("C09")
def test_a_cut_or_changed_newest_is_listed_as_damaged_and_the_one_before_is_used(tmp_path: Path) -> None:
    folder = filled(tmp_path, 4, repl_state={"big": os.urandom(20_000)})
    found = folder.listed()
    os.truncate(found[3].path, found[3].size_bytes // 2)
    flip(found[2].path)
    flip(found[1].path, 60)
    assert [each.state for each in folder.listed()] == ["not verified", "damaged", "not verified", "damaged"]
    good, skipped = folder.newest_good()
    assert good is not None
    assert (good.file, good.state) == (found[0].file, "ok")
    assert [each.file for each in skipped] == [each.file for each in reversed(found[1:])]
    assert "bytes" in skipped[0].why
    assert "trailer" in skipped[1].why
    assert [each.state for each in folder.listed()] == ["ok", "damaged", "damaged", "damaged"]


@pytest.mark.case("C09")
def test_when_nothing_verifies_every_one_is_named(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    for listed in folder.listed():
        flip(listed.path)
    good, skipped = folder.newest_good()
    assert good is None
    assert len(skipped) == 2
    assert opened(tmp_path, "empty").newest_good() == (None, ())


@pytest.mark.case("C09")
def test_what_a_killed_save_leaves_is_not_counted_and_swept_after_an_hour(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    young, old = folder.path / ".part-1111", folder.path / ".part-2222"
    for path in (young, old):
        path.write_bytes(b"half")
    hours_ago = time.time() - 3700
    os.utime(old, (hours_ago, hours_ago))
    assert len(files(folder)) == 1
    lease = folder.try_lease()
    assert lease is not None
    lease.release()
    assert young.exists()
    assert not old.exists()


def test_links_pipes_and_folders_of_such_a_name_are_listed_as_damaged(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    (folder.path / f"00000002-1-aaaaaaaa{SUFFIX}").symlink_to(files(folder)[0])
    os.mkfifo(folder.path / f"00000003-1-aaaaaaaa{SUFFIX}")
    (folder.path / f"00000004-1-aaaaaaaa{SUFFIX}").mkdir()
    (folder.path / f"00000005-1-aaaaaaaa{SUFFIX}").touch()
    assert [each.state for each in folder.listed()] == ["not verified", *["damaged"] * 4]
    assert folder.newest_good()[0] is not None
    assert folder.save(packed()).sequence == 6


def test_a_folder_that_is_gone_is_reported_and_not_made_anew(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    shutil.rmtree(folder.path)
    for use in (lambda: folder.save(packed()), folder.listed, folder.head, folder.try_lease, folder.newest_good):
        with pytest.raises(CheckpointError, match="No such file") as found:
            use()
        assert found.value.hint == "the folder was moved or deleted"
    assert not folder.path.exists()
    with pytest.raises(NotFoundError, match="has no checkpoints"):
        open_session_folder(tmp_path, SESSION)


def test_a_save_that_waits_too_long_for_the_lock_gives_up(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.lock_wait_s = 0.05
    with other_process(tmp_path, SESSION) as other:
        other.do("held = folder.locked(); held.__enter__()")
        with pytest.raises(CheckpointError, match="another process has held it"):
            folder.save(packed())
        other.kill()
    assert folder.save(packed()).sequence == 1


@pytest.mark.case("C09")
def test_a_disk_that_takes_no_more_is_reported_and_nothing_is_left_behind(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    before = os.listdir(folder.path)
    with other_process(tmp_path, SESSION) as other:
        said = other.do(
            "import resource, random\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))\n"
            "big = packed(2, repl_state={'big': random.Random(1).randbytes(100000)})\n"
            "try:\n    folder.save(big)\n"
            "except TierdeckError as e:\n    result = f'{type(e).__name__} {e.message}'\n"
        )
        assert str(said).startswith(f"CheckpointError write checkpoint {folder.path}")
        assert str(said).endswith("File too large")
        assert other.do("result = folder.save(packed(2)).sequence") == 2
    assert len(os.listdir(folder.path)) == len(before) + 1
    assert len(files(folder)) == 2


def test_a_folder_that_can_only_be_read_is_listed_and_takes_no_save(open_to_all: Path) -> None:
    folder = filled(open_to_all, 2)
    for each in (open_to_all, folder.path):
        each.chmod(0o555)
    for name in os.listdir(folder.path):
        (folder.path / name).chmod(0o444)
    before = sorted(os.listdir(folder.path))
    code = f"""
import os, sys
sys.path[:0] = {[str(REPOSITORY), *sys.path]!r}
from pathlib import Path
from tests.tierdeck.checkpoint.folder.making import packed, SESSION
from tierdeck.checkpoint.folder import open_session_folder, list_sessions
from tierdeck.errors import CheckpointError
folder = open_session_folder(Path({str(open_to_all)!r}), SESSION)
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
print(len(folder.listed()), folder.is_live(), folder.newest_good()[0].state, len(list_sessions(folder.path.parent)))
for change in (lambda: folder.save(packed(3)), lambda: folder.set_pin(folder.listed()[0].file, True)):
    try:
        change()
    except CheckpointError as e:
        print(e.message.split(": ")[-1], "|", e.hint)
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert said == ["2 False ok 1", *["Permission denied | this user may not write there"] * 2]
    assert sorted(os.listdir(folder.path)) == before
    folder.path.chmod(0o755)


def test_a_file_already_there_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(tmp_path, 1)
    before = folder.listed()[0].path.read_bytes()
    monkeypatch.setattr(type(folder), "_next_sequence", lambda _self: 1)
    name = folder.listed()[0].file
    with pytest.raises(ConflictError, match="is there"):
        folder.save(packed(1, checkpoint_id=name[11:19] + "00000000"))
    assert folder.listed()[0].path.read_bytes() == before


def test_a_listing_reads_each_file_once_and_no_more_than_four_kilobytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(tmp_path, 5, repl_state={"big": os.urandom(50_000)})
    asked: list[int] = []
    read = os.read

    def counted(fd: int, length: int) -> bytes:
        asked.append(length)
        return read(fd, length)

    monkeypatch.setattr("tierdeck.checkpoint.folder.listing.os.read", counted)
    found = folder.listed()
    assert [each.state for each in found] == ["not verified"] * 5
    assert asked == [4096] * 5
