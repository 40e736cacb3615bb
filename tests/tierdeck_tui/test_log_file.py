from __future__ import annotations

import logging
import stat
import sys
import threading
import warnings
from pathlib import Path

import pytest

from tierdeck_tui.log_file import MAX_BYTES, log, log_path, logging_to_file


def test_what_would_be_printed_goes_to_a_private_file(capfd: pytest.CaptureFixture[str]) -> None:
    with logging_to_file() as path, warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.getLogger("asyncio").error("a task failed")
        warnings.warn("look out", stacklevel=1)
        thread = threading.Thread(target=lambda: 1 / 0, name="worker")
        thread.start()
        thread.join()
    text = path.read_text("utf-8")
    assert path == log_path()
    assert "a task failed" in text
    assert "look out" in text
    assert "ZeroDivisionError" in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert capfd.readouterr() == ("", "")


def test_everything_is_as_it_was_afterwards() -> None:
    before = (threading.excepthook, sys.unraisablehook, list(logging.getLogger().handlers))
    with logging_to_file():
        assert threading.excepthook is not before[0]
    assert (threading.excepthook, sys.unraisablehook, list(logging.getLogger().handlers)) == before


@pytest.mark.case("U05")
def test_what_an_error_quotes_does_nothing_to_the_terminal_that_shows_the_log() -> None:
    with logging_to_file() as path:
        log.error("bad: %s", "\x1b]0;owned\x07 \x9b2J \u202e", exc_info=ValueError("\x1b[2J"))
    text = path.read_text("utf-8")
    assert not any(char in text for char in "\x1b\x07\x9b\u202e")
    assert "␛]0;owned" in text


def test_a_log_that_has_grown_is_put_aside() -> None:
    path = log_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    with logging_to_file():
        log.error("new")
    assert path.stat().st_size < 1000
    assert path.with_name(f"{path.name}.1").stat().st_size == MAX_BYTES + 1


def test_an_existing_log_that_others_may_read_is_closed_to_them() -> None:
    path = log_path()
    path.parent.mkdir(parents=True)
    path.write_text("old\n")
    path.chmod(0o644)
    with logging_to_file():
        log.error("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text("utf-8").startswith("old\n")


def test_where_no_file_can_be_written_nothing_is_printed_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    with logging_to_file():
        logging.getLogger("asyncio").error("lost")
    assert capfd.readouterr() == ("", "")
