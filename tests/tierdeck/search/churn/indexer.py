"""An indexer that goes on until a file is there: a process of its own, against a server on loopback.

python -m tests.tierdeck.search.churn.indexer FILE URL DIMENSIONS STOP_FILE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.store import open_store

PAUSE_S = 0.01


def main() -> None:
    """Run after run."""
    path, url, dimensions, stop = sys.argv[1:]
    begin_early(pytest.MonkeyPatch())
    settings = EmbeddingSettings(
        provider="openai", model="model-a", dimensions=int(dimensions), base_url=url, batch_rows=16
    )
    with open_store(path) as store:
        embedder = make_embedder(settings, store)
        while not Path(stop).exists():
            run_indexer(store, embedder, settings)  # to its end: what is stopped on its way is paid for again
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
