"""purge: asked twice, gone for good, and never printing what it removes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.terminal import in_terminal

KEY = "sk-test-0000abcdefgh1234"


@pytest.fixture
def secret(run: Command) -> str:
    """The id of a memory that holds a key, with an earlier text that held it too."""
    node_id = run("add", f"export OPENAI_API_KEY={KEY}").stdout.strip()
    run("edit", node_id, "--content", f"the key is now OPENAI_API_KEY={KEY}x")
    return node_id


def holds(folder: Path, text: str) -> list[str]:
    return [file.name for file in folder.iterdir() if file.is_file() and text.encode() in file.read_bytes()]


def test_without_a_terminal_it_needs_its_own_flag(run: Command, db: Path, secret: str) -> None:
    for args in ((), ("--yes-reall",)):
        result = run("purge", secret, *args)
        assert result.exit_code == 2
    assert "--yes-really" in run("purge", secret).stderr
    assert holds(db.parent, KEY)


@pytest.mark.case("X01")
def test_it_is_gone_from_every_file_and_was_not_printed(run: Command, db: Path, secret: str) -> None:
    result = run("purge", secret, "--yes-really", "--reason", f"leaked {KEY}")
    assert result.exit_code == 0
    assert result.stdout == f"{secret}\n"
    assert "0000abcd" not in result.stdout + result.stderr
    assert holds(db.parent, KEY) == []
    assert run("search", "key", "--archived", "--alpha", "0", "--ids").stdout == ""


def test_a_dry_run_says_what_would_go_and_removes_nothing(run: Command, db: Path, secret: str) -> None:
    other = run("add", f"again {KEY}").stdout.strip()
    made = run("backup").stdout.strip()
    result = run("purge", secret[:8], "--dry-run")
    assert result.stdout == f"{secret}\n"
    assert other in result.stderr
    assert made in result.stderr
    assert "0000abcd" not in result.stderr
    document = json.loads(run("purge", secret, "--dry-run", "--json").stdout)
    assert document["purge"]["copies"] == [other]
    assert holds(db.parent, KEY)


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([("[y/N]", "\n")], 130),
        ([("[y/N]", "y\n"), ("to do it", "\n")], 130),
        ([("[y/N]", "y\n"), ("to do it", "yes\n")], 130),
    ],
)
def test_anything_but_both_answers_stops_it(
    db: Path, secret: str, answers: list[tuple[str, str]], code: int
) -> None:
    ended = in_terminal(db, "purge", secret, answers=answers)
    assert ended.exit_code == code
    assert "0000abcd" not in ended.shown
    assert holds(db.parent, KEY)


def test_yes_and_the_short_id_do_it(db: Path, secret: str) -> None:
    answers = [("[y/N]", "y\n"), ("to do it", f"{secret[:8]}\n")]
    assert in_terminal(db, "purge", secret, answers=answers).exit_code == 0
    assert holds(db.parent, KEY) == []


def test_read_only_and_unknown_ids_are_refused(run: Command, db: Path, secret: str) -> None:
    assert run("purge", secret, "--yes-really", "--read-only").exit_code == 3
    assert run("purge", secret, "ffff", "--yes-really").exit_code == 4
    assert holds(db.parent, KEY)
