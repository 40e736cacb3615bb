"""Where branches began, from the first record of each journal: also of a long one, and never from a broken one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import filled
from tierdeck.checkpoint.journal import BranchLine, Journal, TurnLine, journal_path, read_beginnings

A, B, C = "aaaaaaaa", "bbbbbbbb", "cccccccc"


def journal(folder: Path, branch: str, parent: str | None, turns: int = 1) -> Path:
    made = Journal(folder, branch, line=BranchLine("s", branch, parent, 7))
    for turn in range(turns):
        made.end_turn(TurnLine(turn, None, None, None, None, 0))
    made.close()
    return journal_path(folder, branch)


@pytest.mark.spec("SPEC-09.23")
def test_each_branch_says_what_it_went_on_from_though_its_journal_is_long(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1).path
    journal(folder, A, None)
    assert journal(folder, B, A, turns=2_000).stat().st_size > 50_000
    found = read_beginnings(folder)
    assert {branch: (line.parent, line.parent_turn) for branch, line in found.items()} == {A: (None, 7), B: (A, 7)}


def test_a_journal_that_is_none_or_another_branchs_has_no_beginning_and_hides_no_other(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1).path
    good = journal(folder, A, B)
    journal_path(folder, B).write_bytes(b"no journal")
    journal_path(folder, C).write_bytes(good.read_bytes())
    assert set(read_beginnings(folder)) == {A}
    good.write_bytes(good.read_bytes()[:40])
    assert read_beginnings(folder) == {}
    assert read_beginnings(tmp_path / "none") == {}
