"""Before an undo it is said when evidence begins anew: with a rule's move, not with a person's."""

from __future__ import annotations

import pytest

from tierdeck.model import Node, NodeType, Revision
from tierdeck.promote.records import LogEntry, LogKind
from tierdeck_tui.reading.run_undo import RunUndo
from tierdeck_tui.view.change_preview import undo_preview
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.promotion.run_undo_lines import run_undo_lines
from tierdeck_tui.view.promotion.undone_evidence import evidence_note

NODE = Node(id="3f2a9c1e-0000", type=NodeType.FACT, content="one")


def entry(kind: LogKind) -> LogEntry:
    return LogEntry(
        7, 0, NODE.id, "task", "session", kind, "task-session", "1", (), "ann", None, 3, "ab", None, None
    )


@pytest.mark.parametrize(
    ("kind", "is_said"),
    [("auto", True), ("approve", True), ("override", False), ("dismiss", False), ("hold", False)],
)
def test_only_what_a_rule_moved_begins_its_evidence_anew(kind: LogKind, is_said: bool) -> None:
    assert ("begins anew" in undo_preview([(NODE, entry(kind))])) is is_said
    assert ("begins anew" in undo_preview([(NODE, entry(kind)), (NODE, entry("hold"))])) is is_said
    lines = run_undo_lines(RunUndo(3, 1, (entry(kind),), ()), 60)
    assert any("begins anew" in text_of(each) for each in lines) is is_said


def test_a_change_of_fields_has_no_evidence() -> None:
    assert evidence_note([Revision(1, "n", 0, "edit", "ann", None, None)]) is None
