from __future__ import annotations

import getpass
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import keyword_settings
from tierdeck.config import EmbeddingSettings, Settings
from tierdeck.embed.indexer import run_indexer
from tierdeck.store import Store, open_store
from tierdeck.vectors.vector_index import VectorIndex
from tierdeck_tui.reading.console import Console


def test_before_the_model_is_loaded_there_is_none_and_it_says_so(small_store: Path) -> None:
    with open_store(small_store) as store:
        deck = Console(store, Settings())
        assert deck.embedder() is None
        assert deck.meaning_state().word == "loading…"
        assert deck.meaning_state().degraded == ""
        assert deck.index() is None


def test_without_a_model_it_says_keyword_only_and_why_and_what_to_do(small_store: Path) -> None:
    with open_store(small_store) as store:
        deck = Console(store, keyword_settings())
        assert deck.load_meaning() is None
        state = deck.meaning_state()
        assert state.degraded == "keyword only: no embedding model"
        assert state.detail == "embeddings are turned off in the settings"
        assert state.hint


def test_a_missing_key_is_told_not_raised(small_store: Path) -> None:
    settings = Settings(embedding=EmbeddingSettings(provider="openai"))
    with open_store(small_store) as store:
        deck = Console(store, settings)
        assert deck.load_meaning() is None
        assert "OPENAI_API_KEY" in deck.meaning_state().detail


def test_the_local_model_is_ready_after_loading(small_store: Path) -> None:
    with open_store(small_store) as store:
        deck = Console(store, Settings(embedding=EmbeddingSettings(provider="local")))
        embedder = deck.load_meaning()
        assert embedder is not None
        assert deck.embedder() is embedder
        assert deck.meaning_state().is_ready
        assert not embedder.is_remote


def test_the_operator_is_the_setting_then_the_login_name(
    small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(small_store) as store:
        assert Console(store, keyword_settings(operator="Ada")).operator() == "Ada"
        monkeypatch.setenv("LOGNAME", "grace")
        assert Console(store, keyword_settings()).operator() == getpass.getuser() == "grace"


@pytest.mark.parametrize(("read_only", "access"), [(False, "rw"), (True, "ro")])
def test_access_is_what_may_be_done(small_store: Path, read_only: bool, access: str) -> None:
    with open_store(small_store, read_only=read_only) as store:
        assert Console(store, keyword_settings(), read_only).access == access


def test_read_only_can_be_asked_for_on_a_store_that_could_be_written(small_store: Path) -> None:
    with open_store(small_store) as store:
        deck = Console(store, keyword_settings(), read_only=True)
        assert deck.read_only
        assert deck.access == "ro"


def test_closing_twice_is_allowed(small_store: Path) -> None:
    deck = Console(open_store(small_store), keyword_settings())
    deck.close()
    deck.close()
    assert deck.index() is None


def test_an_index_made_anew_after_it_could_not_be_used_makes_meaning_ready_again(small_store: Path) -> None:
    index = Path(f"{small_store}-index")
    index.write_bytes(b"this is no index file, but it is long enough to look like one" * 100)
    settings = Settings(embedding=EmbeddingSettings(provider="local"))
    with open_store(small_store) as store:
        deck = Console(store, settings)
        embedder = deck.load_meaning()
        assert embedder is not None
        assert deck.index() is None
        assert deck.meaning_state().degraded == "keyword only: the index can't be used"
        index.unlink()
        run_indexer(store, embedder, settings.embedding)
        assert deck.index() is not None
        assert deck.meaning_state().is_ready
        deck.close()


class HeldIndexConsole(Console):
    """A console whose index opens when the gate does."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(store, settings)
        self.began, self.gate = threading.Event(), threading.Event()

    def _opened_index(self) -> VectorIndex | None:
        self.began.set()
        assert self.gate.wait(30)
        return super()._opened_index()


def test_who_asks_for_the_state_does_not_wait_for_an_index_that_is_being_opened(small_store: Path) -> None:
    console = HeldIndexConsole(open_store(small_store), keyword_settings())
    with ThreadPoolExecutor(2) as pool:
        opening = pool.submit(console.index)
        assert console.began.wait(30)
        asked = pool.submit(console.meaning_state)
        try:
            assert asked.result(timeout=10).word == "loading…"
            assert not opening.done()
        finally:
            console.gate.set()
    console.close()
