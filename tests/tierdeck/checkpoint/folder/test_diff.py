"""Two checkpoints are compared by name, and nothing in them is decoded."""

from __future__ import annotations

import pytest

from tests.tierdeck.checkpoint.sample import file_bytes, opened, sample, variables
from tierdeck.checkpoint import CheckpointFile
from tierdeck.checkpoint.folder import Diff, diff


def names(found: Diff) -> tuple[set[str], set[str], set[str]]:
    """Variables that were added, removed and changed."""
    return (
        {unit.name for unit in found.added if unit.kind == "variable"},
        {unit.name for unit in found.removed if unit.kind == "variable"},
        {change.name for change in found.changed if change.after.kind == "variable"},
    )


def file_of(**state: object) -> CheckpointFile:
    """A checkpoint with these variables."""
    return opened(file_bytes(sample(repl_state=state)))


@pytest.mark.spec("SPEC-09.22")
def test_a_checkpoint_is_the_same_as_itself() -> None:
    found = diff(opened(file_bytes()), opened(file_bytes()))
    assert (found.added, found.removed, found.changed) == ((), (), ())
    assert {unit.name for unit in found.same} == {unit.name for unit in opened(file_bytes()).table().units}


def test_added_removed_and_changed_variables_are_told_apart_with_type_and_preview() -> None:
    found = diff(file_of(a=1, b=[1, 2], c="x"), file_of(b=[1, 3], c="x", d={}))
    assert names(found) == ({"d"}, {"a"}, {"b"})
    (change,) = (change for change in found.changed if change.after.kind == "variable")
    assert (change.before.preview, change.after.preview) == ("list of 2: 1, 2", "list of 2: 1, 3")
    assert (change.before.type_name, change.after.type_name) == ("list", "list")


def test_another_type_of_the_same_value_is_a_change() -> None:
    found = diff(file_of(a=1, b=(1,), c=1.0, d=True), file_of(a=1.0, b=[1], c=1, d=1))
    assert names(found) == (set(), set(), {"a", "b", "c", "d"})


def test_a_change_inside_a_shared_object_changes_all_that_refer_to_it() -> None:
    before, after = {"n": list(range(300))}, {"n": [*range(299), -1]}
    found = diff(file_of(a=before, b=[before], c=1), file_of(a=after, b=[after], c=1))
    assert names(found) == (set(), set(), {"a", "b"})


def test_messages_count_as_a_part_of_their_own() -> None:
    found = diff(opened(file_bytes()), opened(file_bytes(sample(messages=[{"role": "user", "content": "more"}]))))
    assert [(change.after.kind, change.name) for change in found.changed] == [("part", "messages")]


def test_nothing_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_more: object) -> None:
        pytest.fail("a section was read")

    monkeypatch.setattr(CheckpointFile, "raw_section", fail)
    found = diff(opened(file_bytes()), opened(file_bytes(sample(repl_state=variables() | {"numbers": 5}))))
    assert names(found) == (set(), set(), {"numbers"})
