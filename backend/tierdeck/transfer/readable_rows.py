"""What can still be read of a table in a damaged file, row by row, jumping over what can't.

A page of a table holds the rows of one range of rowids; where it is destroyed, every look into that range fails
and the next page reads well. After a failure the next readable rowid is looked for one by one (a page holds some
hundred rows at most), and only then by doubling steps and halving back, as for a destroyed page of the tree
above them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import apsw

from tierdeck.store.raw_row import RawValue, raw_rows

_BEYOND = 2**62
_ONE_BY_ONE = 5_000


@dataclass(slots=True)
class Unreadable:
    """What of a table could not be read: (first, last) rowids of gaps, None: to the end; rows read in part."""

    gaps: list[tuple[int, int | None]] = field(default_factory=list)
    parts: list[dict[str, RawValue]] = field(default_factory=list)


def readable_rows(
    conn: apsw.Connection, table: str, columns: Sequence[str], unreadable: Unreadable
) -> Iterator[tuple[RawValue, ...]]:
    """The rows of a table with rowids that can be read whole: the rowid, then the columns, in order.

    Args:
        unreadable: filled on the way; a row of which some columns can be read goes to its `parts`.
    """
    highest = _highest_rowid(conn, table)
    last: int | None = None
    while True:
        try:
            for row in raw_rows(conn, table, columns, after=last):
                number = row[0]
                if not isinstance(number, int) or number > highest:
                    break  # a cell of a destroyed page that looks like one
                last = number
                yield row
            else:
                return
        except apsw.CorruptError:
            pass
        resumed = _jump(conn, table, columns, last, highest, unreadable)
        if resumed is None:
            return
        last = resumed


def _jump(
    conn: apsw.Connection,
    table: str,
    columns: Sequence[str],
    last: int | None,
    highest: int,
    unreadable: Unreadable,
) -> int | None:
    """Note what can't be read after `last`; the rowid after which reading goes on, None at the end."""
    start = 0 if last is None else last + 1
    found = _first_from(conn, table, start)
    if found is not None and found <= highest:  # the row is there, a long value of it is not
        unreadable.parts.append(_part(conn, table, columns, found))
        return found
    reach = min(highest, start + _ONE_BY_ONE)
    good = next(
        (number for number in range(start + 1, reach + 1) if _is_readable(conn, table, number, highest)), None
    )
    if good is None:
        good = _leap(conn, table, reach, highest)
    unreadable.gaps.append((start, None if good is None else good - 1))
    return None if good is None else good - 1


def _leap(conn: apsw.Connection, table: str, failed: int, highest: int) -> int | None:
    """The smallest rowid beyond `failed` that can be looked for; None when none is found."""
    step = _ONE_BY_ONE
    while not _is_readable(conn, table, failed + step, highest):
        failed, step = failed + step, step * 2
        if failed > highest:
            return None
    good = failed + step
    while good - failed > 1:
        middle = (failed + good) // 2
        if _is_readable(conn, table, middle, highest):
            good = middle
        else:
            failed = middle
    return good


def _is_readable(conn: apsw.Connection, table: str, rowid: int, highest: int) -> bool:
    found = _first_from(conn, table, rowid)
    return found is not None and found <= highest


def _first_from(conn: apsw.Connection, table: str, rowid: int) -> int | None:
    """The first rowid from here on; None when the look fails or finds none."""
    try:
        row = conn.execute(
            f'SELECT rowid FROM "{table}" WHERE rowid >= ? ORDER BY rowid LIMIT 1', (rowid,)
        ).fetchone()
    except apsw.CorruptError:
        return None
    return None if row is None else int(row[0])


def _highest_rowid(conn: apsw.Connection, table: str) -> int:
    """The greatest rowid, which the last page alone tells; without it, the greatest there can be."""
    try:
        row = conn.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid DESC LIMIT 1').fetchone()
    except apsw.CorruptError:
        return _BEYOND
    return _BEYOND if row is None else int(row[0])


def _part(conn: apsw.Connection, table: str, columns: Sequence[str], rowid: int) -> dict[str, RawValue]:
    """The columns of one row that can be read, each looked up by itself."""
    part: dict[str, RawValue] = {}
    for column in columns:
        try:
            for row in raw_rows(conn, table, [column], after=rowid - 1):
                if row[0] == rowid:
                    part[column] = row[1]
                break
        except apsw.CorruptError:
            continue
    return part
