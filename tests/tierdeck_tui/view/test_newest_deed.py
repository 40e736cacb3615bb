"""Which deed undo and redo take back, when changes and moves mix."""

from __future__ import annotations

from tierdeck.model import Revision, RevisionKind
from tierdeck.promote.records import LogEntry, LogKind
from tierdeck_tui.view.newest_deed import newest_deed, newest_undo


def change(number: int, at_ms: int, kind: RevisionKind = "edit", undoes: int | None = None) -> Revision:
    return Revision(number, "n", at_ms, kind, "ops", None, undoes)


def move(number: int, at_ms: int, kind: LogKind = "override", undoes: int | None = None) -> LogEntry:
    return LogEntry(
        number, at_ms, "n", "task", "session", kind, None, None, (), "ops", None, None, None, undoes, None
    )


def test_the_newer_of_change_and_move_is_taken_back() -> None:
    assert newest_deed([change(1, 10)], move(1, 20)) == move(1, 20)
    assert newest_deed([change(1, 30)], move(1, 20)) == change(1, 30)


def test_of_the_same_millisecond_it_is_the_move() -> None:
    assert newest_deed([change(1, 20)], move(1, 20)) == move(1, 20)


def test_nothing_stands_when_the_only_change_was_taken_back() -> None:
    assert newest_deed([change(2, 20, "undo", undoes=1), change(1, 10)], None) is None
    assert newest_deed([], None) is None


def test_redo_takes_the_latest_undo_that_stands() -> None:
    undone_change = [change(2, 20, "undo", undoes=1), change(1, 10)]
    undone_move = [move(6, 40, "undo", undoes=5), move(5, 30)]
    assert newest_undo(undone_change, undone_move) == undone_move[0]
    assert newest_undo(undone_change, []) == undone_change[0]


def test_an_undo_that_was_redone_is_not_redone_again() -> None:
    redone = [move(7, 50, "undo", undoes=6), move(6, 40, "undo", undoes=5), move(5, 30)]
    assert newest_undo([], redone) is None
