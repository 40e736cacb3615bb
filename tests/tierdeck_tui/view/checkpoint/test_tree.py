"""The tree's rows are made when they are asked for, and nothing of what is not shown is kept."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tests.tierdeck_tui.screens.checkpoints_host import filled, save
from tierdeck.checkpoint import Summary
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck_tui.reading.checkpoint_sessions import read_sessions
from tierdeck_tui.view.checkpoint.tree import CheckpointRow, TreeRows


def kept(kind: type) -> int:
    return sum(type(each) is kind for each in gc.get_objects())


@pytest.mark.case("T09")
def test_of_checkpoints_that_are_not_shown_neither_row_nor_summary_is_kept(tmp_path: Path) -> None:
    filled(tmp_path, 30)
    gc.collect()
    rows_before, summaries_before = kept(CheckpointRow), kept(Summary)
    rows = TreeRows(read_sessions(tmp_path, None))
    assert len(list(rows.keys())) == 31
    assert kept(CheckpointRow) == rows_before
    assert kept(Summary) - summaries_before <= 3, "the newest, by which HEAD was found"


def test_rows_by_number_are_the_rows_in_order_and_their_keys_and_marks_fit(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    save(folder, 3, branch="bbbbbbbb", parent=f"{1:016x}")
    other = open_session_folder(tmp_path, "other", create=True)
    save(other, 1, created_at_ns=1)
    rows = TreeRows(read_sessions(tmp_path, {path.name for path in tmp_path.iterdir()}))
    kinds = [type(rows[number]).__name__.removesuffix("Row") for number in range(len(rows))]
    first = ["Session", "Branch", "Checkpoint", "Branch", "Checkpoint", "Checkpoint"]
    assert kinds == [*first, "Session", "Checkpoint"]
    assert [row.key for row in rows] == list(rows.keys())
    assert list(rows.checkpoint_keys()) == [row.key for row in rows if isinstance(row, CheckpointRow)]
    assert rows[-1].key == rows[len(rows) - 1].key
    assert [row.key for row in rows[2:4]] == [rows[2].key, rows[3].key]
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_what_is_newer_than_head_on_its_own_branch_was_left_too(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    head = folder.head()
    assert head is not None
    folder.switch_head(folder.listed()[1].file, "cccccccc", expected_generation=head.generation)
    rows = TreeRows(read_sessions(tmp_path, {path.name for path in tmp_path.iterdir()}))
    shown = [(row.listed.sequence, row.is_left) for row in rows if isinstance(row, CheckpointRow)]
    assert shown == [(3, True), (2, False), (1, False)]
