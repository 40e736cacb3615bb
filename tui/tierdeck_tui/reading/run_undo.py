"""What undoing a run would take back, what was taken back already, and what would be refused.

Of a run that is itself an undo it is a redo.
"""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from tierdeck.promote.log.entries import count_entries, entries, entry_in
from tierdeck.promote.log.standing import standing_of
from tierdeck.promote.records import LogEntry, LogFilter
from tierdeck.store import Store

MAX_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class RunUndo:
    """The run's latest rows: those that can be taken back, those that no longer can, those that were already.

    `rows` counts all of the run's. `latest` is the last row that took one of them back, or took that back again, in
    which case `is_done_again`. `is_redo`: the rows are undos, and what they took back would be done again.
    """

    run_id: int
    rows: int
    standing: tuple[LogEntry, ...]
    passed: tuple[LogEntry, ...]
    taken_back: tuple[LogEntry, ...] = ()
    latest: LogEntry | None = None
    is_done_again: bool = False
    is_redo: bool = False


def read_run_undo(store: Store, run_id: int) -> RunUndo:
    """Look at the rows of a run, the latest `MAX_LOOKED_AT` of them."""
    found = entries(store, LogFilter(run_id=run_id), limit_rows=MAX_LOOKED_AT)
    rows = count_entries(store, LogFilter(run_id=run_id))
    return store.read(lambda conn: _look(conn, run_id, rows, found))


def is_undo_in(conn: apsw.Connection, entry: LogEntry) -> bool:
    """Whether a row is an undo; one that took an undo back is a redo, and none."""
    depth, step = 0, entry
    while step.undoes is not None and (target := entry_in(conn, step.undoes)) is not None:
        depth, step = depth + 1, target
    return depth % 2 == 1


def _look(conn: apsw.Connection, run_id: int, rows: int, found: list[LogEntry]) -> RunUndo:
    standing: list[LogEntry] = []
    passed: list[LogEntry] = []
    taken_back: list[LogEntry] = []
    latest, steps = 0, 0
    for entry in found:
        stands = standing_of(conn, entry.node_id)
        if stands.why_not(entry.id) is None:
            standing.append(entry)
        elif entry.id in stands.taken_back:
            taken_back.append(entry)
            latest, steps = max((latest, steps), _last(entry.id, stands.taken_back))
        else:
            passed.append(entry)
    return RunUndo(
        run_id,
        rows,
        tuple(standing),
        tuple(passed),
        tuple(taken_back),
        entry_in(conn, latest) if latest else None,
        steps > 0 and steps % 2 == 0,
        bool(found) and is_undo_in(conn, found[0]),
    )


def _last(log_id: int, taken_back: dict[int, int]) -> tuple[int, int]:
    """The end of the chain of undos that begins with a row, and how many there are."""
    steps = 0
    while log_id in taken_back:
        steps, log_id = steps + 1, taken_back[log_id]
    return log_id, steps
