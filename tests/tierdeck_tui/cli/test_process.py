"""The command as a process: what it loads, how it ends in a pipe, beside a busy store, on Ctrl+C."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.terminal import command_line, in_terminal, piped
from tierdeck.model import NodeDraft
from tierdeck.store import add_nodes, open_store

HEAVY = ("textual", "openai", "numpy", "wordllama", "rich.console")


def loaded_by(db: Path, *args: str) -> set[str]:
    """Which heavy packages running the command has loaded."""
    probe = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print('loaded:', *[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr))\n"
        f"sys.argv = ['tierdeck', '--db', {str(db)!r}, *{args!r}]\n"
        "from tierdeck_tui.__main__ import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].removeprefix("loaded:").split())


@pytest.mark.case("T22")
@pytest.mark.parametrize(
    "args",
    [
        ("search", "redis", "--alpha", "0", "--json"),
        ("search", "redis", "--alpha", "0", "--explain"),
        ("search",),
        ("show", "bbbb"),
        ("add", "x"),
        ("config",),
        ("--version",),
        ("--help",),
    ],
)
def test_a_verb_without_meaning_loads_nothing_heavy(db: Path, filled: list[str], args: tuple[str, ...]) -> None:
    assert loaded_by(db, *args) == set()


def test_data_goes_to_stdout_and_talk_to_stderr(db: Path, filled: list[str]) -> None:
    done = piped(db, "archive", "bbbb")
    assert (done.returncode, done.stdout) == (0, f"{filled[2]}\n".encode())
    assert done.stderr == b"archived 1 memory\n"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("show", "bbbb"), 0),
        (("search", "redis", "--alpha", "2"), 2),
        (("show", "ffff"), 4),
        (("show", "aaaa"), 4),
        (("config", "--config", "/nonexistent.toml"), 8),
        (("search", "x", "--db", "/nonexistent.db"), 3),
        ((), 2),
    ],
)
def test_the_process_ends_with_the_documented_code(
    db: Path, filled: list[str], args: tuple[str, ...], code: int
) -> None:
    done = piped(db, *args)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert (done.stdout == b"") is (code != 0)


@pytest.mark.parametrize("args", [("search", "--limit", "1000"), ("search", "--limit", "1000", "--json")])
def test_a_reader_that_leaves_ends_it_quietly(db: Path, args: tuple[str, ...]) -> None:
    with open_store(db, create=True) as store:
        add_nodes(store, (NodeDraft(f"memory {n} " + "word " * 60) for n in range(1_000)))
    process = subprocess.Popen(command_line(db, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


def test_a_stream_that_lacks_a_character_gets_its_escape(db: Path) -> None:
    with open_store(db, create=True) as store:
        add_nodes(store, [NodeDraft("日本語 ⚙️ é")])
    done = subprocess.run(
        command_line(db, "search"),
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"\\u65e5" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_to_a_full_disk_is_one_line_and_an_exit_code(db: Path, filled: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command_line(db, "search"), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"tierdeck: write output: the disk is full\n")


def test_a_closed_stdin_is_told(db: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command_line(db, "add", "-")], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"stdin" in done.stderr
    assert not db.exists()


def test_a_path_that_drives_the_terminal_is_shown_and_taken_as_it_is(tmp_path: Path) -> None:
    odd = tmp_path / "\x1b]0;pwned\x07\u202e.db"
    missing = piped(odd, "search")
    assert missing.returncode == 3
    assert "␛]0;pwned␇‹202E›.db" in missing.stderr.decode()
    assert piped(odd, "add", "x").returncode == 0
    assert odd.exists()


@pytest.mark.case("D01")
def test_a_write_waits_for_another_program_and_then_saves(db: Path, filled: list[str]) -> None:
    other = sqlite3.connect(db, check_same_thread=False, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(1.5, lambda: other.execute("COMMIT"))
    release.start()
    done = piped(db, "add", "waited for")
    release.join()
    other.close()
    assert done.returncode == 0
    assert piped(db, "show", done.stdout.decode().strip()).returncode == 0


@pytest.mark.case("D01")
def test_a_write_that_waits_too_long_claims_nothing_kept(db: Path, filled: list[str]) -> None:
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    done = piped(db, "add", "never kept")
    other.execute("ROLLBACK")
    other.close()
    assert done.returncode == 3
    assert done.stdout == b""
    assert b"another program holds it" in done.stderr
    assert b"nothing was changed" in done.stderr
    assert len(piped(db, "search", "--ids").stdout.split()) == len(filled)


def test_ctrl_c_ends_it_with_one_line(db: Path) -> None:
    process = subprocess.Popen(
        command_line(db, "add", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    # It reads stdin by then: what it has to import takes less than the other end needs to be read from.
    process.stdin.write(b"x" * 200_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"tierdeck: stopped\n")
    assert not db.exists()


def test_colours_show_in_a_terminal_only_and_never_with_no_color(db: Path, filled: list[str]) -> None:
    assert "\x1b[" in in_terminal(db, "search", env={"TERM": "xterm"}).shown
    assert "\x1b" not in in_terminal(db, "search", env={"TERM": "xterm", "NO_COLOR": "1"}).shown
    assert "\x1b" not in in_terminal(db, "search", env={"TERM": "dumb"}).shown
    assert b"\x1b" not in piped(db, "search").stdout


def test_a_row_never_is_wider_than_the_terminal(db: Path, filled: list[str]) -> None:
    shown = in_terminal(db, "search", "deploy", "--alpha", "0", env={"COLUMNS": "60", "NO_COLOR": "1"}).shown
    assert max(len(line) for line in shown.splitlines()) <= 60


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_store_that_this_user_may_not_read_can_not_be_used_and_is_no_wrong_option(db: Path) -> None:
    db.touch(0o000)
    done = piped(db, "search", "redis")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"may not read it" in done.stderr


@pytest.mark.parametrize(("args", "code"), [(("search", "redis"), 0), (("doctor",), 0), (("export",), 2)])
def test_a_closed_stdout_is_no_unforeseen_error(
    db: Path, filled: list[str], args: tuple[str, ...], code: int
) -> None:
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *command_line(db, *args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "unforeseen" in done.stderr) == (code, False)
