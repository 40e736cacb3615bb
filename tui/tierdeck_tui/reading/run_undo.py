"""What undoing a run would take back, and what would be refused since something moved it again."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.promote.log.entries import count_entries, entries
from tierdeck.promote.moves.undo import undoable
from tierdeck.promote.records import LogEntry, LogFilter
from tierdeck.store import Store

MAX_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class RunUndo:
    """The run's latest rows: those that stand, and those that no longer do; `rows` counts all of the run's."""

    run_id: int
    rows: int
    standing: tuple[LogEntry, ...]
    passed: tuple[LogEntry, ...]


def read_run_undo(store: Store, run_id: int) -> RunUndo:
    """Look at the rows of a run, the latest `MAX_LOOKED_AT` of them."""
    found = entries(store, LogFilter(run_id=run_id), limit_rows=MAX_LOOKED_AT)
    standing: list[LogEntry] = []
    passed: list[LogEntry] = []
    for entry in found:
        newest = undoable(store, entry.node_id)
        (standing if newest is not None and newest.id == entry.id else passed).append(entry)
    return RunUndo(run_id, count_entries(store, LogFilter(run_id=run_id)), tuple(standing), tuple(passed))
