"""The index's own tables brought back into step, after a crash or a hand that took rows out of one of them.

`embedding_state.seq` is set exactly where the model's table holds a vector; `node_key` knows every memory that has
a state or a vector; `index_model` knows the vectors' number and sum. Counts that differ show where to look. Of the
bits, a few chunks are compared each time; `doctor` compares all.
"""

from __future__ import annotations

import apsw
import numpy as np

from tierdeck import db
from tierdeck.vectors.bit_check import SAMPLED_CHUNKS, bit_fault, rebuild_bits
from tierdeck.vectors.model_record import Model, current_model, load_table, save_table, table_of


def mend(conn: apsw.Connection, model: Model) -> bool:
    """Mend what one model's tables say of each other, in one transaction.

    A vector that is lost is waited for again; one that nobody accounts for shows that rows were lost.

    Returns:
        Whether the whole store has to be looked through again.
    """
    with db.transaction(conn):
        name = table_of(conn, model)
        is_in_step = _is_in_step(conn, model, name)
        if not is_in_step:
            conn.execute(
                "UPDATE embedding_state SET status = 'pending', seq = NULL, attempts = 0, error = NULL"
                " WHERE model = ? AND dimensions = ? AND seq IS NOT NULL"
                f" AND node_id NOT IN (SELECT id FROM {name}_rowids)",
                (model.name, model.dimensions),
            )
            conn.execute(f"INSERT OR IGNORE INTO node_key (id) SELECT id FROM {name}_rowids")
            conn.execute("INSERT OR IGNORE INTO node_key (id) SELECT node_id FROM embedding_state")
            _sum_anew(conn, model, name)
        if current_model(conn) == model and bit_fault(conn, model, chunks=SAMPLED_CHUNKS) is not None:
            rebuild_bits(conn, model)
    return not is_in_step


def _is_in_step(conn: apsw.Connection, model: Model, name: str) -> bool:
    key = (model.name, model.dimensions)
    held = conn.execute(f"SELECT count(*) FROM {name}_rowids").get
    said = conn.execute(
        "SELECT count(*) FROM embedding_state WHERE model = ? AND dimensions = ? AND seq IS NOT NULL", key
    ).get
    counted = conn.execute("SELECT vectors FROM index_model WHERE model = ? AND dimensions = ?", key).get
    return bool(held == said == counted)


def _sum_anew(conn: apsw.Connection, model: Model, name: str) -> None:
    """One look-up a vector, 9 µs each: going through vec0 by a SELECT of all takes 50 times as long."""
    table = load_table(conn, model)
    table.vector_sum, table.vectors = np.zeros(model.dimensions), 0
    for (node_id,) in conn.execute(f"SELECT id FROM {name}_rowids").fetchall():
        vector = table.get(str(node_id))
        if vector is not None:
            table.vector_sum += vector
            table.vectors += 1
    save_table(conn, model, table)
