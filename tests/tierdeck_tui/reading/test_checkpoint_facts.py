"""What the Overview knows of saved sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck_tui.screens.checkpoints_host import SESSION, filled, ruin
from tierdeck.errors import StoppedError
from tierdeck_tui.reading.checkpoint_facts import read_checkpoint_facts


def test_nothing_is_there_before_the_first_save(tmp_path: Path) -> None:
    found = read_checkpoint_facts(tmp_path / "none")
    assert (found.sessions, found.files, found.newest) == (0, 0, None)


def test_operations_count_where_the_session_goes_on_and_not_in_older_checkpoints(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    found = read_checkpoint_facts(tmp_path)
    assert (found.sessions, found.files, found.unfinished) == (1, 3, 1)
    assert found.newest is not None
    assert found.newest.session_id == SESSION
    folder.switch_head(folder.listed()[0].file, "bbbbbbbb", expected_generation=0)
    assert read_checkpoint_facts(tmp_path).unfinished == 0


@pytest.mark.spec("SPEC-09.22")
def test_damaged_and_newer_files_count_and_one_damaged_inside_is_not_known_yet(tmp_path: Path) -> None:
    ruin(filled(tmp_path))
    found = read_checkpoint_facts(tmp_path)
    assert (found.files, found.damaged, found.newer, found.problems) == (6, 1, 1, 0)


def test_a_session_that_nobody_can_name_counts_and_hides_no_other(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / f"lost-{'0' * 32}").mkdir()
    found = read_checkpoint_facts(tmp_path)
    assert (found.sessions, found.files, found.problems) == (2, 3, 1)


def test_counting_stops_when_nobody_waits_for_it(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(StoppedError):
        read_checkpoint_facts(tmp_path, lambda: True)
