"""What the index file keeps about a model: its vectors, their sum and mean, and what was seen of the store."""

from __future__ import annotations

from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck import db
from tierdeck.errors import ConflictError
from tierdeck.index.file import NEXT_VECTORS, VECTORS, create_vectors, dimensions_of, get_setting, set_setting
from tierdeck.vectors.bit_table import MIN_BIT_VECTORS, build_bits, drop_bits, open_bits
from tierdeck.vectors.chunk_blobs import layout_fault
from tierdeck.vectors.mean_vector import is_due, mean_vector
from tierdeck.vectors.vector_table import VectorTable

# vec0's own tables behind each of ours. vec0 0.1.9 can't be renamed, but these can, in the same transaction.
_SHADOWS = ("info", "chunks", "rowids", "vector_chunks00")


@dataclass(frozen=True, slots=True)
class Model:
    """A model by what makes its vectors comparable: its name and their length."""

    name: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimensions} dimensions)"


def current_model(conn: apsw.Connection) -> Model | None:
    """The model of the vectors that are searched; None before the first run."""
    return _model(conn, "model", "dimensions")


def next_model(conn: apsw.Connection) -> Model | None:
    """The model whose vectors grow beside the current ones; None when none does."""
    return _model(conn, "next_model", "next_dimensions")


def all_models(conn: apsw.Connection) -> list[Model]:
    """The models that have vectors in this index: the one that is searched, then one that grows beside it."""
    return [model for model in (current_model(conn), next_model(conn)) if model is not None]


def table_of(conn: apsw.Connection, model: Model) -> str:
    """The vec0 table that the model's vectors are in.

    Raises:
        ConflictError: the index belongs to other models now: another run changed it.
    """
    if current_model(conn) == model:
        return VECTORS
    if next_model(conn) == model:
        return NEXT_VECTORS
    raise ConflictError(f"embed with {model}: another run gave the index to {current_model(conn)}")


def prepare_tables(conn: apsw.Connection, model: Model) -> None:
    """Make room for a model's vectors, in one transaction; the current ones stay until `swap_in`.

    An index without vectors is given to the model at once. A third model's unfinished vectors are dropped.
    """
    with db.transaction(conn):
        conn.execute(
            "INSERT OR IGNORE INTO index_model (model, dimensions) VALUES (?, ?)", (model.name, model.dimensions)
        )
        current = current_model(conn)
        if current != model and (current is None or not _is_searched(conn, current)):
            _drop(conn, VECTORS, current)
            drop_bits(conn)
            create_vectors(conn, VECTORS, model.dimensions)
            _set_model(conn, "", model)
        elif current != model and next_model(conn) != model:
            _drop(conn, NEXT_VECTORS, next_model(conn))
            create_vectors(conn, NEXT_VECTORS, model.dimensions)
            _set_model(conn, "next_", model)


def swap_in(conn: apsw.Connection, model: Model) -> None:
    """Make the model that grew beside the current one the current one, in one transaction; the old is dropped.

    The tables behind vec0's change names (3 ms at any size; copying the vectors would take a second per 10,000).
    """
    with db.transaction(conn):
        if next_model(conn) != model:
            return
        old = current_model(conn)
        _drop(conn, VECTORS, old)
        drop_bits(conn)
        create_vectors(conn, VECTORS, model.dimensions)
        for shadow in _SHADOWS:
            conn.execute(f"ALTER TABLE {VECTORS}_{shadow} RENAME TO swapped_{shadow}")
            conn.execute(f"ALTER TABLE {NEXT_VECTORS}_{shadow} RENAME TO {VECTORS}_{shadow}")
            conn.execute(f"ALTER TABLE swapped_{shadow} RENAME TO {NEXT_VECTORS}_{shadow}")
        conn.execute(f"DROP TABLE {NEXT_VECTORS}")
        _set_model(conn, "", model)
        _set_model(conn, "next_", None)
    with db.transaction(conn):  # of its own: until then, and after a crash here, vec0 searches
        if current_model(conn) == model:
            keep_bits(conn, model)


def keep_bits(conn: apsw.Connection, model: Model) -> None:
    """Make the current model's bits where there are enough vectors, and anew where the mean has moved away.

    Inside the caller's transaction. Before there is a mean, or with too few vectors, nothing is done.
    """
    row = conn.execute(
        "SELECT mean, vectors FROM index_model WHERE model = ? AND dimensions = ?", (model.name, model.dimensions)
    ).fetchone()
    if row is None or row[0] is None or row[1] < MIN_BIT_VECTORS:
        return
    if layout_fault(conn, model.dimensions) is not None:
        drop_bits(conn)  # of a vec0 that we don't know; it searches by itself
        return
    bits, mean = open_bits(conn, model.name, model.dimensions), np.frombuffer(row[0])
    if bits is None or bits.moved_from(mean):
        build_bits(conn, model.name, model.dimensions, mean)


def load_table(conn: apsw.Connection, model: Model) -> VectorTable:
    """The model's vectors with their sum, to be written inside the caller's transaction."""
    table = table_of(conn, model)
    row = conn.execute(
        "SELECT vector_sum, vectors FROM index_model WHERE model = ? AND dimensions = ?",
        (model.name, model.dimensions),
    ).fetchone()
    total = np.zeros(model.dimensions) if row is None or row[0] is None else np.frombuffer(row[0]).copy()
    bits = open_bits(conn, model.name, model.dimensions) if table == VECTORS else None
    return VectorTable(conn, table, total, 0 if row is None else int(row[1]), bits)


def save_table(conn: apsw.Connection, model: Model, table: VectorTable) -> None:
    """Keep the sum of the vectors, and take the mean anew when it is due; inside the caller's transaction.

    The bits begin, or are made anew, with it.
    """
    probe, mean_rows, has_mean = conn.execute(
        "SELECT probe_mean, mean_vectors, mean IS NOT NULL FROM index_model WHERE model = ? AND dimensions = ?",
        (model.name, model.dimensions),
    ).get
    conn.execute(
        "UPDATE index_model SET vector_sum = ?, vectors = ? WHERE model = ? AND dimensions = ?",
        (table.vector_sum.tobytes(), table.vectors, model.name, model.dimensions),
    )
    if probe is not None and is_due(table.vectors, mean_rows, has_mean=bool(has_mean)):
        mean = mean_vector(table.vector_sum, table.vectors, np.frombuffer(probe))
        conn.execute(
            "UPDATE index_model SET mean = ?, mean_vectors = ? WHERE model = ? AND dimensions = ?",
            (mean.tobytes(), table.vectors, model.name, model.dimensions),
        )
        table.bits = None
    if table.bits is None and table.vectors >= MIN_BIT_VECTORS and table_of(conn, model) == VECTORS:
        keep_bits(conn, model)


def has_vectors(conn: apsw.Connection, model: Model) -> bool:
    """Whether at least one vector of the model is kept."""
    row = conn.execute(
        "SELECT vectors > 0 FROM index_model WHERE model = ? AND dimensions = ?", (model.name, model.dimensions)
    ).fetchone()
    return bool(row and row[0])


def has_probe(conn: apsw.Connection, model: Model) -> bool:
    """Whether the probe sentences were embedded with the model."""
    row = conn.execute(
        "SELECT probe_mean IS NOT NULL FROM index_model WHERE model = ? AND dimensions = ?",
        (model.name, model.dimensions),
    ).fetchone()
    return bool(row and row[0])


def save_probe(conn: apsw.Connection, model: Model, probe_mean: NDArray[np.float64]) -> None:
    """Keep the mean of the probe sentences' vectors."""
    conn.execute(
        "UPDATE index_model SET probe_mean = ? WHERE model = ? AND dimensions = ?",
        (probe_mean.tobytes(), model.name, model.dimensions),
    )


def read_mean(conn: apsw.Connection, model: Model) -> NDArray[np.float64]:
    """The mean vector in force; zeros before there is one."""
    row = conn.execute(
        "SELECT mean FROM index_model WHERE model = ? AND dimensions = ?", (model.name, model.dimensions)
    ).fetchone()
    return np.zeros(model.dimensions) if row is None or row[0] is None else np.frombuffer(row[0])


def _model(conn: apsw.Connection, name_key: str, dimensions_key: str) -> Model | None:
    name, dimensions = get_setting(conn, name_key), get_setting(conn, dimensions_key)
    return Model(name, dimensions) if isinstance(name, str) and isinstance(dimensions, int) else None


def _set_model(conn: apsw.Connection, prefix: str, model: Model | None) -> None:
    set_setting(conn, f"{prefix}model", model.name if model else None)
    set_setting(conn, f"{prefix}dimensions", model.dimensions if model else None)


def _is_searched(conn: apsw.Connection, model: Model) -> bool:
    """Whether the current table really holds vectors of that length: then it is not given away."""
    return dimensions_of(conn, VECTORS) == model.dimensions and (
        conn.execute(f"SELECT 1 FROM {VECTORS}_rowids LIMIT 1").fetchone() is not None
    )


def _drop(conn: apsw.Connection, table: str, model: Model | None) -> None:
    conn.execute(f"DROP TABLE IF EXISTS {table}")
    if model is not None:
        for name in ("embedding_state", "index_model"):
            conn.execute(f"DELETE FROM {name} WHERE model = ? AND dimensions = ?", (model.name, model.dimensions))
