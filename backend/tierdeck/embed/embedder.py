"""What every embedding model looks like to the rest of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierdeck.vectors.token_weights import TokenWeights


class Embedder(Protocol):
    """Turns texts into vectors. `name` and `dimensions` together say which vectors may be compared.

    Spec: SPEC-09.01
    """

    @property
    def name(self) -> str:
        """The model's name as it is kept beside each vector."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this machine: then nothing is sent that the operator did not ask for."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, float32 (len(texts), dimensions), in order; as the model gave them, unchecked.

        Raises:
            ProviderError: the provider refused or failed; nothing was kept.
        """


@runtime_checkable
class QueryEmbedder(Embedder, Protocol):
    """A model that embeds a question otherwise than what answers it; the two vectors may be compared."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A question's vector, float32 (dimensions,)."""


@runtime_checkable
class WeighedEmbedder(Embedder, Protocol):
    """A model whose tokens count as a store's texts say; what `name` says follows from the weights."""

    def weighed(self, weights: TokenWeights | None) -> Embedder:
        """The same model with those weights; with None every token counts alike."""

    def count_holding(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """In how many of the texts each token stands, (vocabulary,)."""
