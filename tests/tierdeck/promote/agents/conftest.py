from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tierdeck.promote.clock import Clock, clocked
from tierdeck.store import Store


@pytest.fixture
def clock() -> Clock:
    """The store's clock, for a test to move."""
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """An empty store of our own that goes by `clock`."""
    with clocked(tmp_path / "memory.db", clock) as opened:
        yield opened
