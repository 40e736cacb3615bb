"""A journal never grows so large that its session can't be gone on from: results are left out, and that is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.journal.test_journal import BRANCH, entry
from tierdeck.checkpoint.journal import BranchLine, Journal, store_value
from tierdeck.checkpoint.running.question import question_about
from tierdeck.errors import CheckpointError, CheckpointLimitError

KB = 1024


def journal(folder: Path, max_bytes: int) -> Journal:
    folder.mkdir(exist_ok=True)
    return Journal(folder, BRANCH, line=BranchLine("s", BRANCH), max_bytes=max_bytes)


def test_a_result_too_large_for_the_journal_is_left_out_and_asked_about(tmp_path: Path) -> None:
    mine = journal(tmp_path, 800 * KB)
    mine.start(entry(1))
    mine.finish(entry(1).op_id, "done", store_value(b"x" * 99 * KB))
    mine.start(entry(2))
    mine.finish(entry(2).op_id, "done", store_value(b"x" * 101 * KB))
    first, second = Journal(tmp_path, BRANCH).operations()
    assert first.result is not None
    assert first.result.value() == b"x" * 99 * KB
    assert second.result is not None
    assert (second.state, second.result.value()) == ("done", None)
    question = question_about(second)
    assert question is not None
    assert "the journal keeps 102,400 of one value" in question.why
    assert question_about(first) is None


def _fill(mine: Journal) -> None:
    for number in range(10_000):
        mine.start(entry(number))
        mine.finish(entry(number).op_id, "done", store_value(b"x" * 10 * KB))


def test_a_journal_that_is_nearly_full_keeps_short_results_and_is_readable_when_it_takes_no_more(
    tmp_path: Path,
) -> None:
    mine = journal(tmp_path, 200 * KB)
    with pytest.raises(CheckpointLimitError, match="it would be larger than 204,800 bytes"):
        _fill(mine)
    assert mine.path.stat().st_size <= 200 * KB
    read = Journal(tmp_path, BRANCH)
    kept = [each for each in read.operations() if each.result is not None and each.result.why is None]
    assert 10 < len(kept) < len(read.operations())
    assert len(read.operations()) > 50, "calls are noted long after their results have no room"
    assert read.notes == ()


def test_a_forked_child_adds_nothing_to_its_parent_s_journal(tmp_path: Path) -> None:
    mine = journal(tmp_path, 200 * KB)
    mine.start(entry(1))
    before = mine.path.read_bytes()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            mine.start(entry(2))
        except CheckpointError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert mine.path.read_bytes() == before
    mine.start(entry(3))
    assert len(Journal(tmp_path, BRANCH).operations()) == 2
