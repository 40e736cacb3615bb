"""What the store changed since the index last looked at it: there the index's word is not taken."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import apsw

from tierdeck.index.history_mark import has_history

# Beyond so many it is cheaper not to trust the index at all; the indexer is on its way then.
_MAX_CHANGED = 20_000

_Answers = dict[tuple[int, str | None, int], frozenset[str] | None]
# Each leg of a query asks for it. By connection: see `kept_counts`.
_KEPT: WeakKeyDictionary[apsw.Connection, tuple[int, _Answers]] = WeakKeyDictionary()


def changed_since(
    conn: apsw.Connection, seen_seq: int, seen_mark: str | None, most: int = _MAX_CHANGED
) -> frozenset[str] | None:
    """The memories that were added, rewritten or deleted since, in the snapshot under way.

    Args:
        seen_seq, seen_mark: the change that the index saw last, and what it remembers of the history.
        most: how many at most; beyond them it can't be told.

    Returns:
        None where it can't be told: another program's store, a restored backup, too many changes.
    """
    version = int(conn.pragma("data_version"))
    kept = _KEPT.get(conn)
    if kept is None or kept[0] != version:
        kept = _KEPT[conn] = (version, {})
    asked = (seen_seq, seen_mark, most)
    if asked not in kept[1]:
        kept[1][asked] = _changed_since(conn, *asked)
    return kept[1][asked]


def _changed_since(conn: apsw.Connection, seen_seq: int, seen_mark: str | None, most: int) -> frozenset[str] | None:
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_change' AND type = 'table'").fetchone():
        return None
    if not has_history(conn, seen_seq, seen_mark):
        return None
    rows = conn.execute(
        "SELECT node_id FROM td_change WHERE seq > ? ORDER BY seq LIMIT ?", (seen_seq, most + 1)
    ).fetchall()
    return None if len(rows) > most else frozenset(str(row[0]) for row in rows)
