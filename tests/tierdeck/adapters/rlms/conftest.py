"""A server for each test, and runs against it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tierdeck.adapters.rlms.chat_server import ChatServer
from tests.tierdeck.adapters.rlms.sums import sums

if TYPE_CHECKING:
    from tests.tierdeck.adapters.rlms.adapter import Runs


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """It answers by `sums`, unless a test gives it another script."""
    with ChatServer(sums) as started:
        yield started


@pytest.fixture
def runs(server: ChatServer, tmp_path: Path) -> Runs:
    """Runs of sessions in an empty folder."""
    from tests.tierdeck.adapters.rlms.adapter import Runs

    return Runs(server, tmp_path / "checkpoints")
