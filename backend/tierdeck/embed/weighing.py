"""Which weights the tokens of the local model get in a store, and when they are taken anew.

The weights in force stay until the store has twice as many texts and its common words are others: then the vectors
are made anew beside the old ones, which go on serving the search, as for any other model (0.15 ms a text).
"""

from __future__ import annotations

import random
from functools import partial

import apsw

from tierdeck import db
from tierdeck.embed.embedder import Embedder, WeighedEmbedder
from tierdeck.embed.local import is_local
from tierdeck.store import Store
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.vectors.kept_weights import forget_weights, load_weights, save_weights
from tierdeck.vectors.model_record import Model, all_models
from tierdeck.vectors.token_weights import MIN_TEXTS, TokenWeights, weigh

# Only what stands in every thirtieth text weighs less, and 4,096 texts tell such parts to 0.3 %.
_SAMPLE_TEXTS = 4_096
_SAMPLE_CHARS = 8_192
_SEED = 20_240_917


def embedder_to_fill(conn: apsw.Connection, store: Store, embedder: Embedder) -> Embedder:
    """The embedder that the index's next vectors are to be made with.

    For a model without token weights that is the one given. Taken weights are kept in the index file.
    """
    if not isinstance(embedder, WeighedEmbedder):
        return embedder
    models = all_models(conn)
    model = next((one for one in reversed(models) if is_local(one.name)), None)
    kept = None if model is None else load_weights(conn, model.name) or TokenWeights((), (), 0)
    texts = int(store.read(lambda c: c.execute("SELECT count(*) FROM nodes").get))
    if kept is not None and texts < max(MIN_TEXTS, 2 * kept.texts):
        return embedder.weighed(kept)
    taken = take_weights(store, embedder, texts)
    weights = kept if kept is not None and not kept.has_drifted(taken) else taken
    chosen = embedder.weighed(weights)
    in_use = frozenset(one.name for one in models)
    with db.transaction(conn):
        forget_weights(conn, in_use | {chosen.name})
        save_weights(conn, chosen.name, TokenWeights(weights.tokens, weights.weights, texts))
    return chosen


def take_weights(store: Store, embedder: WeighedEmbedder, texts: int) -> TokenWeights:
    """The weights that the store's texts say, from a sample of them (some 0.2 s)."""
    sample = store.read(partial(_sample, texts=texts))
    return weigh(embedder.count_holding(sample), len(sample), texts)


def filled_model(conn: apsw.Connection, name: str, dimensions: int) -> Model:
    """The model that a chosen one stands for in this index: the local one with the weights it is filled with."""
    if is_local(name):
        for model in reversed(all_models(conn)):
            if model.dimensions == dimensions and is_local(model.name):
                return model
    return Model(name, dimensions)


def _sample(conn: apsw.Connection, texts: int) -> list[str]:
    """Texts spread over the whole store, the same ones as long as it does not change."""
    column = as_bytes(f"substr(content, 1, {_SAMPLE_CHARS})")
    if texts <= _SAMPLE_TEXTS:
        return [text_of(row[0]) for row in conn.execute(f"SELECT {column} FROM nodes")]
    first, last = conn.execute("SELECT min(rowid), max(rowid) FROM nodes").get
    drawn = random.Random(_SEED)  # noqa: S311 - a sample, not a secret
    places = sorted(drawn.randint(first, last) for _ in range(_SAMPLE_TEXTS))
    found = (conn.execute(f"SELECT {column} FROM nodes WHERE rowid >= ? LIMIT 1", (place,)) for place in places)
    return [text_of(row[0]) for rows in found for row in rows]
