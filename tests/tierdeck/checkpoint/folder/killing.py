"""Processes killed in the middle of their saves, one after the other, and what is looked at after each."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from tests.tierdeck.checkpoint.folder.making import SESSION, files, opened, packed
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint import AGENT_LIMITS, load_checkpoint, open_checkpoint

_ENDLESS = """
import random
blob = random.Random(5).randbytes(300_000)
folder.save(packed(1, repl_state={"blob": blob}))
print("1", flush=True)
turn = 1
while True:
    turn += 1
    folder.save(packed(turn, repl_state={"blob": blob, "turn": turn}))
"""
_WITHIN_S = 0.03


def kill_during_saves(root: Path, rounds: int, seed: int) -> int:
    """Kill a saving process so often, at random moments; every file it leaves has to be whole, and the newest good.

    Returns:
        How many half written files they left.
    """
    chance = random.Random(seed)
    folder = opened(root)
    cut: set[str] = set()
    for _ in range(rounds):
        before = len(files(folder))
        with other_process(root, SESSION) as other:
            other.begin(_ENDLESS)
            other.result()
            time.sleep(chance.random() * _WITHIN_S)
            other.kill()
        listed = folder.listed()
        assert len(listed) > before
        assert [each.sequence for each in listed] == list(range(1, len(listed) + 1))
        for each in listed[before:]:
            with open_checkpoint(each.path, limits=AGENT_LIMITS) as file:
                assert load_checkpoint(file).turn == each.turn
        good, skipped = folder.newest_good()
        assert skipped == ()
        assert good is not None
        assert good.file == listed[-1].file
        cut |= {name for name in os.listdir(folder.path) if name.startswith(".part-")}
    # The lock died with each process, and what was half written is no checkpoint.
    assert folder.save(packed()).sequence == len(files(folder))
    return len(cut)
