"""How a command ends: its exit code, one clear message, nothing else."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import click
import pytest

from tests.tierdeck_tui.cli.conftest import Command
from tierdeck.errors import AmbiguousIdError, TierdeckError
from tierdeck_tui.cli.frame import EXIT_CODES, run_framed
from tierdeck_tui.cli.log import log_error


def every_class(root: type[TierdeckError]) -> list[type[TierdeckError]]:
    return [root, *(found for child in root.__subclasses__() for found in every_class(child))]


def ending_in(error: BaseException, *args: str) -> int:
    def invoke() -> int:
        raise error

    return run_framed(invoke, args)


def test_every_error_has_an_exit_code_that_the_help_explains() -> None:
    explained = {code for code, _ in EXIT_CODES}
    assert {kind.exit_code for kind in every_class(TierdeckError)} <= explained


def test_a_known_error_is_its_message_and_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending_in(TierdeckError("open x: why", hint="do y")) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "tierdeck: open x: why\n  do y\n"


def test_under_json_the_last_line_of_stderr_is_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    error = AmbiguousIdError("find memory ab: 2 ids begin so", matches=["ab1", "ab2"], hint="more")
    assert ending_in(error, "show", "--json", "ab") == 4
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == ["tierdeck: find memory ab: 2 ids begin so", "  ab1", "  ab2"]
    assert json.loads(lines[-1])["error"] == {
        "kind": "AmbiguousIdError",
        "message": "find memory ab: 2 ids begin so",
        "hint": "more",
        "exit_code": 4,
        "matches": ["ab1", "ab2"],
    }


def test_json_after_two_dashes_is_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending_in(TierdeckError("x"), "search", "--", "--json") == 1
    assert "{" not in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort(), EOFError()])
def test_a_stopped_command_says_so_in_one_line(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending_in(error) == 130
    assert capsys.readouterr() == ("", "tierdeck: stopped\n")


def test_a_reader_that_left_is_no_error_to_talk_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending_in(BrokenPipeError()) == 141
    assert capsys.readouterr() == ("", "")


def test_an_unforeseen_error_is_one_line_and_the_log_has_the_rest(
    isolated_environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_in(ZeroDivisionError("division by zero")) == 1
    err = capsys.readouterr().err
    log = isolated_environment / "state" / "tierdeck" / "tierdeck.log"
    assert err == f"tierdeck: unforeseen error: division by zero\n  the log is {log}\n"
    assert "Traceback" in log.read_text("utf-8")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_traceback_shows_only_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending_in(ZeroDivisionError(), "--debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_log_that_is_somebody_elses_link_is_not_followed(isolated_environment: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    folder = isolated_environment / "state" / "tierdeck"
    folder.mkdir(parents=True)
    (folder / "tierdeck.log").symlink_to(victim)
    assert log_error("text") is None
    assert victim.read_text() == "untouched"


@pytest.mark.case("U05", "U08")
@pytest.mark.parametrize("text", ["\x1b]52;c;aGk=\x07", "\x9b2J", "\u202egnp.exe", "[/x] [red]a[0]", "\ud800"])
def test_an_error_text_never_drives_the_terminal(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    ending_in(TierdeckError(f"provider said {text}", hint=text))
    err = capsys.readouterr().err
    assert not any((ord(char) < 0x20 and char != "\n") or 0x7F <= ord(char) <= 0x9F for char in err)
    assert "\u202e" not in err
    if "[" in text:
        assert text in err or "␛" in err


@pytest.mark.case("X01", "E17")
def test_a_key_in_an_error_is_masked_in_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    ending_in(TierdeckError("embed: refused key sk-proj-abcd1234efgh5678"), "--json")
    assert "abcd1234" not in capsys.readouterr().err


def test_a_missing_store_is_told_with_what_to_do_and_not_made(run: Command, db: Path) -> None:
    for args in (("search", "x"), ("show", "x"), ("archive", "x"), ("edit", "x", "--content", "y"), ("undo", "x")):
        result = run(*args)
        assert result.exit_code == 3
        assert result.stdout == ""
        assert "there is no such file" in result.stderr
        assert "tierdeck add" in result.stderr
    assert not db.exists()


@pytest.mark.case("D08")
def test_a_file_that_is_no_store_is_named_with_its_cause(run: Command, db: Path) -> None:
    for data, cause in ((b"hello, I am a text file, and longer than a header of SQLite" * 20, "not an SQLite file"),
                        (b"", "0 bytes")):  # fmt: skip
        db.write_bytes(data)
        result = run("search", "x", "--alpha", "0")
        assert result.exit_code == 3
        assert str(db) in result.stderr
        assert cause in result.stderr
        assert db.read_bytes() == data


@pytest.mark.case("D08")
def test_a_damaged_store_points_at_its_newest_backup_and_at_the_salvage(
    run: Command, db: Path, filled: list[str]
) -> None:
    made = run("backup").stdout.strip()
    data = bytearray(db.read_bytes())
    middle = len(data) // 2
    data[8192 : middle + 4096] = b"\xa5" * (middle + 4096 - 8192)
    db.write_bytes(data)
    result = run("show", filled[0])
    assert result.exit_code == 3
    assert "damaged" in result.stderr
    assert made in result.stderr
    assert "export --salvage" in result.stderr


def test_the_console_without_a_terminal_points_at_the_verbs(run: Command, filled: list[str]) -> None:
    result = run()
    assert result.exit_code == 2
    assert "tierdeck search" in result.stderr


def test_the_version_names_what_decides_how_a_store_behaves(run: Command) -> None:
    text = run("--version").stdout
    assert [line.split()[0] for line in text.splitlines()] == ["tierdeck", "Python", "SQLite", "sqlite-vec"]
    assert set(json.loads(run("--version", "--json").stdout)) == {"tierdeck", "Python", "SQLite", "sqlite-vec"}
