"""Vectors whose memories get another text, or go, given to memories that wait for the text they are of.

Memories of one text are mostly met together, and it is paid for once. A run that looks through a store page by page
may meet one of two that were added at once only the next time, when the other has another text already.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import apsw

from tierdeck.embed.claim import is_claimed
from tierdeck.index.file import get_setting, set_setting
from tierdeck.times import now_ms
from tierdeck.vectors.model_record import Model, load_table, save_table

_WAITING = (
    "SELECT id, node_id, content_hash, claimed_by, claimed_until FROM embedding_state"
    " WHERE content_hash IN (SELECT value FROM json_each(?)) AND +model = ? AND +dimensions = ?"
    " AND +status = 'pending'"
)
_DONE = (
    "UPDATE embedding_state SET status = 'done', error = ?, embedded_at = ?, seq = ?, claimed_by = NULL,"
    " claimed_until = NULL WHERE id = ?"
)


@dataclass(frozen=True, slots=True)
class Leaving:
    """A memory whose vector is of a text that it no longer holds, with the note that stood beside it."""

    node_id: str
    note: str | None


def hand_over(conn: apsw.Connection, model: Model, leaving: Mapping[str, Leaving]) -> None:
    """Give the vectors to whoever waits for their texts, inside the caller's transaction.

    A text that another run has claimed is left to that run, which may be paying for it just now.

    Args:
        leaving: by the hash of the text, before the vector is replaced or taken out.
    """
    now = now_ms()
    waiting = conn.execute(_WAITING, (json.dumps(list(leaving)), model.name, model.dimensions)) if leaving else ()
    heirs = [row[:3] for row in waiting if not is_claimed(row[3], row[4], now)]
    if not heirs:
        return
    table = load_table(conn, model)
    given = [
        (int(state_id), str(node_id), leaving[str(text_hash)].note, vector)
        for state_id, node_id, text_hash in heirs
        if (vector := table.get(leaving[str(text_hash)].node_id)) is not None
    ]
    table.put([(node_id, vector) for _, node_id, _, vector in given])
    save_table(conn, model, table)
    seq = next_vector_seq(conn)
    conn.executemany(_DONE, [(note, now, seq, state_id) for state_id, _, note, _ in given])


def next_vector_seq(conn: apsw.Connection) -> int:
    """The next number of the sequence of vector writes, inside the transaction under way."""
    last = get_setting(conn, "vector_seq")
    seq = (last if isinstance(last, int) else 0) + 1
    set_setting(conn, "vector_seq", seq)
    return seq
