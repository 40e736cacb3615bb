"""Sessions of an export brought into a store, all together: they refer to each other in any order.

The same external id and run is the same session: it keeps the number that it has in the store, and what refers
to it by its number in the file follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from tierdeck.store.raw_row import RawValue, raw_rows
from tierdeck.transfer.import_scratch import ImportScratch
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.row_intake import TWICE, Verdict
from tierdeck.transfer.row_rules import MAX_KEPT_NUMBER, Row
from tierdeck.transfer.row_writer import RowWriter

Numbered = tuple[int, Row]
_FACTS = ("project", "agent", "started_at", "ended_at", "outcome")


def take_sessions(
    conn: apsw.Connection, rows: Sequence[Numbered], scratch: ImportScratch, writer: RowWriter
) -> list[tuple[int, Verdict]]:
    """Add the sessions that are not there yet, inside the caller's transaction.

    Args:
        rows: each with the number of its line.

    Returns:
        What came of each, by its line, in order.
    """
    usable = _usable(rows)
    here: dict[tuple[RawValue, RawValue], int] = {
        (external_id, run): number
        for number, external_id, run in raw_rows(conn, "td_session", ["external_id", "run"], key="id")
        if isinstance(number, int)
    }
    numbers = _numbers([row for _, row in usable.values()], here)
    if writer.is_writing:
        conn.pragma("defer_foreign_keys", True)  # till the transaction ends: a parent may have the greater number
    outcomes: list[tuple[int, Verdict]] = []
    for line, row in rows:
        if row["id"] not in usable:
            outcomes.append((line, Rejected("its root or parent session is not in the file", str(row["id"]))))
        elif usable[row["id"]][0] != line:
            outcomes.append((line, Rejected(TWICE, f"line {usable[row['id']][0]}")))
        else:
            is_here = (row["external_id"], row["run"]) in here
            took = _compare(conn, row, writer) if is_here else _add(conn, row, numbers, writer)
            outcomes.append((line, took))
    for old, new in numbers.items():
        scratch.rename("session", old, new)
    return outcomes


def _usable(rows: Sequence[Numbered]) -> dict[RawValue, Numbered]:
    """The sessions by their number in the file, the first of each, whose root and parent are usable too."""
    usable: dict[RawValue, Numbered] = {}
    for line, row in rows:
        usable.setdefault(row["id"], (line, row))
    while True:
        dangling = [
            number
            for number, (_, row) in usable.items()
            if row["root_id"] not in usable or (row.get("parent_id") is not None and row["parent_id"] not in usable)
        ]
        if not dangling:
            return usable
        for number in dangling:
            del usable[number]


def _numbers(rows: Sequence[Row], here: Mapping[tuple[RawValue, RawValue], int]) -> dict[int, int]:
    """Each session's number in the store by its number in the file: kept where it is free, else the next."""
    taken = set(here.values())
    numbers: dict[int, int] = {}
    for row in rows:
        old = row["id"]
        if not isinstance(old, int):  # row_rules lets only whole numbers through
            continue
        number = here.get((row["external_id"], row["run"]))
        if number is None:
            number = old if old not in taken and abs(old) <= MAX_KEPT_NUMBER else max(taken, default=0) + 1
            taken.add(number)
        numbers[old] = number
    return numbers


def _compare(conn: apsw.Connection, row: Row, writer: RowWriter) -> Verdict:
    keys: Row = {name: row[name] for name in ("external_id", "run")}
    if writer.holds(conn, "td_session", keys, {name: row.get(name) for name in _FACTS}):
        return "unchanged"
    return Rejected("the session is here with other facts", str(row["external_id"]))


def _add(conn: apsw.Connection, row: Row, numbers: Mapping[int, int], writer: RowWriter) -> Verdict:
    parent = row.get("parent_id")
    renumbered = {
        **row,
        "id": numbers.get(_int(row["id"])),
        "root_id": numbers.get(_int(row["root_id"])),
        "parent_id": None if parent is None else numbers.get(_int(parent)),
        # Older exports don't say when a session was last seen.
        "seen_at": row["seen_at"] if "seen_at" in row else row.get("ended_at") or row["started_at"],
    }
    done = writer.insert(conn, "td_session", renumbered)
    return done if isinstance(done, Rejected) else "added"


def _int(value: RawValue) -> int:
    return value if isinstance(value, int) else 0
