"""The query's vector, or the reason why there is none: meaning is left out then, and nothing fails.

Imports numpy only when there is something to embed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tierdeck.embed.embedder import QueryEmbedder, WeighedEmbedder
from tierdeck.errors import EmbeddingError, IndexFileError
from tierdeck.secret_scan import has_secret

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierdeck.embed.embedder import Embedder
    from tierdeck.search.meaning.meaning_leg import MeaningLeg
    from tierdeck.vectors.vector_index import VectorIndex


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning side ready to be asked, or `off`: a sentence on why it is not."""

    leg: MeaningLeg | None = None
    model: str | None = None
    off: str | None = None


@dataclass(frozen=True, slots=True)
class MeaningSource:
    """What a caller has for the meaning side; any of it may be missing, `off_reason` says why in its words."""

    embedder: Embedder | None = None
    index: VectorIndex | None = None
    query_vector: NDArray[np.float32] | None = None
    off_reason: str | None = None
    may_send_secrets: bool = False
    should_stop: Callable[[], bool] | None = None

    def prepare(self, text: str, *, is_typing: bool) -> Meaning:
        """Embed the text, if the store's vectors are of the embedder's model.

        Args:
            text: the query's words. A text that is all filters has no meaning to look for.
            is_typing: then nothing is sent to a remote model. A text that looks like a secret is not either, as a
                memory would not, unless `may_send_secrets`.
        """
        if self.index is None:
            return Meaning(off=self.off_reason or "no memory has a vector yet; `tierdeck embed` makes them")
        if self.embedder is None and self.query_vector is None:
            return Meaning(off=self.off_reason or "no embedding model is in use")
        try:
            return self._prepared(self.index, text, is_typing=is_typing)
        except (EmbeddingError, IndexFileError) as e:
            return Meaning(off=f"{e.message}; {e.hint}" if e.hint else e.message)

    def _prepared(self, index: VectorIndex, text: str, *, is_typing: bool) -> Meaning:
        model, dimensions = index.model, index.dimensions
        vector = self.query_vector
        if vector is None and self.embedder is not None:
            embedder = fitting_embedder(index, self.embedder)
            if (embedder.name, embedder.dimensions) != (model, dimensions):
                return Meaning(off=_other_model(index, self.embedder))
            if embedder.is_remote and is_typing:
                return Meaning(off=f"Enter sends the query to {model}")
            if embedder.is_remote and not self.may_send_secrets and has_secret(text):
                return Meaning(off="the query looks like a secret, and is not sent to a remote model")
            vector = embed_query(embedder, text)
        if vector is None:
            return Meaning(off="no embedding model is in use")
        from tierdeck.search.meaning.meaning_leg import MeaningLeg
        from tierdeck.vectors.unit_vectors import unit_vector

        unit = unit_vector(vector, dimensions, of="the query")
        return Meaning(MeaningLeg(index, unit, self.should_stop), model)


def fitting_embedder(index: VectorIndex, embedder: Embedder) -> Embedder:
    """The embedder with the token weights that the vectors were made with, where it knows of weights."""
    return embedder.weighed(index.weights) if isinstance(embedder, WeighedEmbedder) else embedder


def embed_query(embedder: Embedder, text: str) -> NDArray[np.float32]:
    """A query's vector, float32 (dimensions,), as the model gave it; raises what `Embedder.embed` raises."""
    return embedder.embed_query(text) if isinstance(embedder, QueryEmbedder) else embedder.embed([text])[0]


def _other_model(index: VectorIndex, embedder: Embedder) -> str:
    made_by = f"{index.model} ({index.dimensions} dimensions)"
    asked = f"{embedder.name} ({embedder.dimensions})"
    return f"{index.vectors_count:,} memories embedded by {made_by}, not by {asked}; re-embed with `tierdeck embed`"
