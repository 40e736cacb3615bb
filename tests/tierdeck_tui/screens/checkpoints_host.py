"""Sessions with real checkpoint files, the Checkpoints screen on them, and what a test looks at there."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from tests.tierdeck.checkpoint.sample import file_bytes, forged, sample
from tests.tierdeck_tui.conftest import keyword_settings
from tests.tierdeck_tui.screens.mode_host import ModeHost
from tierdeck.checkpoint import Operation, pack_checkpoint
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck.config import CheckpointSettings, Settings
from tierdeck.store import open_store
from tierdeck_tui.screens.checkpoints import CheckpointsScreen
from tierdeck_tui.view.line import text_of
from tierdeck_tui.widgets.checkpoint_pane import CheckpointPane
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.line_list import LineList

SESSION = "agent-7"
BRANCH = "aaaaaaaa"
SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
DAY_NS = 86_400_000_000_000
START_NS = 1_700_000_000_000_000_000


def save(folder: SessionFolder, number: int, **changes: object) -> Path:
    """Save the automatic checkpoint of a turn; a lock is lost in each, and what is in `x` and `late` changes."""
    state: dict[str, object] = {"x": number, "key": SECRET, "same": [1, 2, 3], "lock": threading.Lock()}
    if number >= 3:
        state["late"] = {"a": (1, 2)}
    fields: dict[str, object] = {
        "session_id": folder.session_id,
        "checkpoint_id": f"{number:016x}",
        "created_at_ns": START_NS + number * DAY_NS,
        "turn": number * 5,
        "branch": BRANCH,
        "parent": f"{number - 1:016x}" if number > 1 else None,
        "reason": "auto",
        "label": None,
        "origin": None,
        "losses": (),
        "repl_state": state,
        "pending_operations": (),
        "cost_so_far": number * 0.25,
    }
    return folder.save(pack_checkpoint(sample(**fields | changes))).path


def filled(root: Path, checkpoints: int = 3) -> SessionFolder:
    """A session of one branch; a tool was under way in its last checkpoint."""
    folder = open_session_folder(root, SESSION, create=True)
    for number in range(1, checkpoints + 1):
        running = (Operation("op-1", "tool", "running", number * 5, True, ["send", {"to": "ann"}]),)
        save(folder, number, pending_operations=running if number == checkpoints else ())
    return folder


def ruin(folder: SessionFolder) -> None:
    """Put a foreign file (4), a newer one (5) and one that is damaged inside (6) beside the others."""
    whole = file_bytes(sample(session_id=SESSION, branch=BRANCH))
    changed = bytearray(whole)
    changed[-300] ^= 1
    files = {4: b"\x80\x04 a pickle or whatever", 5: forged(whole, major=2), 6: bytes(changed)}
    for number, data in files.items():
        (folder.path / f"{number:08d}-3-0011223{number}.rlmckpt").write_bytes(data)


def settings_for(root: Path) -> Settings:
    """The settings of an operator called ann, without a model, with the checkpoints there."""
    return replace(keyword_settings(operator="ann"), checkpoints=CheckpointSettings(folder=str(root)))


def empty_store(path: Path) -> Path:
    """A store of ours without a memory."""
    with open_store(path, create=True):
        return path


class Deck(ModeHost[CheckpointsScreen]):
    """What is on the Checkpoints screen of a running app."""

    kind = CheckpointsScreen
    key = "3"

    @property
    def tree(self) -> LineList:
        return self.screen.query_one("#tree", LineList)

    @property
    def variables(self) -> LineList:
        return self.screen.query_one("#variables", LineList)

    @property
    def pane(self) -> str:
        """The text of the section that is shown."""
        return "\n".join(text_of(line) for line in self.screen.query_one(CheckpointPane).text.lines)

    @property
    def status(self) -> str:
        return self.screen.query_one("#checkpoint-status", LineBar).text

    def lines(self, rows: LineList | None = None) -> list[str]:
        """What a list shows, by default the tree, without empty lines."""
        rows = rows or self.tree
        shown = [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]
        return [line for line in shown if line]
