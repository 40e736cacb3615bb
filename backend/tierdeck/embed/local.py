"""The model that runs on this machine: its weights lie inside its package, and nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from tierdeck.config import LOCAL_DIMENSIONS, LOCAL_MODEL
from tierdeck.errors import ModelUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE = "wordllama"


class _Inference(Protocol):
    def embed(self, texts: list[str], *, norm: bool) -> NDArray[np.float32]: ...


def local_package_folder() -> Path | None:
    """The folder of the local model's package; None where it is not installed. Loads nothing."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


class LocalEmbedder:
    """The local model (0.18 s to load, some 25 µs for a short text). Spec: SPEC-09.01"""

    name = LOCAL_MODEL
    dimensions = LOCAL_DIMENSIONS
    is_remote = False

    def __init__(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailableError: its package is absent or broken.
        """
        folder = local_package_folder()
        if folder is None:
            raise ModelUnavailableError(
                f"load {LOCAL_MODEL}: the package {_PACKAGE} is not installed for this Python and platform",
                hint="search by word works; for search by meaning choose a provider in the settings",
            )
        self._model = _load(folder)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, float32 (len(texts), dimensions), in order; an empty text's is all zeros."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        return np.asarray(self._model.embed(list(texts), norm=False), np.float32)


def _load(folder: Path) -> _Inference:
    try:
        from wordllama import WordLlama

        # Without these two it looks for its weights in the wrong folder and then tries the network.
        return cast("_Inference", WordLlama.load(cache_dir=folder, disable_download=True))
    except (ImportError, OSError, ValueError) as e:
        raise ModelUnavailableError(
            f"load {LOCAL_MODEL}: {e}", hint=f"install it again: pip install --force-reinstall {_PACKAGE}"
        ) from e
