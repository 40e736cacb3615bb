"""What the store changed since the index last looked at it: there the index's word is not taken."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import apsw

# Beyond so many it is cheaper not to trust the index at all; the indexer is on its way then.
_MAX_CHANGED = 20_000

_Answers = dict[tuple[int, str | None, int], frozenset[str] | None]
# Each leg of a query asks for it. By connection: see `kept_counts`.
_KEPT: WeakKeyDictionary[apsw.Connection, tuple[int, _Answers]] = WeakKeyDictionary()


def changed_since(
    conn: apsw.Connection, seen_seq: int, seen_node: str | None, most: int = _MAX_CHANGED
) -> frozenset[str] | None:
    """The memories that were added, rewritten or deleted since, in the snapshot under way.

    Args:
        seen_seq, seen_node: the change that the index saw last.
        most: how many at most; beyond them it can't be told.

    Returns:
        None where it can't be told: another program's store, a restored backup, too many changes.
    """
    version = int(conn.pragma("data_version"))
    kept = _KEPT.get(conn)
    if kept is None or kept[0] != version:
        kept = _KEPT[conn] = (version, {})
    asked = (seen_seq, seen_node, most)
    if asked not in kept[1]:
        kept[1][asked] = _changed_since(conn, *asked)
    return kept[1][asked]


def _changed_since(conn: apsw.Connection, seen_seq: int, seen_node: str | None, most: int) -> frozenset[str] | None:
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_change' AND type = 'table'").fetchone():
        return None
    is_known = conn.execute(
        "SELECT 1 FROM td_change WHERE node_id IS ? AND seq >= ? LIMIT 1", (seen_node, seen_seq)
    ).fetchone()
    if is_known is None:
        return None
    rows = conn.execute(
        "SELECT node_id FROM td_change WHERE seq > ? ORDER BY seq LIMIT ?", (seen_seq, most + 1)
    ).fetchall()
    return None if len(rows) > most else frozenset(str(row[0]) for row in rows)
