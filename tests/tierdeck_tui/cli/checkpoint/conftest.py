"""Sessions with checkpoints on a real disk, and the command line on them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.tierdeck.checkpoint.sample import file_bytes, forged, sample
from tierdeck.checkpoint import pack_checkpoint
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck_tui.cli import cli

Command = Callable[..., Result]
SESSION = "agent-7"
HOSTILE = "\x1b]52;c;aGFja2Vk\x07"
SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the checkpoints of a test are, or will be."""
    return tmp_path / "checkpoints"


@pytest.fixture
def run(root: Path) -> Command:
    """Run `tierdeck checkpoint --checkpoints <root> ARGS`; an unforeseen error in it fails the test."""

    def invoke(*args: str, stdin: str = "") -> Result:
        given = ["checkpoint", "--checkpoints", str(root), *args]
        result = CliRunner().invoke(cli, given, input=stdin, prog_name="tierdeck")
        assert result.exit_code != 1, result.stderr
        return result

    return invoke


@pytest.fixture
def session(root: Path) -> SessionFolder:
    """A session of one branch with automatic checkpoints at turns 5, 10 and 15; a lock was lost in each."""
    folder = open_session_folder(root, SESSION, create=True)
    parent = None
    for number in (1, 2, 3):
        checkpoint_id = f"{number:016x}"
        state: dict[str, object] = {
            "x": number,
            "text": f"{HOSTILE} text",
            "key": SECRET,
            "same": [1, 2, 3],
            "lock": threading.Lock(),
        }
        if number == 3:
            state["late"] = {"a": (1, 2)}
        made = sample(
            session_id=SESSION,
            checkpoint_id=checkpoint_id,
            turn=number * 5,
            branch="aaaaaaaa",
            parent=parent,
            reason="auto",
            label=None,
            origin=None,
            losses=(),
            repl_state=state,
            pending_operations=(),
            cost_so_far=number * 0.25,
        )
        folder.save(pack_checkpoint(made))
        parent = checkpoint_id
    return folder


@pytest.fixture
def ruins(session: SessionFolder) -> SessionFolder:
    """The session, with a file that is foreign (4), newer (5), of a newer minor (6), damaged inside (7)."""
    whole = file_bytes(sample(session_id=SESSION, branch="aaaaaaaa"))
    changed = bytearray(whole)
    changed[-300] ^= 1
    files = {
        4: b"\x80\x04 a pickle or whatever",
        5: forged(whole, major=2),
        6: forged(whole, minor=3),
        7: bytes(changed),
    }
    for number, data in files.items():
        (session.path / f"{number:08d}-3-0011223{number}.rlmckpt").write_bytes(data)
    return session
