"""--key-file: what is sealed is verified, shown and restored with the key; a wrong one is not called damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tierdeck_tui.cli.checkpoint.conftest import Command
from tierdeck.session import open_session
from tierdeck_tui.cli import cli

KEY = b"the operator's"


@pytest.fixture
def key(tmp_path: Path, root: Path) -> str:
    """The file with the key that two checkpoints of session `s` are sealed with; one of `plain` is with none."""
    for session, with_key in (("s", KEY), ("plain", None)):
        with open_session(None, session, checkpoints=root, every=1, checkpoint_key=with_key) as opened:
            for x in range(2 if with_key else 1):
                opened.turn({"x": x})
                opened.flush()
    return put(tmp_path / "key", KEY)


@pytest.fixture
def other(tmp_path: Path) -> str:
    """A file with another key."""
    return put(tmp_path / "other", b"somebody's")


def put(path: Path, data: bytes) -> str:
    path.write_bytes(data + b"\n")
    path.chmod(0o600)
    return str(path)


@pytest.mark.spec("SPEC-09.22")
def test_verify_needs_the_key_and_says_which_is_wrong(run: Command, key: str, other: str) -> None:
    assert run("verify", "--session", "s", "--key-file", key, "--deep").exit_code == 0
    for args, session, said in (
        ((), "s", "none is set"),
        (("--key-file", other), "s", "made with another"),
        (("--key-file", key), "plain", "made without one"),
    ):
        result = run("verify", f"{session}:1", *args, "--json")
        [found] = json.loads(result.stdout)["verified"]
        assert (result.exit_code, found["state"], said in found["why"]) == (11, "not verified", True)


@pytest.mark.spec("SPEC-09.22")
@pytest.mark.parametrize(
    "verb",
    [
        ("show", "s:1"),
        ("show", "s:1", "--part", "cells"),
        ("vars", "s:1"),
        ("var", "s:1", "x"),
        ("diff", "s:1", "s:2"),
    ],
)
def test_what_is_looked_at_is_shown_with_any_key_and_a_seal_that_does_not_fit_is_said(
    run: Command, key: str, other: str, verb: tuple[str, ...]
) -> None:
    plain, good, bad = run(*verb), run(*verb, "--key-file", key), run(*verb, "--key-file", other)
    assert plain.stdout == good.stdout == bad.stdout
    assert [plain.exit_code, good.exit_code, bad.exit_code] == [0, 0, 11]
    assert "not sealed with the key" in bad.stderr
    assert "not sealed with the key" not in good.stderr


@pytest.mark.spec("SPEC-09.23")
def test_a_restore_of_what_is_sealed_needs_the_key(run: Command, key: str, other: str, root: Path) -> None:
    for args in ((), ("--key-file", other)):
        refused = run("restore", "s:1", "--as", "new", "--yes", *args)
        assert (refused.exit_code, refused.stdout) == (11, "")
        assert "key" in refused.stderr
        assert "damaged" not in refused.stderr
    assert len(list(root.iterdir())) == 2
    assert run("restore", "s:1", "--as", "new", "--yes", "--key-file", key).stdout == "new\n"
    assert run("verify", "new:1", "--key-file", key).exit_code == 0
    assert run("restore", "s:1", "--rewind", "--yes", "--key-file", key).exit_code == 0
    assert "made without one" in run("restore", "plain:1", "--yes", "--key-file", key).stderr


def test_the_key_is_named_by_the_environment_and_before_the_verb_too(key: str, other: str, root: Path) -> None:
    args = ["--checkpoints", str(root), "checkpoint", "verify", "s:1"]
    by_variable = CliRunner(env={"TIERDECK_CHECKPOINT_KEY_FILE": key}).invoke(cli, args)
    assert by_variable.exit_code == 0
    assert CliRunner().invoke(cli, ["--key-file", key, *args]).exit_code == 0
    assert CliRunner().invoke(cli, ["--key-file", other, *args, "--key-file", key]).exit_code == 0, "the last wins"


def test_a_key_file_that_others_may_read_ends_every_verb_that_needs_it_and_no_other(
    run: Command, key: str, root: Path
) -> None:
    Path(key).chmod(0o644)
    for verb in (("verify", "s:1"), ("restore", "s:1", "--yes"), ("prune", "s", "--yes"), ("show", "s:1")):
        refused = run(*verb, "--key-file", key)
        assert (refused.exit_code, refused.stdout) == (11, "")
        assert "its mode is 0644" in refused.stderr
        assert KEY.decode() not in refused.stderr
    listed = CliRunner(env={"TIERDECK_CHECKPOINT_KEY_FILE": key}).invoke(
        cli, ["--checkpoints", str(root), "checkpoint", "list"]
    )
    assert listed.exit_code == 0


def test_prune_with_the_key_takes_away_what_without_it_nobody_could_vouch_for(run: Command, key: str) -> None:
    assert "nothing to clear away" in run("prune", "s", "--keep-last", "1", "--yes").stderr
    assert run("prune", "s", "--keep-last", "1", "--yes", "--key-file", key).stdout.startswith("00000001-")
