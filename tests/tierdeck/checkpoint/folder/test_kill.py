"""A process killed in the middle of its saves leaves old files and new files, and no torn one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.killing import kill_during_saves

ROUNDS = 20  # `python -m tests.bench.checkpoint_kills` does 200


@pytest.mark.case("C09")
@pytest.mark.case("K29")
@pytest.mark.spec("SPEC-09.22")
def test_twenty_kills_during_saves_leave_only_whole_checkpoints(tmp_path: Path) -> None:
    assert kill_during_saves(tmp_path, ROUNDS, seed=9) > 0, "no kill fell into a save: nothing was shown"
