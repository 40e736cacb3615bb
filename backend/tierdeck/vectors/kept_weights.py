"""The token weights that a model's vectors were made with, as the index file keeps them."""

from __future__ import annotations

import apsw

from tierdeck.errors import IndexFileError
from tierdeck.index.file import REBUILD
from tierdeck.vectors.token_weights import TokenWeights, read_weights


def load_weights(conn: apsw.Connection, model: str) -> TokenWeights | None:
    """The weights of a model's vectors; None when all its tokens count alike.

    Raises:
        IndexFileError: they were there and are damaged: new ones would not fit the vectors.
    """
    if conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'token_weights'").fetchone() is None:
        return None  # an index of an older version that is only read
    row = conn.execute("SELECT weights, texts FROM token_weights WHERE model = ?", (model,)).fetchone()
    if row is None:
        return None
    try:
        return read_weights(bytes(row[0]), int(row[1]))
    except (TypeError, ValueError) as e:
        raise IndexFileError(
            f"use index: the token weights of {model[:80]} are damaged ({e})",
            remedy=REBUILD,
            hint=f"`{REBUILD}` makes them anew; search by word works without them",
        ) from e


def save_weights(conn: apsw.Connection, model: str, weights: TokenWeights) -> None:
    """Keep a model's weights; inside the caller's transaction."""
    conn.execute(
        "INSERT OR REPLACE INTO token_weights (model, texts, weights) VALUES (?, ?, ?)",
        (model, weights.texts, weights.to_bytes()),
    )


def forget_weights(conn: apsw.Connection, kept_models: frozenset[str]) -> None:
    """Drop the weights of every model but those; inside the caller's transaction."""
    for (model,) in conn.execute("SELECT model FROM token_weights").fetchall():
        if str(model) not in kept_models:
            conn.execute("DELETE FROM token_weights WHERE model = ?", (model,))
