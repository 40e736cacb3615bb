"""What is asked: questions of the judged collections, and names as they stand in the store's own texts."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.retrieval_collection import read_collection
from tests.bench.scale_text import TextSource
from tierdeck.embed.embedder import Embedder
from tierdeck.vectors.unit_vectors import unit_rows

NAMED = 0.3
SEED = 11


@dataclass(frozen=True, slots=True)
class Asked:
    """Queries with their vectors, as sent and as they stand a letter before the last word is whole."""

    texts: tuple[str, ...]
    vectors: NDArray[np.float32]
    typed: tuple[str, ...]
    typed_vectors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.texts)


def asked_queries(data: Path, source: TextSource, embedder: Embedder, count: int) -> Asked:
    """So many queries: seven tenths are questions that people asked, the others names, alone or after a word."""
    rng = random.Random(SEED)
    judged = [q.text for path in sorted(data.glob("*/queries.jsonl")) for q in read_collection(path.parent).queries]
    names = int(count * NAMED)
    texts = rng.sample(judged, min(count - names, len(judged)))
    stored = _stored_names(source.block(0))
    texts += [rng.choice(("", "error in ", "where is ")) + name for name in rng.sample(stored, names)]
    rng.shuffle(texts)
    typed = [_typed(rng, text) for text in texts]
    return Asked(tuple(texts), _vectors(embedder, texts), tuple(typed), _vectors(embedder, typed))


def _stored_names(texts: Sequence[str]) -> list[str]:
    """Names that the first texts hold, each once: two on a line of "See … and …"."""
    found: dict[str, None] = {}
    for text in texts:
        for pair in re.findall(r"\bSee (\S+(?: v[\d.]+)?) and (\S+(?: v[\d.]+)?)\.(?: |$)", text):
            found |= dict.fromkeys(pair)
    return list(found)


def _typed(rng: random.Random, text: str) -> str:
    """The query while it is typed: some words of it, the last not to its end."""
    words = text.rstrip(" .?").split(" ")
    words = words[: rng.randint(1, min(len(words), 6))]
    return " ".join([*words[:-1], words[-1][: max(3, len(words[-1]) - 1)]])


def _vectors(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    vectors, is_fit = unit_rows(embedder.embed(texts))
    if not is_fit.all():
        raise SystemExit(f"no vector for the query {texts[int(np.argmin(is_fit))]!r}")
    return vectors
