"""Texts so full of names that the index of extra terms has a part of them only: they are looked into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from tierdeck.search.words.inside_scan import MAX_SCANNED_BYTES, MAX_TEXT_BYTES
from tierdeck.store.rows import as_bytes, text_of


@dataclass(frozen=True, slots=True)
class PartialTexts:
    """The ids of those that one look takes, newest first, and how many more there are."""

    ids: tuple[str, ...] = ()
    left_out: int = 0


def partial_texts(conn: apsw.Connection, rowids: Sequence[int]) -> PartialTexts:
    """The memories with these rowids in `nodes`, as many as one look into texts takes."""
    if not rowids:
        return PartialTexts()
    rows = conn.execute(
        f"SELECT {as_bytes('n.id')}, octet_length(n.content) FROM nodes n"
        " WHERE n.rowid IN (SELECT value FROM json_each(?)) ORDER BY n.rowid DESC",
        (json.dumps(list(rowids)),),
    ).fetchall()
    ids: list[str] = []
    left = MAX_SCANNED_BYTES
    for node_id, content_bytes in rows:
        size = int(str(content_bytes))
        if size <= min(left, MAX_TEXT_BYTES):
            left -= size
            ids.append(text_of(node_id))
    return PartialTexts(tuple(ids), len(rows) - len(ids))
