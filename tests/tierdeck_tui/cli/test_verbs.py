"""What holds of every verb: it is documented, speaks JSON, and costs nothing until it is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import tierdeck_tui.cli
from tierdeck_tui.cli import cli, verbs
from tierdeck_tui.cli.checkpoint import ENTRIES
from tierdeck_tui.cli.frame import EXIT_CODES
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.cli.verb_table import VERBS


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", verbs())
def test_a_verb_takes_json_and_the_stores_options_and_says_what_it_does(name: str) -> None:
    verb = command(name)
    assert isinstance(verb, Verb)
    assert verb.name == name
    flags = {flag for param in verb.params for flag in param.opts}
    assert {"--json", "--db", "--config", "--read-only", "--debug"} <= flags
    assert len(verb.help or "") > 30


@pytest.mark.parametrize("name", verbs())
def test_every_option_of_a_verb_is_explained(name: str) -> None:
    unexplained = [p.opts for p in command(name).params if isinstance(p, click.Option) and not p.help]
    assert unexplained == []


@pytest.mark.parametrize("name", verbs())
def test_the_help_of_a_verb_is_printed(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: tierdeck")
    assert "--json" in result.stdout


def test_the_help_lists_every_verb_and_every_exit_code() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    for entry in VERBS:
        assert f"  {entry.name} " in result.stdout
    for code, _ in EXIT_CODES:
        assert f"  {code} " in result.stdout


def test_every_module_of_verbs_is_in_a_table() -> None:
    folder = Path(tierdeck_tui.cli.__file__).parent
    with_verbs = {
        ".".join(file.relative_to(folder).with_suffix("").parts)
        for file in folder.rglob("*.py")
        if "cls=Verb)" in file.read_text("utf-8")
    }
    assert with_verbs | {"search", "checkpoint"} == {entry.module for entry in (*VERBS, *ENTRIES)}


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES])
def test_a_verb_of_checkpoint_takes_json_and_the_place_and_explains_every_option(name: str) -> None:
    group = command("checkpoint")
    assert isinstance(group, click.Group)
    verb = group.get_command(click.Context(group), name)
    assert isinstance(verb, Verb)
    assert verb.name == name
    assert {"--json", "--checkpoints", "--read-only"} <= {flag for param in verb.params for flag in param.opts}
    assert [p.opts for p in verb.params if isinstance(p, click.Option) and not p.help] == []
    assert len(verb.help or "") > 30
    result = CliRunner().invoke(cli, ["checkpoint", name, "--help"])
    assert (result.exit_code, result.stdout.startswith("Usage: ")) == (0, True)


def test_the_help_of_checkpoint_lists_its_verbs_and_an_unknown_one_is_refused_with_the_nearest() -> None:
    text = CliRunner().invoke(cli, ["checkpoint", "--help"]).stdout
    assert all(f"  {entry.name} " in text for entry in ENTRIES)
    result = CliRunner().invoke(cli, ["checkpoint", "lst"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean list?" in result.stderr


@pytest.mark.case("T22")
def test_the_list_of_verbs_imports_none_of_them() -> None:
    probe = (
        "import sys\nfrom click.testing import CliRunner\nfrom tierdeck_tui.cli import cli, verbs\n"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0\n"
        "from tierdeck_tui.cli.verb_table import VERBS\n"
        "print([e.module for e in VERBS if f'tierdeck_tui.cli.{e.module}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_verb_is_refused_with_the_nearest() -> None:
    result = CliRunner().invoke(cli, ["serch", "x"])
    assert result.exit_code == 2
    assert "did you mean search?" in result.stderr
    assert result.stdout == ""


def test_an_unknown_option_is_refused_and_under_json_as_json_too() -> None:
    result = CliRunner().invoke(cli, ["show", "--frob", "--json", "x"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert '"exit_code": 2' in result.stderr.splitlines()[-1]
