"""The model that runs on this machine: its weights lie inside its package, and nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from tierdeck.config import LOCAL_DIMENSIONS, LOCAL_MODEL
from tierdeck.errors import ModelUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierdeck.vectors.token_weights import TokenWeights

_PACKAGE = "wordllama"
_BATCH_TEXTS = 64
# A token's vector is 1 KB: a text of 10 MB would take 2 GB at once.
_PIECE_TOKENS = 16_384


class _Encoding(Protocol):
    ids: list[int]


class _Tokenizer(Protocol):
    def no_padding(self) -> None: ...

    def encode_batch_fast(self, texts: list[str], *, add_special_tokens: bool) -> list[_Encoding]: ...


class _Inference(Protocol):
    embedding: NDArray[np.float32]
    tokenizer: _Tokenizer


def local_package_folder() -> Path | None:
    """The folder of the local model's package; None where it is not installed. Loads nothing."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def is_local(model: str) -> bool:
    """Whether vectors of that model's name are the local model's, with whatever token weights."""
    return model == LOCAL_MODEL or model.startswith(f"{LOCAL_MODEL}+")


class LocalEmbedder:
    """The local model (0.18 s to load, some 25 µs for a short text). Spec: SPEC-09.01

    A text's vector is the weighted average of its tokens'. Weights that a store's texts gave are part of `name`:
    only vectors of the same weights may be compared.
    """

    dimensions = LOCAL_DIMENSIONS
    is_remote = False

    def __init__(self, weights: TokenWeights | None = None, *, like: LocalEmbedder | None = None) -> None:
        """Load the model.

        Args:
            weights: how much tokens count; None, or an empty table: all alike.
            like: an embedder whose loaded model is shared.

        Raises:
            ModelUnavailableError: its package is absent or broken.
        """
        self._model: _Inference = _load() if like is None else like._model
        is_weighed = weights is not None and bool(weights.tokens)
        self.name = f"{LOCAL_MODEL}+{weights.id}" if weights is not None and is_weighed else LOCAL_MODEL
        self._table = weights.table(len(self._model.embedding)) if weights is not None and is_weighed else None
        self._weighed: tuple[TokenWeights | None, LocalEmbedder] | None = None

    def weighed(self, weights: TokenWeights | None) -> LocalEmbedder:
        """The same model with other weights; the loaded model is shared, and so is what the latest weights gave."""
        kept = self._weighed  # each query asks with its index's weights: a table takes 40 µs
        if kept is None or kept[0] is not weights:
            kept = self._weighed = (weights, LocalEmbedder(weights, like=self))
        return kept[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, float32 (len(texts), dimensions), in order; an empty text's is all zeros."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, tokens in enumerate(self._tokens(texts)):
            if len(tokens):
                vectors[row] = self._average(tokens)
        return vectors

    def count_holding(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """In how many of the texts each token stands, (vocabulary,)."""
        import numpy as np

        holding = np.zeros(len(self._model.embedding), np.int64)
        for tokens in self._tokens(texts):
            holding[np.unique(tokens)] += 1
        return holding

    def _tokens(self, texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        import numpy as np

        most = len(self._model.embedding) - 1
        for at in range(0, len(texts), _BATCH_TEXTS):
            batch = list(texts[at : at + _BATCH_TEXTS])
            for encoding in self._model.tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                yield np.minimum(np.array(encoding.ids, np.int64), most)

    def _average(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        import numpy as np

        total = np.zeros(self.dimensions, np.float32)
        for at in range(0, len(tokens), _PIECE_TOKENS):
            piece = tokens[at : at + _PIECE_TOKENS]
            rows = self._model.embedding[piece]
            total += rows.sum(axis=0) if self._table is None else self._table[piece] @ rows
        return total / np.float32(len(tokens))


def _load() -> _Inference:
    folder = local_package_folder()
    if folder is None:
        raise ModelUnavailableError(
            f"load {LOCAL_MODEL}: the package {_PACKAGE} is not installed for this Python and platform",
            hint="search by word works; for search by meaning choose a provider in the settings",
        )
    try:
        from wordllama import WordLlama

        # Without these two it looks for its weights in the wrong folder and then tries the network.
        model = cast("_Inference", WordLlama.load(cache_dir=folder, disable_download=True))
    except (ImportError, OSError, ValueError) as e:
        raise ModelUnavailableError(
            f"load {LOCAL_MODEL}: {e}", hint=f"install it again: pip install --force-reinstall {_PACKAGE}"
        ) from e
    # Its own pooling pads every text of a call to the longest, 1 KB a token: one long text among 64 takes 500 MB.
    model.tokenizer.no_padding()
    return model
