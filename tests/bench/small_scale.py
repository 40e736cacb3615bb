"""Small stores of the same make as the large ones, without a model: for the tests of the benchmark itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SENTENCES = (
    "The boundary layer separates near the trailing edge of the wing.",
    "Heat transfer in composite slabs was computed for several materials.",
    "Libraries keep records of what their readers borrow over the years.",
    "A panel in supersonic flow flutters when the pressure grows.",
)


class LetterCounts:
    """An embedder that needs no model: how often each letter stands in the text."""

    name = "letters"
    dimensions = 32
    is_remote = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One count a letter, by its number modulo 32; never all zeros."""
        return np.stack(
            [np.bincount([ord(c) % 32 for c in text], minlength=32).astype(np.float32) for text in texts]
        )


def write_documents(folder: Path, sentences: Sequence[str]) -> Path:
    """Make the folder one of collections: a single one, of a few documents with these sentences."""
    few = folder / "few"
    few.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": str(n), "text": " ".join(sentences[n % 2 :])}) for n in range(4)]
    (few / "docs.jsonl").write_text("\n".join(lines))
    return folder
