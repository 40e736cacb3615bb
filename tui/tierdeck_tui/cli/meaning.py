"""Search by meaning for one command: the index and the model, or the sentence that says why it is off.

numpy and a model are loaded here only, and not at all for alpha 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tierdeck.config import EmbeddingSettings
from tierdeck.errors import EmbeddingError, IndexFileError
from tierdeck.store import Store

if TYPE_CHECKING:
    from tierdeck.embed.embedder import Embedder
    from tierdeck.vectors.vector_index import VectorIndex


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a search by meaning needs; where one is missing, `off_reason` says why."""

    embedder: Embedder | None = None
    index: VectorIndex | None = None
    off_reason: str | None = None


@contextmanager
def meaning_of(store: Store, settings: EmbeddingSettings, alpha: float) -> Iterator[Meaning]:
    """The meaning side while the block runs. Never raises for a missing model or index: keyword search goes on."""
    if alpha == 0:
        yield Meaning()
        return
    from tierdeck.vectors.vector_index import open_vector_index

    try:
        index = open_vector_index(store)
    except (IndexFileError, EmbeddingError) as e:
        yield Meaning(off_reason=_said(e))
        return
    if index is None:
        yield Meaning(off_reason="no memory is embedded yet; `tierdeck embed` does it")
        return
    try:
        yield _with_model(store, settings, index)
    finally:
        index.close()


def _with_model(store: Store, settings: EmbeddingSettings, index: VectorIndex) -> Meaning:
    from tierdeck.embed import make_embedder

    try:
        embedder = make_embedder(settings, store)
    except EmbeddingError as e:
        return Meaning(index=index, off_reason=_said(e))
    return Meaning(embedder, index)


def _said(error: EmbeddingError | IndexFileError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
