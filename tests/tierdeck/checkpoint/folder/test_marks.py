"""Labels and pins are given beside the files, which stay as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import SESSION, files, filled
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint.folder import RetentionPolicy, plan_prune
from tierdeck.errors import DamagedCheckpointError, InvalidValueError, NotFoundError


def test_labels_and_pins_are_listed_and_the_file_is_not_touched(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2, label="from the save")
    first, second = folder.listed()
    before = first.path.read_bytes()
    folder.set_label(first.file, "before the merge \ud800 é")
    folder.set_pin(first.file, True)
    folder.set_label(second.file, None)
    found = folder.listed()
    assert [(each.label, each.is_pinned) for each in found] == [("before the merge \ud800 é", True), (None, False)]
    one = folder.listed_one(first.file)
    assert one is not None
    assert (one.label, one.is_pinned, one.is_head) == ("before the merge \ud800 é", True, False)
    assert first.path.read_bytes() == before
    folder.set_pin(first.file, False)
    assert not folder.listed()[0].is_pinned


@pytest.mark.parametrize("label", ["", "  \n", "x" * 201])
def test_a_blank_or_endless_label_is_refused(tmp_path: Path, label: str) -> None:
    folder = filled(tmp_path, 1)
    with pytest.raises(InvalidValueError, match="1 to 200"):
        folder.set_label(files(folder)[0], label)
    assert not (folder.path / "marks.json").exists()


def test_only_what_is_there_is_marked(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    for file in ("00000009-1-aaaaaaaa.rlmckpt", "../" + files(folder)[0], "marks.json"):
        with pytest.raises(NotFoundError):
            folder.set_pin(file, True)


def test_two_processes_lose_no_mark_of_each_other(tmp_path: Path) -> None:
    folder = filled(tmp_path, 20)
    names = files(folder)
    with other_process(tmp_path, SESSION) as one, other_process(tmp_path, SESSION) as two:
        one.begin(f"[folder.set_pin(file, True) for file in {names[:10]!r}]")
        two.begin(f"[folder.set_label(file, 'x') for file in {names[10:]!r}]")
        one.result()
        two.result()
    found = folder.listed()
    assert all(each.is_pinned for each in found[:10])
    assert all(each.label == "x" for each in found[10:])


@pytest.mark.parametrize("text", ["{", "[]", '{"labels": [], "pins": []}', '{"labels": {}, "pins": [1]}'])
def test_marks_that_cant_be_read_are_said_kept_and_stop_retention(tmp_path: Path, text: str) -> None:
    folder = filled(tmp_path, 2)
    path = folder.path / "marks.json"
    path.write_text(text)
    assert len(folder.listed()) == 2
    assert any("marks.json" in problem for problem in folder.problems())
    with pytest.raises(DamagedCheckpointError):
        folder.set_pin(files(folder)[0], True)
    with pytest.raises(DamagedCheckpointError):
        plan_prune(folder, RetentionPolicy(last_per_branch=1))
    assert path.read_text() == text
