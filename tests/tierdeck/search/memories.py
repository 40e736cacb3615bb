"""Short ways to say in a test what a store remembers, and a model whose vectors the test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.model import NodeDraft
from tierdeck.search import SearchAnswer
from tierdeck.store import Store
from tierdeck.store.nodes import add_nodes
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index


class ChosenVectors:
    """A model that gives the vectors it was told, and for any other text one drawn from the text's hash."""

    is_remote = False

    def __init__(
        self, vectors: Mapping[str, Sequence[float]], *, name: str = "chosen", dimensions: int = 8
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self.asked: list[str] = []
        self._vectors = dict(vectors)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([self._vector(text) for text in texts], np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        if text in self._vectors:
            chosen = np.asarray(self._vectors[text], np.float64)
            return np.pad(chosen, (0, self.dimensions - len(chosen)))
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
        return np.random.default_rng(seed).standard_normal(self.dimensions)


def remember(store: Store, *memories: str | NodeDraft) -> list[str]:
    """Add memories; their ids in order."""
    return add_nodes(store, [NodeDraft(m) if isinstance(m, str) else m for m in memories])


def embed_all(store: Store, embedder: ChosenVectors) -> VectorIndex:
    """Embed everything the store holds, and open the index for reading."""
    run_indexer(store, embedder, EmbeddingSettings())
    embedder.asked.clear()
    index = open_vector_index(store)
    assert index is not None
    return index


def texts(answer: SearchAnswer) -> list[str]:
    """What was found, best first."""
    return [hit.row.excerpt for hit in answer.hits]
