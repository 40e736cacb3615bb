from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.tierdeck.conftest import Remote
from tests.tierdeck.embed_server import EmbedServer
from tierdeck.config import DEFAULT_REMOTE_DIMENSIONS, DEFAULT_REMOTE_MODEL, EmbeddingSettings
from tierdeck.embed import chosen_model, make_embedder
from tierdeck.embed.estimate import estimate
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.make import DIMENSIONS_KEY, MODEL_KEY, PROVIDER_KEY
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.errors import InvalidValueError, ModelUnavailableError
from tierdeck.store import Store
from tierdeck.store.settings import set_setting

Fill = Callable[..., list[str]]


@pytest.mark.spec("SPEC-09.02")
def test_the_default_remote_model_is_the_specified_one_with_1536_dimensions() -> None:
    choice = chosen_model(EmbeddingSettings(provider="openai"))
    assert (choice.name, choice.dimensions, choice.is_remote) == ("text-embedding-3-small", 1536, True)
    assert (DEFAULT_REMOTE_MODEL, DEFAULT_REMOTE_DIMENSIONS) == ("text-embedding-3-small", 1536)


@pytest.mark.case("E18")
def test_a_key_in_the_environment_alone_sends_nothing(
    store: Store, fill: Fill, server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000000000000000")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    fill("a private thought")
    settings = EmbeddingSettings()
    assert chosen_model(settings, store).provider == "local"
    assert run_indexer(store, make_embedder(settings, store), settings).embedded == 1
    assert server.calls == []


@pytest.mark.parametrize(
    ("provider", "own", "wanted"),
    [
        ("auto", None, "local"),
        ("auto", "auto", "local"),
        ("auto", "openai", "openai"),
        ("auto", "off", "off"),
        ("local", "openai", "local"),
        ("off", "openai", "off"),
        ("off", "local", "off"),
        ("openai", "off", "openai"),
        ("openai", "local", "openai"),
    ],
)
def test_the_settings_win_over_the_stores_own_choice_and_auto_asks_it(
    store: Store, provider: str, own: str | None, wanted: str
) -> None:
    if own is not None:
        set_setting(store, PROVIDER_KEY, own)
    assert chosen_model(EmbeddingSettings(provider=provider), store).provider == wanted  # type: ignore[arg-type]


def test_the_stores_own_model_and_dimensions_go_with_its_provider(store: Store) -> None:
    set_setting(store, PROVIDER_KEY, "openai")
    set_setting(store, MODEL_KEY, "nomic-embed-text")
    set_setting(store, DIMENSIONS_KEY, "768")
    choice = chosen_model(EmbeddingSettings(), store)
    assert (choice.name, choice.dimensions) == ("nomic-embed-text", 768)


@pytest.mark.parametrize("text", ["0", "-1", "8193", "many", "", "٣", "1e3", "9" * 40])
def test_dimensions_in_the_store_that_can_not_be_are_refused(store: Store, text: str) -> None:
    set_setting(store, PROVIDER_KEY, "openai")
    with store.writing() as conn:
        conn.execute("INSERT INTO td_setting (key, value) VALUES (?, ?)", (DIMENSIONS_KEY, text))
    with pytest.raises(InvalidValueError, match="dimensions"):
        chosen_model(EmbeddingSettings(), store)


def test_a_provider_in_the_store_that_nobody_knows_is_refused(store: Store) -> None:
    with store.writing() as conn:
        conn.execute("INSERT INTO td_setting (key, value) VALUES (?, 'evil')", (PROVIDER_KEY,))
    with pytest.raises(InvalidValueError, match="'evil'"):
        chosen_model(EmbeddingSettings(), store)


@pytest.mark.case("E17")
@pytest.mark.parametrize("key", [None, "", "  "])
def test_without_a_key_the_reason_names_the_variable(
    server: EmbedServer, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelUnavailableError, match="OPENAI_API_KEY") as caught:
        make_embedder(EmbeddingSettings(provider="openai", base_url=server.base_url))
    assert caught.value.hint is not None
    assert "search by word works" in caught.value.hint
    assert server.calls == []


@pytest.mark.case("E17")
def test_turned_off_means_off_with_a_reason() -> None:
    with pytest.raises(ModelUnavailableError, match="turned off"):
        make_embedder(EmbeddingSettings(provider="off"))


@pytest.mark.case("E17")
def test_where_the_local_model_is_not_installed_there_is_none_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    choice = chosen_model(EmbeddingSettings())
    assert choice.provider == "off"
    assert "no local model is installed" in choice.reason
    with pytest.raises(ModelUnavailableError, match="no local model is installed"):
        make_embedder(EmbeddingSettings())
    with pytest.raises(ModelUnavailableError, match="wordllama is not installed"):
        make_embedder(EmbeddingSettings(provider="local"))


def test_the_key_comes_from_the_variable_that_the_settings_name(
    store: Store, fill: Fill, server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "my-own-key")
    fill("a")
    settings = EmbeddingSettings(
        provider="openai", model="m", dimensions=8, base_url=server.base_url, api_key_env="MY_KEY"
    )
    run_indexer(store, make_embedder(settings, store), settings)
    assert {call.authorization for call in server.calls} == {"Bearer my-own-key"}


@pytest.mark.parametrize(
    ("model", "dimensions", "sent"),
    [
        ("text-embedding-3-small", 1536, None),
        ("text-embedding-3-small", 8, 8),
        ("text-embedding-3-large", 3072, None),
        ("text-embedding-3-large", 1536, 1536),
        ("nomic-embed-text", 8, None),
    ],
)
def test_shorter_vectors_are_asked_only_of_models_that_make_them(
    server: EmbedServer, monkeypatch: pytest.MonkeyPatch, model: str, dimensions: int, sent: int | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000000000000000")
    server.vector_of = lambda text: [1.0] * dimensions
    settings = EmbeddingSettings(provider="openai", model=model, dimensions=dimensions, base_url=server.base_url)
    vectors = make_embedder(settings).embed(["a", "b"])
    assert vectors.shape == (2, dimensions)
    assert [(call.model, call.dimensions, call.encoding_format) for call in server.calls] == [
        (model, sent, "base64")
    ]


def test_an_estimate_names_the_server_without_the_password_in_its_address(store: Store, fill: Fill) -> None:
    fill("abc", "defg", "abc")
    settings = EmbeddingSettings(provider="openai", base_url="https://user:s3cret99@embed.example.com:8443/v1")
    said = estimate(store, settings)
    assert said.where == "embed.example.com:8443"
    probes = sum(len(sentence) for sentence in PROBE_SENTENCES)
    assert (said.texts, said.tokens_upper, said.model) == (2, 7 + probes, "text-embedding-3-small")
    assert said.usd == pytest.approx((7 + probes) * 0.02 / 1_000_000)


def test_an_estimate_of_a_model_without_a_price_has_none_and_the_local_one_costs_nothing(
    store: Store, fill: Fill
) -> None:
    fill("abc")
    assert estimate(store, EmbeddingSettings(provider="openai", model="unknown")).usd is None
    here = estimate(store, EmbeddingSettings(provider="local"))
    assert (here.where, here.usd, here.texts) == ("this machine", 0.0, 1)


def test_an_estimate_counts_only_what_a_run_would_send(store: Store, fill: Fill) -> None:
    fill("abc", "x" * 20_000)
    settings = EmbeddingSettings(provider="local")
    probes = sum(len(sentence) for sentence in PROBE_SENTENCES)
    assert estimate(store, settings).tokens_upper == 3 + 8_192 + probes
    run_indexer(store, make_embedder(settings), settings)
    assert (estimate(store, settings).texts, estimate(store, settings).tokens_upper) == (0, 0)
    fill("late", "abc")
    assert (estimate(store, settings).texts, estimate(store, settings).tokens_upper) == (1, 4)


def test_without_a_model_there_is_nothing_to_estimate(store: Store) -> None:
    with pytest.raises(ModelUnavailableError, match="turned off"):
        estimate(store, EmbeddingSettings(provider="off"))


@pytest.mark.case("X01")
def test_an_estimate_counts_texts_with_secrets_only_when_they_are_allowed_out(remote: Remote, fill: Fill) -> None:
    fill("harmless", "export OPENAI_API_KEY=sk-test-0000000000")
    remote.run()
    assert estimate(remote.store, remote.settings).texts == 0
    remote.configure(send_secrets=True)
    assert estimate(remote.store, remote.settings).texts == 1
