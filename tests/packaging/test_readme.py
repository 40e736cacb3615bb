"""The README promises nothing that the program does not hold: its keys, verbs, exit codes and files are real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tierdeck_tui.actions import key_table_markdown
from tierdeck_tui.cli import cli, verbs

REPO = Path(__file__).parents[2]
README = (REPO / "README.md").read_text("utf-8")
COMMANDS = README.split("## Commands")[1].split("## Keys")[0]


def test_the_key_table_is_the_one_the_action_table_makes() -> None:
    table = README.split("a test compares -->\n")[1].split("<!-- end of the key table -->")[0]
    assert table == key_table_markdown()


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_stands_in_the_table_of_commands(verb: str) -> None:
    assert f"`{verb}`" in COMMANDS


def test_every_verb_and_option_of_the_table_of_commands_exists() -> None:
    shown = "".join(CliRunner().invoke(cli, [*verb, "--help"]).output for verb in ([], *([v] for v in verbs())))
    for option in set(re.findall(r"`[^`]*?(--[a-z-]+)", COMMANDS)):
        assert option in shown


def test_every_exit_code_of_the_readme_stands_in_the_help() -> None:
    epilog = CliRunner().invoke(cli, ["--help"]).output
    codes = re.findall(r"(?:Exit codes: |· )(\d+) ", COMMANDS.replace("\n", " "))
    assert len(codes) == 12
    for code in codes:
        assert re.search(rf"^\s+{code}\s", epilog, re.MULTILINE)


def test_every_file_the_readme_shows_is_there() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (REPO / target).is_file()
