"""What ends before a screen opens, and what does not keep one from opening."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.tierdeck_tui.e2e.tmux import Tmux, console_command
from tierdeck import migrate


def _never_drew(tmux: Tmux, code: int) -> str:
    screen = tmux.wait_for(f"exit={code}")
    assert tmux.value("alternate_on") == "0"
    lines = [line for line in screen.splitlines() if line.strip()]
    assert len(lines) <= 8, "one clear line, a hint, and the exit code, each perhaps broken over the width"
    assert lines[0].startswith("tierdeck: ")
    return screen


def test_a_missing_store_ends_with_one_line(tmux: Tmux, tmp_path: Path) -> None:
    tmux.start(console_command(tmp_path / "none.db"))
    assert "no such file" in _never_drew(tmux, 3).replace("\n", " ")


def test_a_file_that_is_no_store_ends_with_one_line(tmux: Tmux, tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("this is not a database, and long enough to be read as one " * 20)
    tmux.start(console_command(path))
    _never_drew(tmux, 3)


def test_a_damaged_store_ends_with_one_line(tmux: Tmux, small_store: Path) -> None:
    data = bytearray(small_store.read_bytes())
    data[100:4096] = b"\xff" * (4096 - 100)
    small_store.write_bytes(data)
    tmux.start(console_command(small_store))
    _never_drew(tmux, 3)


def test_a_store_of_a_newer_version_ends_with_one_line_that_names_both(tmux: Tmux, small_store: Path) -> None:
    newer = migrate.SCHEMA_VERSION + 5
    conn = apsw.Connection(str(small_store))
    conn.execute("UPDATE td_setting SET value = ? WHERE key = ?", (str(newer), migrate.VERSION_KEY))
    conn.close()
    tmux.start(console_command(small_store))
    screen = _never_drew(tmux, 3)
    assert str(newer) in screen
    assert str(migrate.SCHEMA_VERSION) in screen


def test_a_wrong_key_in_the_settings_ends_with_one_line(tmux: Tmux, small_store: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[console.keymap]\nquit = "ctrl+enter"\n')
    tmux.start(console_command(small_store).replace(" --db", f" --config {config} --db"))
    assert "ctrl+enter" in _never_drew(tmux, 8)


@pytest.mark.case("T22")
def test_the_first_screen_comes_while_another_program_holds_the_store(tmux: Tmux, small_store: Path) -> None:
    holder = apsw.Connection(str(small_store))
    holder.execute("PRAGMA journal_mode=delete").fetchall()
    holder.execute("BEGIN EXCLUSIVE")
    tmux.start(console_command(small_store))
    tmux.wait_for("Opening")
    tmux.wait_for("Trying again until it is free")
    holder.execute("ROLLBACK")
    holder.close()
    tmux.wait_for("20 memories")
    tmux.send("C-q")
    tmux.wait_for("exit=0")


@pytest.mark.case("T22")
def test_leaving_does_not_wait_for_a_store_that_is_held(tmux: Tmux, small_store: Path) -> None:
    holder = apsw.Connection(str(small_store))
    holder.execute("PRAGMA journal_mode=delete").fetchall()
    holder.execute("BEGIN EXCLUSIVE")
    tmux.start(console_command(small_store))
    tmux.wait_for("Opening")
    tmux.send("q")
    tmux.wait_for("exit=0", seconds=4.0)  # the busy timeout alone is five
    holder.close()


@pytest.mark.parametrize("without", ["stdin", "stdout"])
def test_without_a_terminal_it_points_at_the_commands(small_store: Path, without: str) -> None:
    streams = {"stdin": subprocess.DEVNULL} if without == "stdin" else {"stdout": subprocess.PIPE}
    done = subprocess.run(
        [sys.executable, "-m", "tierdeck_tui", "--db", str(small_store)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=30,
        **streams,  # type: ignore[call-overload]
    )
    assert done.returncode == 2
    assert "not a terminal" in done.stderr
    assert "tierdeck search" in done.stderr
