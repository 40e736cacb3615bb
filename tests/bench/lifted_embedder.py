"""The local model's vectors in more dimensions, so that a search over long ones can be measured without paying."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tierdeck.embed.embedder import Embedder

SEED = 1_536
# Of the length of the lifted vector: what a text has beside its bag of words.
NOISE = 0.5


class LiftedEmbedder:
    """A fixed random projection of another model's vectors, and noise that is each text's own.

    A text's vector is the same at every call; texts of equal words, which the local model can't tell apart, differ.
    """

    is_remote = False

    def __init__(self, flat: Embedder, dimensions: int) -> None:
        self.name = f"{flat.name} lifted"
        self.dimensions = dimensions
        self._flat = flat
        rng = np.random.default_rng(SEED)
        self._lift = rng.standard_normal((flat.dimensions, dimensions), np.float32) / np.float32(dimensions**0.5)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, float32 (len(texts), dimensions), in order, not of length 1."""
        flat = self._flat.embed(texts)
        lengths = np.linalg.norm(flat, axis=1, keepdims=True)
        wide: NDArray[np.float32] = (flat / np.maximum(lengths, 1e-12)) @ self._lift
        scale = np.float32(NOISE / self.dimensions**0.5)
        for row, text in zip(wide, texts, strict=True):
            row += scale * _noise(text, self.dimensions)
        return wide


def _noise(text: str, dimensions: int) -> NDArray[np.float32]:
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest, "little"))
    return rng.standard_normal(dimensions, np.float32)
