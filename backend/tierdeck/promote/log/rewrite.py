"""The promotion log rewritten: the one change of its rows there is, for a secret that a reason or a digest holds.

The rows are chained anew, and a record stays that it was done. A row that did not fit before does not fit after:
a purge must not hide what somebody else did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import apsw

from tierdeck.errors import StoreError
from tierdeck.promote.log.breaks import LogBreak, breaks_in, keep_breaks
from tierdeck.promote.log.entries import HEAD_KEY, head_in
from tierdeck.promote.log.row import CHECKED_COLUMNS, checked_row, row_digest
from tierdeck.store.settings import keep_setting

_GUARD = "td_promotion_log_update"
_BATCH_ROWS = 1_000
_Row = dict[str, Any]


def rewrite_log(
    conn: apsw.Connection,
    purged: Collection[str],
    clean: Callable[[str], str],
    *,
    removed: str,
    actor: str,
    reason: str,
    at_ms: int,
) -> int:
    """Take out of the log what it says of purged memories beside the moves themselves, and chain it anew.

    Their reasons become `removed`, their digests of text and metadata go (that of a short secret can be guessed),
    and every other reason is cleaned. Inside the caller's transaction; all of it or nothing.

    Args:
        clean: gives a text without what must go.
        actor, reason: of the record that stays (`breaks.breaks_in`).

    Returns:
        How many rows say something else now; 0: nothing was written.
    """

    def cleaned(row: _Row) -> _Row:
        return _cleaned(row, purged, clean, removed)

    first = next((row["id"] for row in _rows(conn, 1) if cleaned(row) != row), None)
    if first is None:
        return 0
    found: Any = conn.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?", (_GUARD,)
    ).fetchone()
    if found is not None:
        conn.execute(f"DROP TRIGGER {_GUARD}")
    changed, old_end, new_end = _chain_anew(conn, first, cleaned)
    if found is not None:
        conn.execute(str(found[0]))
    _record(conn, old_end, new_end, LogBreak(at_ms, actor, reason, old_end, new_end))
    return changed


def _cleaned(row: _Row, purged: Collection[str], clean: Callable[[str], str], removed: str) -> _Row:
    reason = row["reason"]
    if row["node_id"] in purged:
        return row | {"reason": None if reason is None else removed, "content_digest": None}
    return row | {"reason": clean(reason)} if isinstance(reason, str) else row


def _chain_anew(conn: apsw.Connection, first: int, cleaned: Callable[[_Row], _Row]) -> tuple[int, str, str]:
    """Write every row from the first on; how many say something else, and the log's end before and after."""
    before: Any = conn.execute("SELECT digest FROM td_promotion_log WHERE id = ?", (first - 1,)).fetchone()
    old_last = new_last = "" if before is None else before[0]
    changed, last_id = 0, first
    for row in _rows(conn, first):
        new = cleaned(row)
        fits = row["prev_digest"] == old_last and row["digest"] == row_digest(row)
        old_last, last_id = row["digest"], row["id"]
        if new != row:
            changed += 1
            conn.execute(
                "UPDATE td_promotion_log SET reason = ?, "
                "content_digest = CASE WHEN ? THEN NULL ELSE content_digest END WHERE id = ?",
                (new["reason"], new["content_digest"] is None, last_id),
            )
        if fits:
            new = {**new, "prev_digest": new_last}
            new["digest"] = row_digest(new)
            links = (new_last, new["digest"], last_id)
            conn.execute("UPDATE td_promotion_log SET prev_digest = ?, digest = ? WHERE id = ?", links)
        new_last = new["digest"]
    return changed, f"{last_id}:{old_last}", f"{last_id}:{new_last}"


def _rows(conn: apsw.Connection, first: int) -> Iterator[_Row]:
    """The log's rows in their order; in batches, so that they can be changed on the way."""
    sql = f"SELECT {CHECKED_COLUMNS} FROM td_promotion_log l WHERE l.id >= ? ORDER BY l.id LIMIT {_BATCH_ROWS}"
    while batch := conn.execute(sql, (first,)).fetchall():
        rows: list[_Row] = [checked_row(values) for values in batch]
        yield from rows
        first = rows[-1]["id"] + 1


def _record(conn: apsw.Connection, old_end: str, new_end: str, rewritten: LogBreak) -> None:
    """Let the head follow, where it was the log's end, and keep that the rows were changed."""
    if head_in(conn) == old_end:
        keep_setting(conn, HEAD_KEY, new_end)
    try:
        before = breaks_in(conn)
    except StoreError as e:  # no reason to let a secret stand
        before = [LogBreak(rewritten.at_ms, rewritten.actor, e.message, "", "")]
    keep_breaks(conn, [*before, rewritten])
