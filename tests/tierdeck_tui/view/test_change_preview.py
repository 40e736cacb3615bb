from __future__ import annotations

import pytest

from tierdeck.model import Node, NodeChanges, NodeType, Revision, Tier
from tierdeck_tui.view.change_preview import edit_preview, move_preview, standing_change, undo_preview

NODE = Node(id="3f2a9c1e-0000", type=NodeType.FACT, content="one\ntwo\nthree", tier=Tier.SESSION)


def change(number: int, kind: str = "edit", undoes: int | None = None) -> Revision:
    return Revision(number, "n", 0, kind, "ann", "typo", undoes)  # type: ignore[arg-type]


def test_a_move_says_from_where_to_where() -> None:
    assert move_preview([NODE], Tier.ARCHIVE) == "3f2a9c1e  session → archive  one⏎two⏎three"
    assert "stays in session" in move_preview([NODE], Tier.SESSION)
    assert move_preview([NODE] * 9, Tier.ARCHIVE).endswith("and 3 more")


def test_an_edit_shows_the_lines_that_change_and_each_field() -> None:
    preview = edit_preview(NODE, NodeChanges(content="one\n2\nthree", confidence=0.9, subtype="x"))
    assert preview.split("\n") == ["subtype: – → x", "confidence: 0.5 → 0.9", " one", "-two", "+2", " three"]


def test_an_edit_that_changes_nothing_shows_nothing() -> None:
    assert edit_preview(NODE, NodeChanges(content=NODE.content, confidence=0.5, type=NodeType.FACT)) == ""


@pytest.mark.case("X01")
def test_a_secret_is_not_shown_in_a_preview() -> None:
    secret = Node(id="n", type=NodeType.FACT, content="password=c0rrect-h0rse-b4ttery")
    assert "h0rse" not in edit_preview(secret, NodeChanges(content="password=0ther-h0rse-b4ttery"))
    assert "h0rse" not in move_preview([secret], Tier.ARCHIVE)


def test_an_undo_names_the_change_it_takes_back() -> None:
    assert "takes back #3 edit by ann: typo" in undo_preview([(NODE, change(3))])


@pytest.mark.parametrize(
    ("changes", "standing"),
    [
        ([], None),
        ([change(1)], 1),
        ([change(1), change(2)], 2),
        ([change(1), change(2), change(3, "undo", 2)], 1),
        ([change(1), change(2, "undo", 1)], None),
        ([change(1), change(2, "undo", 1), change(3, "undo", 2)], 3),
        ([change(1), change(2, "undo", 1), change(3, "undo", 2), change(4, "undo", 3)], None),
        ([change(1), change(2, "undo", 1), change(3)], 3),
    ],
)
def test_what_stands_is_the_newest_change_that_was_not_taken_back(
    changes: list[Revision], standing: int | None
) -> None:
    found = standing_change(changes[::-1])
    assert (found.id if found else None) == standing
