"""Which memories changed their text since a number one has seen, in stores of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.store.store import Store


@dataclass(frozen=True, slots=True)
class ChangedIds:
    """The memories that came, went, or changed their text, in the order of their latest change.

    `seq` is the number to ask with next; when `is_all` is False there are more behind it.
    """

    ids: tuple[str, ...]
    seq: int
    is_all: bool = True


def changes_since(store: Store, seq: int, *, limit_rows: int = 10_000) -> ChangedIds | None:
    """What changed after number `seq`, oldest change first, each memory once; 0 asks for everything.

    Triggers keep the sequence, so that other programs' writes are in it. None for a store of another program, also
    an adopted one: it keeps no sequence, and texts have to be compared.
    """
    if not store.has_table("td_change"):
        return None

    def look(conn: apsw.Connection) -> ChangedIds:
        rows: Any = conn.execute(
            "SELECT seq, node_id FROM td_change WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit_rows + 1)
        ).fetchall()
        kept = rows[:limit_rows]
        return ChangedIds(tuple(row[1] for row in kept), kept[-1][0] if kept else seq, len(rows) <= limit_rows)

    return store.read(look)
