"""backup, adopt, unadopt, config and completion."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.terminal import in_terminal
from tierdeck.config_file import default_text
from tierdeck.config_keys import KEYS
from tierdeck_tui.cli import cli


def on(path: Path, *args: str) -> Result:
    return CliRunner().invoke(cli, ["--db", str(path), *args], prog_name="tierdeck")


def tables(path: Path) -> set[str]:
    conn = sqlite3.connect(path)
    try:
        return {row[0] for row in conn.execute("SELECT name FROM sqlite_master")}
    finally:
        conn.close()


def test_a_backup_is_made_listed_verified_and_put_back(
    run: Command, db: Path, filled: list[str], tmp_path: Path
) -> None:
    made = run("backup").stdout.strip()
    assert run("backup", "--list").stdout.split() == [made]
    assert run("backup", "--verify", made).stdout.startswith("good: ")
    run("archive", filled[0])
    assert run("backup", "--restore", made).exit_code == 2
    assert run("backup", "--restore", made, "--yes").exit_code == 0
    assert json.loads(run("show", filled[0], "--json").stdout)["memories"][0]["memory"]["tier"] == "task"
    target = tmp_path / "copy.db"
    assert json.loads(run("backup", "--to", str(target), "--json").stdout)["backup"]["path"] == str(target)
    assert run("backup", "--to", str(target)).exit_code == 2


def test_a_backup_that_no_longer_holds_what_was_copied_is_not_good(run: Command, filled: list[str]) -> None:
    made = run("backup").stdout.strip()
    conn = sqlite3.connect(made)
    conn.execute("UPDATE nodes SET provenance = 'changed' WHERE id = ?", (filled[0],))
    conn.commit()
    conn.close()
    result = run("backup", "--verify", made)
    assert result.exit_code == 3
    assert result.stdout.startswith("NOT GOOD: ")
    assert json.loads(run("backup", "--verify", made, "--json").stdout)["is_good"] is False


def test_what_backup_is_to_do_is_said_once(run: Command, filled: list[str]) -> None:
    assert run("backup", "--list", "--verify", "x").exit_code == 2


def test_a_foreign_store_says_adopt_first_and_stays_as_it_is(family_store_path: Path) -> None:
    before = sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir())
    for args in (("add", "x"), ("archive", "x"), ("relate", "a", "b")):
        result = on(family_store_path, *args)
        assert result.exit_code in (3, 4), result.stderr
    assert "tierdeck adopt" in on(family_store_path, "add", "x").stderr
    assert sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir()) == before


def test_adopt_asks_and_unadopt_gives_back(family_store_path: Path) -> None:
    before = tables(family_store_path)
    refused = on(family_store_path, "adopt")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert in_terminal(family_store_path, "adopt", answers=[("[y/N]", "n\n")]).exit_code == 130
    assert tables(family_store_path) == before
    assert in_terminal(family_store_path, "adopt", answers=[("[y/N]", "y\n")]).exit_code == 0
    assert {name for name in tables(family_store_path) - before if not name.startswith("sqlite_")} > {"td_setting"}
    added = on(family_store_path, "add", "x")
    for confidence in ("0.8", "0.9"):
        assert on(family_store_path, "edit", added.stdout.strip(), "--confidence", confidence).exit_code == 0
    asked = on(family_store_path, "unadopt")
    assert asked.exit_code == 2
    assert "what goes with the tables:\n  2 changes can no longer be undone\n" in asked.stderr
    done = on(family_store_path, "unadopt", "--yes", "--json")
    assert json.loads(done.stdout)["was_adopted"] is True
    assert not {name for name in tables(family_store_path) if name.startswith("td_")}


def test_a_store_of_ours_is_refused_before_anything_is_asked(run: Command, db: Path, filled: list[str]) -> None:
    result = run("adopt")
    assert result.exit_code == 2
    assert "tierdeck made this store" in result.stderr
    assert "--yes" not in result.stderr


def test_a_store_that_is_adopted_already_is_not_asked_about(family_store_path: Path) -> None:
    assert on(family_store_path, "adopt", "--yes").exit_code == 0
    again = on(family_store_path, "adopt")
    assert again.exit_code == 0
    assert "nothing was changed" in again.stderr


def test_read_only_refuses_adopt(family_store_path: Path) -> None:
    assert on(family_store_path, "adopt", "--yes", "--read-only").exit_code == 3


def test_config_shows_each_value_and_where_it_comes_from(
    run: Command, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[search]\nalpha = 0.25\nlimit = 5\n[console]\ntheme = "light"\n')
    monkeypatch.setenv("TIERDECK_SEARCH_LIMIT", "7")
    shown = json.loads(run("config", "--config", str(file), "--json").stdout)
    settings = shown["settings"]
    assert shown["path"] == str(file)
    assert set(settings) == {key.name for key in KEYS}
    assert settings["search.alpha"]["value"] == 0.25
    assert settings["search.alpha"]["origin"] == {"kind": "file", "name": str(file)}
    assert settings["search.limit"]["origin"] == {"kind": "environment", "name": "TIERDECK_SEARCH_LIMIT"}
    assert settings["store.path"]["origin"] == {"kind": "flag", "name": "--db"}
    assert settings["console.debounce_ms"]["origin"]["kind"] == "default"
    text = run("config", "--config", str(file)).stdout
    assert re.search(r"(?m)^search\.alpha +0\.25 ", text)
    assert "environment TIERDECK_SEARCH_LIMIT" in text


def test_config_shows_the_stores_own_model(run: Command, db: Path, filled: list[str]) -> None:
    conn = sqlite3.connect(db)
    conn.executemany(
        "INSERT OR REPLACE INTO td_setting (key, value) VALUES (?, ?)",
        [("embedding_provider", "openai"), ("embedding_model", "m-1"), ("embedding_dimensions", "8")],
    )
    conn.commit()
    conn.close()
    shown = json.loads(run("config", "--json").stdout)["settings"]
    assert shown["embedding.model"]["value"] == "m-1"
    assert shown["embedding.dimensions"]["value"] == 8
    assert shown["embedding.model"]["origin"] == {"kind": "store", "name": str(db)}


def test_config_does_not_pass_a_remote_model_off_as_the_one_in_use(run: Command) -> None:
    for args, name in (((), "wordllama-256"), (("--db", "/nonexistent/x.db"), "wordllama-256")):
        text = run("config", *args).stdout
        assert re.search(
            rf"(?m)^embedding\.model +text-embedding-3-small +default · not used: the model is {name}$", text
        )
        assert f"model in use  {name}, on this machine: it needs no key and no network" in text
    shown = json.loads(run("config", "--json").stdout)
    assert (shown["settings"]["embedding.model"]["is_used"], shown["model_in_use"]["name"]) == (
        False,
        "wordllama-256",
    )
    assert shown["settings"]["search.alpha"]["is_used"] is True


@pytest.mark.parametrize(("provider", "is_used"), [("off", False), ("openai", True)])
def test_config_says_of_remote_settings_whether_they_count(
    run: Command, monkeypatch: pytest.MonkeyPatch, provider: str, is_used: bool
) -> None:
    monkeypatch.setenv("TIERDECK_EMBEDDING_PROVIDER", provider)
    text = run("config").stdout
    assert ("not used: the model is none" in text) is not is_used
    assert json.loads(run("config", "--json").stdout)["settings"]["embedding.model"]["is_used"] is is_used


def test_config_init_writes_the_explained_file_once(isolated_environment: Path, run: Command) -> None:
    path = run("config", "--path").stdout.strip()
    assert path == str(isolated_environment / "config" / "tierdeck" / "config.toml")
    assert run("config", "--init").stdout.strip() == path
    assert Path(path).read_text("utf-8") == default_text()
    assert run("config", "--init").exit_code == 8
    assert run("config").exit_code == 0


@pytest.mark.case("E17", "X01")
def test_no_key_is_shown_wherever_it_was_written(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-abcd1234efgh5678")
    file = tmp_path / "config.toml"
    file.write_text('[embedding]\nmodel = "sk-proj-abcd1234efgh5678"\n')
    for args in (("config",), ("config", "--json"), ("config", "--config", str(file)), ("doctor",)):
        result = run(*args)
        assert "abcd1234" not in result.stdout + result.stderr


def test_a_wrong_settings_file_ends_every_verb_with_its_own_code(run: Command, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[search]\nalpha = 2\n")
    for args in (("search", "x"), ("config",), ("add", "x")):
        result = run(*args, "--config", str(file))
        assert result.exit_code == 8
        assert f"{file}: search.alpha = 2 is not a number from 0 to 1" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_of_the_shell(run: Command, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_TIERDECK_COMPLETE" in script
    assert json.loads(run("completion", shell, "--json").stdout)["script"] == script


def test_bash_completes_verbs_and_options(tmp_path: Path) -> None:
    import os
    import sys

    env = {**os.environ, "_TIERDECK_COMPLETE": "bash_complete"}
    for words, cword, wanted in (("tierdeck se", "1", "search"), ("tierdeck search --al", "2", "--alpha")):
        done = subprocess.run(
            [sys.executable, "-m", "tierdeck_tui"],
            env={**env, "COMP_WORDS": words, "COMP_CWORD": cword},
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"plain,{wanted}" in done.stdout.split()
