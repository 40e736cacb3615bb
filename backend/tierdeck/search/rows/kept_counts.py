"""What was counted in a store's full-text index, kept by connection until the store changes."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import apsw

_MAX_KEPT = 4_096

# By connection, since SQLite's number for a state of the store means something only on one and the same, and a
# connection is used by one thread at a time.
_KEPT: WeakKeyDictionary[apsw.Connection, tuple[int, dict[str, float]]] = WeakKeyDictionary()


def kept_counts(conn: apsw.Connection) -> dict[str, float]:
    """What is known of the snapshot under way, by what was counted; whoever counts more puts it there.

    While somebody types, each letter asks for the same words again: 18 counts of 0.2 ms.
    """
    version = int(conn.pragma("data_version"))
    kept = _KEPT.get(conn)
    if kept is None or kept[0] != version or len(kept[1]) > _MAX_KEPT:
        kept = _KEPT[conn] = (version, {})
    return kept[1]
