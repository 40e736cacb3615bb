from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.message import Message

from tests.tierdeck.embed_server import EmbedServer
from tests.tierdeck_tui.conftest import MakeApp
from tierdeck.config import EmbeddingSettings, Settings
from tierdeck.embed import make_embedder
from tierdeck.embed.coverage import coverage
from tierdeck.embed.indexer import run_indexer
from tierdeck.index.path import index_path
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_node, add_nodes, open_store
from tierdeck.store.settings import set_setting
from tierdeck.terms.term_index import terms_of
from tierdeck_tui import background
from tierdeck_tui.background import bring_up_meaning, fill_index, watch_store
from tierdeck_tui.messages import BackgroundFailed, IndexFilled, IndexMoved, MeaningChanged, StoreChanged
from tierdeck_tui.reading.console import Console

_LOCAL = Settings(embedding=EmbeddingSettings(provider="local"))
_REMOTE = Settings(
    embedding=EmbeddingSettings(provider="openai", base_url="http://127.0.0.1:9", api_key_env="TIERDECK_TEST_KEY")
)


def test_the_model_comes_up_and_the_index_is_filled(small_store: Path) -> None:
    told: list[Message] = []
    with open_store(small_store) as store:
        deck = Console(store, _LOCAL)
        bring_up_meaning(deck, told.append)
        fill_index(deck, told.append, threading.Event())
        assert [type(message) for message in told if not isinstance(message, IndexMoved)] == [
            MeaningChanged,
            IndexFilled,
        ]
        assert deck.meaning_state().is_ready
        found = coverage(store, _LOCAL.embedding)
        assert (found.embedded, found.pending) == (20, 0)
        assert deck.index() is not None


def test_another_programs_store_gets_its_index_in_the_cache_and_its_folder_stays(family_store_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    with open_store(family_store_path) as store:
        deck = Console(store, _LOCAL)
        bring_up_meaning(deck, lambda _: None)
        fill_index(deck, lambda _: None, threading.Event())
        assert index_path(store).exists()
        assert index_path(store).parent != family_store_path.parent
        assert coverage(store, _LOCAL.embedding).pending == 0
        deck.close()
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


def test_a_remote_model_never_runs_by_itself(small_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIERDECK_TEST_KEY", "any")
    told: list[Message] = []
    with open_store(small_store) as store:
        deck = Console(store, _REMOTE)
        bring_up_meaning(deck, told.append)
        fill_index(deck, told.append, threading.Event())
        assert [type(message) for message in told] == [MeaningChanged]
        assert deck.embedder() is not None
        assert coverage(store, _REMOTE.embedding).embedded == 0
        assert terms_of(store) is not None  # they are made here and nothing is sent for them


def test_it_stops_between_two_small_batches(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    stopped = threading.Event()
    told: list[Message] = []

    def tell(message: Message) -> None:
        told.append(message)
        if isinstance(message, IndexMoved):
            stopped.set()

    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft(f"memory number {number} about something else") for number in range(2_000)])
        deck = Console(store, _LOCAL)
        bring_up_meaning(deck, tell)
        fill_index(deck, tell, stopped)
        found = coverage(store, _LOCAL.embedding)
        assert 0 < found.embedded < 200
        assert not any(isinstance(message, IndexFilled) for message in told)
        fill_index(deck, told.append, threading.Event())
        assert coverage(store, _LOCAL.embedding).embedded == 2_000


def test_an_index_that_can_not_be_used_is_told_once_and_search_by_word_goes_on(small_store: Path) -> None:
    Path(f"{small_store}-index").write_bytes(b"this is no index file, but it is long enough to look like one" * 100)
    told: list[Message] = []
    with open_store(small_store) as store:
        deck = Console(store, _LOCAL)
        bring_up_meaning(deck, told.append)
        fill_index(deck, told.append, threading.Event())
        [failed] = [message for message in told if isinstance(message, BackgroundFailed)]
        assert failed.error.hint
        assert deck.index() is None
        assert deck.meaning_state().word == "keyword only"
        assert "index" in deck.meaning_state().degraded


def test_the_watcher_counts_first_and_again_after_another_program_wrote(small_store: Path) -> None:
    told: list[StoreChanged] = []
    stopped = threading.Event()
    first, again = threading.Event(), threading.Event()

    def tell(message: Message) -> None:
        if isinstance(message, StoreChanged):
            told.append(message)
            (first if message.is_first else again).set()

    with open_store(small_store) as store, open_store(small_store) as other:
        thread = threading.Thread(target=watch_store, args=(Console(store, _LOCAL), tell, stopped))
        thread.start()
        assert first.wait(30)
        add_node(other, NodeDraft("one more"))
        assert again.wait(30)
        stopped.set()
        thread.join(30)
        assert not thread.is_alive()
    assert (told[0].memories, told[-1].memories) == (20, 21)


async def test_a_memory_that_another_program_adds_is_embedded_too(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store, _LOCAL)
    async with app.run_test() as pilot:
        for wanted in (20, 21):
            for _ in range(600):
                await pilot.pause(0.05)
                if coverage(app.deck.store, _LOCAL.embedding).embedded == wanted:
                    break
            assert coverage(app.deck.store, _LOCAL.embedding).embedded == wanted
            if wanted == 20:
                with open_store(small_store) as other:
                    add_node(other, NodeDraft("one more memory"))


async def test_leaving_while_the_index_is_filled_leaves_it_usable(make_app: MakeApp, tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft(f"memory number {number} about something else") for number in range(3_000)])
    app = make_app(path, _LOCAL)
    async with app.run_test() as pilot:
        for _ in range(400):
            await pilot.pause(0.02)
            if app.status.progress.startswith("embedding"):
                break
        await pilot.press("ctrl+q")
    with open_store(path) as store:
        found = coverage(store, _LOCAL.embedding)
        assert found.embedded + found.pending == 3_000


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer() as running:
        yield running


def _give_to_remote(store: Store, settings: EmbeddingSettings) -> None:
    """As `embed --provider openai --model paid --dimensions 8` does in another process."""
    for key, value in (("provider", "openai"), ("model", "paid"), ("dimensions", "8")):
        set_setting(store, f"embedding_{key}", value)
    report = run_indexer(store, make_embedder(settings, store), settings)
    assert report.pending == 0


def _models(store: Store, settings: EmbeddingSettings) -> dict[str, int]:
    return dict(coverage(store, settings).by_model)


@pytest.fixture
def auto(server: EmbedServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings that leave the model to the store."""
    monkeypatch.setenv("TIERDECK_TEST_KEY", "any")
    return Settings(embedding=EmbeddingSettings(base_url=server.base_url, api_key_env="TIERDECK_TEST_KEY"))


def test_vectors_of_another_model_that_somebody_chose_meanwhile_stay(small_store: Path, auto: Settings) -> None:
    told: list[Message] = []
    with open_store(small_store) as store, open_store(small_store) as other:
        deck = Console(store, auto)
        bring_up_meaning(deck, told.append)
        fill_index(deck, told.append, threading.Event())
        _give_to_remote(other, auto.embedding)
        add_node(other, NodeDraft("one more"))
        told.clear()
        fill_index(deck, told.append, threading.Event())
        assert [type(message) for message in told] == [MeaningChanged]
        embedder = deck.embedder()
        assert embedder is not None
        assert (embedder.name, embedder.is_remote) == ("paid", True)
        assert _models(store, auto.embedding) == {"paid": 20}


def test_a_run_with_the_model_before_ends_without_its_vectors(
    small_store: Path, auto: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LOOK_S", 0.0)
    told: list[Message] = []
    with open_store(small_store) as store, open_store(small_store) as other:
        deck = Console(store, auto)
        bring_up_meaning(deck, told.append)

        def tell(message: Message) -> None:
            told.append(message)
            if isinstance(message, IndexMoved) and not given:
                given.append(True)
                _give_to_remote(other, auto.embedding)

        given: list[bool] = []
        fill_index(deck, tell, threading.Event())
        assert given
        assert _models(store, auto.embedding) == {"paid": 20}
        assert isinstance(told[-1], MeaningChanged)


def test_a_model_that_was_chosen_without_its_key_here_is_said_and_none_is_used(
    small_store: Path, auto: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(small_store) as store, open_store(small_store) as other:
        deck = Console(store, auto)
        bring_up_meaning(deck, lambda _: None)
        _give_to_remote(other, auto.embedding)
        monkeypatch.delenv("TIERDECK_TEST_KEY")
        fill_index(deck, lambda _: None, threading.Event())
        assert deck.embedder() is None
        assert "TIERDECK_TEST_KEY" in deck.meaning_state().detail
        assert not deck.has_other_model()
        assert _models(store, auto.embedding) == {"paid": 20}
