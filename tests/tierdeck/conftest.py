"""An embeddings server on loopback, and a remote model that is pointed at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.tierdeck.embed_server import EmbedServer
from tierdeck.config import EmbeddingSettings
from tierdeck.embed import Embedder, make_embedder
from tierdeck.embed.embed_report import EmbedReport
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.model import NodeDraft
from tierdeck.store import Store
from tierdeck.store.nodes import add_nodes

TEST_KEY = "sk-test-0000000000000000"
DIMENSIONS = 8


class Remote:
    """A store's remote model: the server, the settings that name it, and runs of the indexer with it.

    Waiting costs no time: `waited_s` collects what would have been waited.
    """

    def __init__(self, store: Store, server: EmbedServer) -> None:
        self.store = store
        self.server = server
        self.settings = EmbeddingSettings(
            provider="openai", model="model-a", dimensions=DIMENSIONS, base_url=server.base_url
        )
        self.waited_s = 0.0
        self._made: tuple[EmbeddingSettings, Embedder] | None = None

    def configure(self, **changes: object) -> None:
        """Change settings."""
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]

    def embedder(self) -> Embedder:
        """The configured model; kept, since each client of the openai package takes 0.2 s to make."""
        if self._made is None or self._made[0] != self.settings:
            self._made = (self.settings, make_embedder(self.settings, self.store))
        return self._made[1]

    def run(self, **options: object) -> EmbedReport:
        """One run of the indexer."""
        return run_indexer(
            self.store,
            self.embedder(),
            self.settings,
            **{"sleep": self.sleep, **options},  # type: ignore[arg-type]
        )

    def warm_up(self) -> None:
        """Embed one memory, so that the probe sentences are through, and forget the requests."""
        add_nodes(self.store, [NodeDraft(content="warm-up")])
        self.run()
        self.server.calls.clear()

    def sleep(self, seconds: float) -> None:
        """A wait that takes no time."""
        self.waited_s += seconds

    def sent(self) -> list[str]:
        """The memories' texts that went out, in order; without the probe sentences."""
        return [text for text in self.server.inputs if text not in PROBE_SENTENCES]

    def batches(self) -> list[int]:
        """How many memories' texts each request had."""
        sizes = [sum(text not in PROBE_SENTENCES for text in call.inputs) for call in self.server.calls]
        return [size for size in sizes if size]


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    """A server whose vectors depend on nothing but the text."""
    with EmbedServer(DIMENSIONS) as running:
        yield running


@pytest.fixture
def remote(store: Store, server: EmbedServer, monkeypatch: pytest.MonkeyPatch) -> Remote:
    """A remote model for the empty store, with a key."""
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    return Remote(store, server)


@pytest.fixture
def fill(store: Store) -> Callable[..., list[str]]:
    """Adds memories of these texts to the store and gives their ids."""

    def add(*texts: str) -> list[str]:
        return add_nodes(store, [NodeDraft(content=text) for text in texts])

    return add
