"""The rows of td_hold: at most one that is not released for a memory, and none is ever removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from tierdeck.errors import InvalidValueError
from tierdeck.promote.moves.refusal import held_words
from tierdeck.promote.records import Hold
from tierdeck.store.rows import as_kinds
from tierdeck.times import MILLISECONDS_BELOW

# NULL may stand for a tier in another program's row.
_KINDS = as_kinds("h.node_id h.tier h.actor h.reason", "h.set_at h.until h.log_id")
_HOLDS = f"""SELECT {_KINDS["h.node_id"]}, {_KINDS["h.tier"]}, {_KINDS["h.set_at"]}, {_KINDS["h.until"]},
    {_KINDS["h.actor"]}, {_KINDS["h.reason"]}, {_KINDS["h.log_id"]},
    CASE WHEN coalesce(n.tier, '') IS NOT h.tier THEN coalesce(n.tier, '') END
    FROM td_hold h JOIN nodes n ON n.id = h.node_id
    WHERE h.released_at IS NULL AND (h.until IS NULL OR h.until > :now)"""


def holds_in(conn: apsw.Connection, ids: Sequence[str] | None, now_ms: int) -> list[Hold]:
    """The holds that stand, newest first, as the connection sees them now; of these memories, or of all."""
    sql = _HOLDS if ids is None else f"{_HOLDS} AND h.node_id IN (SELECT value FROM json_each(:ids))"
    params = {"now": now_ms} if ids is None else {"now": now_ms, "ids": json.dumps(list(ids))}
    rows: Any = conn.execute(f"{sql} ORDER BY h.id DESC", params).fetchall()
    return [Hold(*row) for row in rows]


def words_of(hold: Hold) -> str:
    """That the hold stands against a move, with who set it and why."""
    return held_words(hold.actor + (f": {hold.reason}" if hold.reason else ""), hold.until_ms)


def set_hold(conn: apsw.Connection, hold: Hold) -> None:
    """Let this hold stand, in place of one that stood, or that is past its time and was never released."""
    release_hold(conn, hold.node_id, hold.set_at_ms)
    conn.execute(
        "INSERT INTO td_hold (node_id, tier, set_at, until, actor, reason, log_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (hold.node_id, hold.tier, hold.set_at_ms, hold.until_ms, hold.actor, hold.reason, hold.log_id),
    )


def release_hold(conn: apsw.Connection, node_id: str, at_ms: int) -> None:
    """Let no hold of the memory stand."""
    conn.execute("UPDATE td_hold SET released_at = ? WHERE node_id = ? AND released_at IS NULL", (at_ms, node_id))


def hold_again(conn: apsw.Connection, node_id: str, log_id: int | None, at_ms: int) -> None:
    """Let the hold that this row of the log set stand again, where the memory is now; None: no hold stands."""
    release_hold(conn, node_id, at_ms)
    conn.execute("UPDATE td_hold SET released_at = NULL WHERE log_id = ? AND node_id = ?", (log_id, node_id))
    keep_tier(conn, node_id)


def keep_tier(conn: apsw.Connection, node_id: str) -> None:
    """A hold that stands is one of the tier the memory has now: we moved it, no other program."""
    conn.execute(
        "UPDATE td_hold SET tier = coalesce((SELECT tier FROM nodes WHERE id = ?1), '') "
        "WHERE node_id = ?1 AND released_at IS NULL",
        (node_id,),
    )


def checked_until(until_ms: int | None, now_ms: int) -> int | None:
    """When a hold ends by itself; None is never.

    Raises:
        InvalidValueError: it is no time, or the hold would have ended already.
    """
    if until_ms is None:
        return None
    if isinstance(until_ms, bool) or not isinstance(until_ms, int) or until_ms >= MILLISECONDS_BELOW:
        raise InvalidValueError(
            f"hold memories: its end, {until_ms!r:.40}, is not a whole number of milliseconds before the year 10000"
        )
    if until_ms <= now_ms:
        raise InvalidValueError(f"hold memories: its end, {until_ms}, is not after now, {now_ms}")
    return until_ms
