"""The README promises nothing that the program does not hold: its keys, verbs, exit codes and files are real."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tierdeck.checkpoint.folder.verified import VERIFIED_FILE
from tierdeck.demo.build import DemoSummary, build_demo
from tierdeck.model import Tier
from tierdeck_tui.actions import key_table_markdown
from tierdeck_tui.cli import cli, verbs
from tierdeck_tui.cli.checkpoint import ENTRIES

REPO = Path(__file__).parents[2]
README = (REPO / "README.md").read_text("utf-8")
_PAGES = re.findall(r"<!-- a test runs it .*?-->\n```python\n(.+?)```\n```\n(.+?)```", README, re.DOTALL)
COMMANDS = README.split("## Commands")[1].split("## Keys")[0]


def test_the_key_table_is_the_one_the_action_table_makes() -> None:
    table = README.split("a test compares -->\n")[1].split("<!-- end of the key table -->")[0]
    assert table == key_table_markdown()


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_stands_in_the_table_of_commands(verb: str) -> None:
    assert f"`{verb}`" in COMMANDS


def test_every_verb_and_option_of_the_table_of_commands_exists() -> None:
    named = [[], *([verb] for verb in verbs()), *(["checkpoint", entry.name] for entry in ENTRIES)]
    shown = "".join(CliRunner().invoke(cli, [*verb, "--help"]).output for verb in named)
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


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoSummary:
    return build_demo(tmp_path_factory.mktemp("demo") / "demo.db")


def test_the_demo_holds_what_the_tour_says(demo: DemoSummary) -> None:
    tour = " ".join(README.split("## A tour")[1].split("### On a store")[0].split())
    archived = demo.counts.by_tier[Tier.ARCHIVE]
    for words in (
        f"a store of {demo.counts.total} memories",
        f"over {demo.sessions} sessions",
        f"lists {demo.counts.total - archived} of them",
        f"other {archived} are archived",
        f"{demo.waiting} memories wait for a move",
        "ten checkpoints of three sessions",
    ):
        assert words in tour
    saved = demo.checkpoints
    assert (saved.files, saved.sessions, saved.unfinished, saved.damaged, saved.newer) == (10, 3, 2, 1, 1)


def test_every_command_of_the_tour_does_what_it_says_on_the_demo(demo: DemoSummary) -> None:
    commands = re.findall(r"^tierdeck --db DIR/demo\.db (.+)$", README, re.MULTILINE)
    shown = ""
    for command in (command for command in commands if "|" not in command):
        done = CliRunner().invoke(cli, ["--db", str(demo.path), *shlex.split(command)], env={"COLUMNS": "96"})
        assert done.exit_code == 0, command
        shown += done.output
    assert len(commands) >= 8
    [answer] = re.findall(r"<!-- what the demo store answers -->\n```\n(.+?)\n```", README, re.DOTALL)
    assert answer in shown


@pytest.mark.spec("SPEC-09.23")
def test_every_command_on_the_demo_s_checkpoints_does_what_it_says_and_changes_nothing(demo: DemoSummary) -> None:
    root = demo.checkpoints.root
    commands = re.findall(r"^tierdeck checkpoint --checkpoints DIR/demo-checkpoints (.+)$", README, re.MULTILINE)
    before = _files(root)
    shown = ""
    for command in commands:
        given = ["checkpoint", "--checkpoints", str(root), *shlex.split(command)]
        done = CliRunner().invoke(cli, given, env={"COLUMNS": "96"})
        assert done.exit_code == 0, command
        shown += done.output
    assert len(commands) == 3
    [answer] = re.findall(r"<!-- what the demo's checkpoints answer -->\n```\n(.+?)\n```", README, re.DOTALL)
    assert answer in shown
    assert _files(root) == before


def _files(root: Path) -> dict[Path, bytes]:
    """All but what is remembered of verifications: a plan reads the whole file, and notes that it was sound."""
    found = [path for path in root.rglob("*") if path.is_file() and path.name != VERIFIED_FILE]
    return {path: path.read_bytes() for path in found}


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
@pytest.mark.parametrize(("script", "printed"), _PAGES, ids=["memories"])
def test_a_page_of_the_agent_s_process_prints_what_stands_below_it(
    tmp_path: Path, script: str, printed: str
) -> None:
    assert len(script.splitlines()) + len(printed.splitlines()) <= 60
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == (printed, "")
