"""Verification says of each file what it is, remembers it, and lets no file do harm."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import files, filled, flip, opened, packed
from tests.tierdeck.checkpoint.sample import file_bytes, forged
from tierdeck.checkpoint import AGENT_LIMITS, CONSOLE_LIMITS, Limits
from tierdeck.checkpoint.folder import open_session_folder, verify
from tierdeck.checkpoint.folder.deep import decode_in_child
from tierdeck.checkpoint.limits import MB
from tierdeck.errors import CheckpointError, NotFoundError, StoppedError

KEY = b"operator"


@pytest.mark.spec("SPEC-09.22")
@pytest.mark.parametrize("is_deep", [False, True])
def test_a_sound_file_verifies_and_is_not_read_again(tmp_path: Path, is_deep: bool) -> None:
    folder = filled(tmp_path, 1)
    path = folder.listed()[0].path
    first = verify(path, AGENT_LIMITS, is_deep=is_deep)
    assert (first.state, first.why, first.bytes, first.is_deep) == ("ok", None, path.stat().st_size, is_deep)
    again = verify(path, AGENT_LIMITS, is_deep=is_deep, on_progress=lambda *_: pytest.fail("it was read"))
    assert again.is_from_cache
    assert folder.listed()[0].state == "ok"
    assert not verify(path, AGENT_LIMITS, use_cache=False).is_from_cache


@pytest.mark.case("C09")
def test_any_changed_byte_is_damage_also_with_the_times_set_back(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    path = folder.listed()[0].path
    assert verify(path, CONSOLE_LIMITS).state == "ok"
    times = path.stat()
    flip(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert folder.listed()[0].state == "not verified"
    found = verify(path, CONSOLE_LIMITS)
    assert found.state == "damaged"
    assert "trailer" in (found.why or "")
    assert (folder.listed()[0].state, folder.listed()[0].why) == ("damaged", found.why)


def test_a_quick_look_does_not_count_as_a_deep_one(tmp_path: Path) -> None:
    path = filled(tmp_path, 1).listed()[0].path
    verify(path, CONSOLE_LIMITS)
    deep = verify(path, CONSOLE_LIMITS, is_deep=True)
    assert (deep.state, deep.is_deep, deep.is_from_cache) == ("ok", True, False)
    assert verify(path, CONSOLE_LIMITS).is_deep


def test_each_kind_of_file_is_said_to_be_what_it_is(tmp_path: Path) -> None:
    data = file_bytes()
    bent = bytearray(data)
    bent[-200] ^= 1
    cases = {
        "newer": (forged(data, major=9), "newer"),
        "cut": (data[: len(data) // 2], "damaged"),
        "empty": (b"", "damaged"),
        "text": (b"x" * 5000, "damaged"),
        "forged": (forged(bytes(bent)), "damaged"),
        "keyed": (file_bytes(key=KEY), "not verified"),
        "whole": (data, "ok"),
    }
    for name, (content, state) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        found = verify(path, CONSOLE_LIMITS, is_deep=True)
        assert (name, found.state) == (name, state)
        assert (found.why is None) == (state == "ok")
    assert verify(tmp_path / "forged", CONSOLE_LIMITS).state == "ok", (
        "whoever can write a trailer can fool a quick look"
    )
    assert sorted(os.listdir(tmp_path)) == sorted(cases), "nothing is left beside other people's files"


def test_a_key_is_asked_for_and_what_it_shows_is_not_remembered(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    path = open_session_folder(tmp_path, folder.session_id, key=KEY).save(packed()).path
    assert verify(path, CONSOLE_LIMITS, key=KEY, is_deep=True).state == "ok"
    other = verify(path, CONSOLE_LIMITS, key=b"other")
    assert (other.state, "another one" in (other.why or "")) == ("not verified", True)
    without = verify(path, CONSOLE_LIMITS)
    assert (without.state, without.is_from_cache) == ("not verified", False)
    assert "none is set" in (without.why or "")
    unkeyed = folder.save(packed()).path
    assert verify(unkeyed, CONSOLE_LIMITS).state == "ok"
    demanded = verify(unkeyed, CONSOLE_LIMITS, key=KEY)
    assert (demanded.state, "made without one" in (demanded.why or "")) == ("not verified", True)


def test_a_keyed_file_that_lost_bits_is_damaged_with_any_key(tmp_path: Path) -> None:
    path = tmp_path / "x.rlmckpt"
    data = bytearray(file_bytes(key=KEY))
    data[-200] ^= 1
    path.write_bytes(data)
    for key in (KEY, b"other"):
        assert verify(path, CONSOLE_LIMITS, key=key).state == "damaged"
    changed_trailer = bytearray(file_bytes(key=KEY))
    changed_trailer[-1] ^= 1
    path.write_bytes(changed_trailer)
    found = verify(path, CONSOLE_LIMITS, key=KEY)
    assert (found.state, "another one" in (found.why or "")) == ("not verified", True), "it can't be told from that"


def test_a_file_beyond_the_limits_is_not_called_damaged(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1, repl_state={"big": b"x" * 3 * MB})
    path = folder.listed()[0].path
    tight = Limits(section_bytes=MB)
    assert verify(path, tight).state == "ok"
    found = verify(path, tight, is_deep=True)
    assert found.state == "not verified"
    assert "the limit is" in (found.why or "")


def test_progress_rises_to_the_whole_file_and_a_stop_ends_it(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1, repl_state={"big": os.urandom(3 * MB)})
    path = folder.listed()[0].path
    seen: list[tuple[int, int]] = []
    verify(path, AGENT_LIMITS, on_progress=lambda done, all_bytes: seen.append((done, all_bytes)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)
    assert [done for done, _ in seen[1:]] == sorted(done for done, _ in seen[1:])
    with pytest.raises(StoppedError):
        verify(path, AGENT_LIMITS, use_cache=False, should_stop=lambda: len(seen) > 0)


def test_a_stop_ends_the_child_and_so_does_its_time(tmp_path: Path) -> None:
    path = filled(tmp_path, 1).listed()[0].path
    fd = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(StoppedError):
            decode_in_child(fd, path.name, AGENT_LIMITS, None, lambda: True)
        state, why = decode_in_child(fd, path.name, AGENT_LIMITS, None, timeout_s=0)
    finally:
        os.close(fd)
    assert state == "not verified"
    assert "longer than 0 s" in (why or "")
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_child_that_dies_is_told_from_one_that_was_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path, 1).listed()[0].path
    for number, state in ((signal.SIGSEGV, "damaged"), (signal.SIGKILL, "not verified")):
        monkeypatch.setattr(
            "tierdeck.checkpoint.folder.deep._START", f"import os; os.kill(os.getpid(), {int(number)})"
        )
        found = verify(path, CONSOLE_LIMITS, is_deep=True, use_cache=False)
        assert found.state == state
        assert f"signal {int(number)}" in (found.why or "")
    monkeypatch.setattr("tierdeck.checkpoint.folder.deep._START", "raise SystemExit(3)")
    assert verify(path, CONSOLE_LIMITS, is_deep=True, use_cache=False).state == "not verified"


def test_the_child_can_take_no_more_memory_than_it_was_given(tmp_path: Path) -> None:
    code = (
        "import json, sys; asked = json.load(sys.stdin); sys.path[:] = asked['path']\n"
        "from tierdeck.checkpoint.folder import deep\n"
        "from tierdeck.checkpoint.limits import Limits\n"
        "def hog(fd, name, limits, key):\n"
        "    try:\n        return 'ok', str(len(bytearray(1 << 30)))\n"
        "    except MemoryError:\n        return 'not verified', 'no memory'\n"
        "deep._decoded = hog\ndeep.answer_in_child(asked)\n"
    )
    path = filled(tmp_path, 1).listed()[0].path
    tight = Limits(section_bytes=MB, raw_bytes=MB, memory_bytes=MB)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tierdeck.checkpoint.folder.deep._START", code)
        assert verify(path, tight, is_deep=True).why == "no memory"


def test_what_is_no_file_or_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        verify(tmp_path / "none", CONSOLE_LIMITS)
    os.mkfifo(tmp_path / "pipe")
    assert verify(tmp_path / "pipe", CONSOLE_LIMITS).state == "damaged"
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(CheckpointError):
        verify(tmp_path / "link", CONSOLE_LIMITS)


@pytest.mark.parametrize("text", ["{", '{"x": 1}', "[]"])
def test_a_memory_that_cant_be_read_is_no_memory(tmp_path: Path, text: str) -> None:
    folder = filled(tmp_path, 1)
    (folder.path / "verified.json").write_text(text)
    path = folder.listed()[0].path
    assert not verify(path, CONSOLE_LIMITS).is_from_cache
    assert verify(path, CONSOLE_LIMITS).is_from_cache


def test_what_is_known_of_files_that_are_gone_is_dropped(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    for each in folder.listed():
        verify(each.path, CONSOLE_LIMITS)
    gone = files(folder)[0]
    (folder.path / gone).unlink()
    verify(folder.listed()[1].path, CONSOLE_LIMITS, use_cache=False)
    assert gone not in (folder.path / "verified.json").read_text()
