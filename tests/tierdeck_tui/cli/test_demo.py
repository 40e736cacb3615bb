"""demo: what it prints without a terminal, what it leaves behind, and the console in one."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.terminal import in_terminal, piped


def test_without_a_terminal_it_prints_a_summary_and_leaves_nothing(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    done = piped(db, "demo")
    assert done.returncode == 0
    assert b"memories" in done.stdout
    assert b"longterm" in done.stdout
    assert re.search(
        rb"promotion \d+ rows in the log . \d+ candidates wait", done.stdout.replace("·".encode(), b".")
    )
    assert "checkpoints 10 of 3 sessions · damaged 1 · newer 1 · unfinished operations 2" in done.stdout.decode()
    assert list(folder.iterdir()) == []
    assert not db.exists()


def test_json_counts_what_was_made(run: Command) -> None:
    document = json.loads(run("demo", "--json").stdout)
    assert document["path"] is None
    assert document["counts"]["total"] >= 400
    assert document["sessions"] >= 14
    assert document["log_rows"] > document["candidates"] > 30
    saved = {"path": None, "sessions": 3, "files": 10, "damaged": 1, "newer": 1, "unfinished": 2, "lost": 4}
    assert document["checkpoints"] == saved


def test_a_kept_demo_is_searched_like_any_store(run: Command, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    path = json.loads(run("demo", "--keep", str(folder), "--json").stdout)["path"]
    assert path == str(folder / "demo.db")
    assert run("search", "deploy", "--alpha", "0", "--ids", "--db", path).stdout != ""
    again = run("demo", "--keep", str(folder))
    assert again.exit_code == 2
    assert "exists" in again.stderr
    assert f"`tierdeck --db {path}` opens it" in again.stderr


def test_checkpoints_of_a_kept_demo_are_listed_like_any(run: Command, tmp_path: Path) -> None:
    kept = json.loads(run("demo", "--keep", str(tmp_path / "kept"), "--json").stdout)["checkpoints"]["path"]
    assert kept == str(tmp_path / "kept" / "demo-checkpoints")
    found = json.loads(run("checkpoint", "--checkpoints", kept, "list", "--json").stdout)["sessions"]
    assert [session["session_id"] for session in found] == ["s-14", "n-03", "n-02"]


def test_in_a_terminal_its_own_checkpoints_are_shown_whatever_folder_is_set(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", tempfile.mkdtemp(dir=tmp_path))
    env = {"TERM": "xterm", "RLM_CHECKPOINT_DIR": str(tmp_path / "mine")}
    ended = in_terminal(db, "demo", answers=[("Search", "3"), ("before the schema", "\x11")], env=env)
    assert ended.exit_code == 0
    assert "before the schema" in ended.shown
    assert not (tmp_path / "mine").exists()


def test_in_a_terminal_the_console_opens_and_the_store_is_gone_afterwards(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    monkeypatch.setenv("TMPDIR", str(folder))
    ended = in_terminal(db, "demo", answers=[("Search", "\x11")], env={"TERM": "xterm"})
    assert ended.exit_code == 0
    assert ended.shown.count("\x1b[?1049h") == ended.shown.count("\x1b[?1049l") == 1
    assert list(folder.iterdir()) == []


@pytest.mark.spec("SPEC-09.24")
def test_with_an_agent_its_session_is_live_while_the_console_is_open_and_gone_afterwards(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    monkeypatch.setenv("TMPDIR", str(folder))
    answers = [("Search", "3"), ("1 running", "\x11")]
    ended = in_terminal(db, "demo", "--agent", answers=answers, env={"TERM": "xterm"})
    assert ended.exit_code == 0
    assert "1 running" in ended.shown
    [pid] = re.findall(r"the agent is process (\d+)", ended.shown)
    assert subprocess.run(["ps", "-p", pid], capture_output=True, check=False).returncode == 1
    assert list(folder.iterdir()) == []


def test_without_a_terminal_no_agent_is_started_and_that_is_said(db: Path, tmp_path: Path) -> None:
    done = piped(db, "demo", "--agent", "--keep", str(tmp_path / "kept"))
    assert done.returncode == 0
    assert b"no agent was started" in done.stderr
    assert not (tmp_path / "kept" / "demo-agent.log").exists()
