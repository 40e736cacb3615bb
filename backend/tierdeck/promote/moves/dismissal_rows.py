"""The rows of td_dismissal: one for a memory whose promotion a person does not want, for now."""

from __future__ import annotations

import apsw

from tierdeck.store.filters import time_ms_sql

# Used up to the access that was the latest then, and up to the time its own program told then: only what comes
# after lets it lapse. That time may lie ahead of ours, where a clock jumped.
_SET = f"""INSERT OR REPLACE INTO td_dismissal (node_id, tier, at, last_pull_id, log_id)
    SELECT l.node_id, l.from_tier, max(l.at, {time_ms_sql("n.last_accessed")}), l.access_id, l.id
    FROM td_promotion_log l JOIN nodes n ON n.id = l.node_id
    WHERE l.id = ? AND l.node_id = ? AND l.from_tier IS NOT NULL"""


def set_dismissal(conn: apsw.Connection, node_id: str, log_id: int) -> None:
    """Let the dismissal that this row of the log tells of stand."""
    conn.execute(_SET, (log_id, node_id))


def dismiss_again(conn: apsw.Connection, node_id: str, log_id: int | None) -> None:
    """Let that dismissal stand again in place of any other; None: none stands."""
    conn.execute("DELETE FROM td_dismissal WHERE node_id = ?", (node_id,))
    if log_id is not None:
        set_dismissal(conn, node_id, log_id)
