from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tierdeck.promote.outlook.memories import START_MS
from tierdeck.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store of our own whose clock stands still."""
    with open_store(tmp_path / "memory.db", create=True, clock=lambda: START_MS) as opened:
        yield opened
