"""A process killed in the middle of its saves leaves old files and new files, and no torn one."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import SESSION, files, opened, packed
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint import AGENT_LIMITS, load_checkpoint, open_checkpoint

ROUNDS = 20
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


@pytest.mark.case("C09")
@pytest.mark.case("K29")
@pytest.mark.spec("SPEC-09.22")
def test_twenty_kills_during_saves_leave_only_whole_checkpoints(tmp_path: Path) -> None:
    chance = random.Random(9)
    folder = opened(tmp_path)
    cut = 0
    for _ in range(ROUNDS):
        before = len(files(folder))
        with other_process(tmp_path, SESSION) as other:
            other.begin(_ENDLESS)
            other.result()
            time.sleep(chance.random() * 0.03)
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
        cut += any(name.startswith(".part-") for name in os.listdir(folder.path))
    # The lock died with each process, and what was half written is no checkpoint.
    assert folder.save(packed()).sequence == len(files(folder))
    assert cut > 0, "no kill fell into a save: nothing was shown"
