"""A path that no file can have is refused in words, wherever on the command line it stands."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tierdeck_tui.cli.conftest import Command
from tierdeck.errors import InvalidValueError
from tierdeck_tui.cli import cli
from tierdeck_tui.cli.path_argument import path_of

NO_USER = "~nobody-of-that-name/x"
TOO_LONG = "x" * 5_000


def test_a_path_is_taken_whether_or_not_something_stands_there(tmp_path: Path, isolated_environment: Path) -> None:
    assert path_of("~/a") == isolated_environment / "a"
    assert path_of(str(tmp_path)) == tmp_path
    file = tmp_path / "file"
    file.touch()
    assert path_of(f"{file}/below") == file / "below"


@pytest.mark.parametrize("text", [NO_USER, TOO_LONG, "a\0b", "loop/x"])
def test_what_no_file_can_be_named_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(InvalidValueError, match="find "):
        path_of(text)


@pytest.mark.parametrize("text", [NO_USER, TOO_LONG])
@pytest.mark.parametrize(
    "args",
    [
        ("--db", "{}", "search"),
        ("--config", "{}", "search"),
        ("--config", "{}", "config", "--path"),
        ("import", "{}"),
        ("export", "--out", "{}"),
        ("add", "--file", "{}"),
        ("backup", "--to", "{}"),
        ("backup", "--verify", "{}"),
        ("backup", "--restore", "{}", "--yes"),
        ("demo", "--keep", "{}"),
    ],
)
def test_every_verb_refuses_such_a_path_as_a_wrong_value(
    run: Command, filled: list[str], args: tuple[str, ...], text: str
) -> None:
    result = run(*(arg.format(text) for arg in args))
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr) < 500


@pytest.mark.parametrize("variable", ["RLM_MEMORY_DB", "TIERDECK_CONFIG"])
def test_a_variable_that_names_no_path_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, NO_USER)
    for verb in ("search", "config"):
        result = CliRunner().invoke(cli, [verb])
        assert result.exit_code in (2, 8)
        assert NO_USER in result.stderr


def test_a_named_pipe_is_opened_once_and_read_to_its_end(run: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text('{"id": "1", "text": "through a pipe"}\n' * 20_000))
    writer.start()
    result = run("import", str(pipe))
    writer.join()
    assert "20,000" in result.stderr + result.stdout
