"""Ctrl+C while many memories are held, archived or taken back: what was done is told, and nothing is half done."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.terminal import command_line
from tierdeck.model import NodeDraft
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import add_nodes, open_store

IDS = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(3_000)]


def stopped(db: Path, *args: str) -> tuple[list[str], str, int, int]:
    """Run the verb over all ids and press Ctrl+C when rows of the log came in.

    Returns:
        The ids it printed, what it said, its exit code, and how many rows it wrote into the log.
    """
    before = logged(db)
    pipe = subprocess.PIPE
    process = subprocess.Popen(command_line(db, *args, "-"), stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdin is not None
    process.stdin.write("\n".join(IDS))
    process.stdin.close()
    process.stdin = None
    end = time.monotonic() + 60
    while logged(db) == before and time.monotonic() < end:
        time.sleep(0.002)
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # it waits for the store until the signal has come
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    other.execute("ROLLBACK")
    other.close()
    out, err = process.communicate()
    return out.split(), err, process.returncode, logged(db) - before


def logged(db: Path) -> int:
    conn = sqlite3.connect(db)
    try:
        [(rows,)] = conn.execute("SELECT count(*) FROM td_promotion_log")
        return int(rows)
    finally:
        conn.close()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("hold", "--reason", "not yet"), "what was held stays so, and the same command again does the rest"),
        (("archive", "--reason", "no use"), "what was archived stays so, and the same command again does the rest"),
        (("undo",), "stopped after "),
    ],
    ids=["hold", "archive", "undo"],
)
def test_ctrl_c_ends_it_between_two_chunks_and_what_was_done_is_told(
    db: Path, args: tuple[str, ...], says: str
) -> None:
    with open_store(db, create=True) as store:
        add_nodes(store, [NodeDraft(f"memory {node_id}", id=node_id) for node_id in IDS])
        if args == ("undo",):
            archive_nodes(store, IDS, actor="mara")
    done, said, exit_code, rows = stopped(db, *args)
    assert exit_code == 130
    assert says in said
    assert 0 < rows < len(IDS)
    assert done == IDS[:rows]
    with open_store(db) as store:
        assert verify_log(store).problem is None
