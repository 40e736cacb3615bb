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

_PACKAGE = "wordllama"
_SLICE_CHARS = 32_768


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

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for places in _slices(texts):
            vectors[places] = self._model.embed([texts[at] for at in places], norm=False)
        return vectors


def _slices(texts: Sequence[str]) -> Iterator[list[int]]:
    """The texts' places in slices of like length.

    The model pads every text of a call to the longest, 1 KB a token: one long text among 64 would take 500 MB.
    """
    places: list[int] = []
    for at in sorted(range(len(texts)), key=lambda at: len(texts[at])):
        if places and (len(places) + 1) * len(texts[at]) > _SLICE_CHARS:
            yield places
            places = []
        places.append(at)
    if places:
        yield places


def _load(folder: Path) -> _Inference:
    try:
        from wordllama import WordLlama

        # Without these two it looks for its weights in the wrong folder and then tries the network.
        return cast("_Inference", WordLlama.load(cache_dir=folder, disable_download=True))
    except (ImportError, OSError, ValueError) as e:
        raise ModelUnavailableError(
            f"load {LOCAL_MODEL}: {e}", hint=f"install it again: pip install --force-reinstall {_PACKAGE}"
        ) from e
