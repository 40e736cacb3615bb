"""Searches in a store that others change, and what must hold for every answer whenever it is asked."""

from __future__ import annotations

import random
import threading
from collections import Counter

import apsw
import numpy as np
from numpy.typing import NDArray

from tests.tierdeck.embed_server import letters_vector
from tests.tierdeck.search.churn.said import BEACONS, SIDES, fitting, generation_of
from tierdeck.errors import TierdeckError
from tierdeck.model import Tier
from tierdeck.search import Hit, SearchAnswer, hybrid_search
from tierdeck.store import Store
from tierdeck.vectors.vector_index import VectorIndex

ALPHAS = (0.0, 0.5, 1.0)
QUERIES = (
    "beacon",
    "beacon even",
    "harbour copper",
    "tower",
    "getPart7Of",
    "gen1010 granite",
    "lightTower3Id",
    "part of",
)
LIMIT = 30
LEAST_SEARCHES = 25


class Asker:
    """Asks in a thread until `stop`, and a few times at least; `seen` counts what was checked, `fault` ended it."""

    def __init__(self, store: Store, index: VectorIndex, seed: int) -> None:
        self.seen: Counter[str] = Counter()
        self.fault: Exception | None = None
        self._store = store
        self._index = index
        self._rng = random.Random(seed)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """End it, and raise what went wrong."""
        self._stopped.set()
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()
        if self.fault is not None:
            raise self.fault

    def ask(self) -> None:
        """One search with its checks."""
        text, side, alpha = self._rng.choice(QUERIES), self._rng.choice((None, *SIDES)), self._rng.choice(ALPHAS)
        vector = np.array(letters_vector(text, self._index.dimensions), np.float32)
        asked = text if side is None else f"{text} meta.side={side}"
        answer = hybrid_search(
            self._store, asked, alpha=alpha, limit_rows=LIMIT, index=self._index, query_vector=vector
        )
        self.seen["searches"] += 1
        self._check(answer, text, side, vector / np.linalg.norm(vector))

    def _run(self) -> None:
        try:
            while not self._stopped.is_set() or self.seen["searches"] < LEAST_SEARCHES:
                self.ask()
        except (AssertionError, TierdeckError, apsw.Error) as e:  # raised again by `stop`, in the test's thread
            self.fault = e

    def _check(self, answer: SearchAnswer, text: str, side: str | None, unit: NDArray[np.float32]) -> None:
        assert answer.degraded is None, answer.degraded
        for hit in answer.candidates:
            self._check_row(hit, side)
            self._check_vector(hit, unit)
        beacons = [hit for hit in answer.candidates if hit.row.excerpt.startswith("beacon")]
        generations = {generation_of(hit.row.excerpt) for hit in beacons}
        assert len(generations) <= 1, f"beacons of several moments: {generations}"
        if text.startswith("beacon") and answer.alpha < 1:
            is_side = side is None or not generations or SIDES[generations.pop() % 2] == side
            assert len(beacons) in ((BEACONS,) if side is None else (0, BEACONS)), (len(beacons), side)
            assert is_side
            self.seen["beacons together"] += 1

    def _check_row(self, hit: Hit, side: str | None) -> None:
        """The row as shown is of one moment, and meets the filter at that moment."""
        row = hit.row
        generation = generation_of(row.excerpt)
        assert (row.type, row.confidence) == fitting(generation), row
        assert row.tier is not Tier.ARCHIVE, row
        assert side is None or f" {side} " in row.excerpt, (side, row)
        self.seen["rows"] += 1

    def _check_vector(self, hit: Hit, unit: NDArray[np.float32]) -> None:
        """The meaning side is that of the text shown, or there is none."""
        if hit.semantic is None:
            self.seen["rows without a vector"] += 1
            return
        vector = np.array(letters_vector(hit.row.excerpt, len(unit)), np.float32)
        cosine = float(unit @ vector / np.linalg.norm(vector))
        assert abs(hit.semantic.cosine - cosine) < 1e-4, (hit, cosine)
        self.seen["vectors"] += 1
