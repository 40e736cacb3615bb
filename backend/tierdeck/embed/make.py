"""Which model embeds, said without loading anything, and the embedder that goes with it.

Memories are private: a key that merely stands in the environment sends nothing. A remote model is used only when
the settings name it, or the store's own setting does, which the first confirmed `tierdeck embed` writes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from tierdeck.config import (
    ENCODER_DIMENSIONS,
    ENCODER_MODEL,
    LOCAL_DIMENSIONS,
    LOCAL_MODEL,
    MAX_DIMENSIONS,
    EmbeddingSettings,
)
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.encoder import EncoderEmbedder
from tierdeck.embed.local import LocalEmbedder, local_package_folder
from tierdeck.errors import InvalidValueError, ModelUnavailableError
from tierdeck.store import Store

PROVIDER_KEY = "embedding_provider"
MODEL_KEY = "embedding_model"
DIMENSIONS_KEY = "embedding_dimensions"
DEFAULT_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model in force. `provider` "off" means none; `reason` is a sentence on how it came to be so."""

    provider: Literal["local", "encoder", "openai", "off"]
    name: str
    dimensions: int
    is_remote: bool
    reason: str


def chosen_model(settings: EmbeddingSettings, store: Store | None = None) -> ModelChoice:
    """The model that embeds, without loading it, asking for a key or touching the network.

    A provider named in the settings wins; with `auto` the store's own setting decides, then the local model where
    it is installed, then none.

    Raises:
        InvalidValueError: the store's own setting names no known provider, or dimensions outside 1 to
            `MAX_DIMENSIONS`.
    Spec: SPEC-09.02
    """
    if settings.provider == "off":
        return _off("embeddings are turned off in the settings")
    if settings.provider == "local":
        return _local("the settings say local")
    if settings.provider == "encoder":
        return _encoder("the settings say encoder")
    if settings.provider == "openai":
        return _remote(settings.model, settings.dimensions, "the settings say openai")
    own = {} if store is None else _own_settings(store)
    provider = own.get(PROVIDER_KEY)
    if provider == "off":
        return _off("embeddings are turned off for this store")
    if provider == "local":
        return _local("the store was embedded so before")
    if provider == "encoder":
        return _encoder("the store was embedded so before")
    if provider == "openai":
        dimensions = _dimensions(own.get(DIMENSIONS_KEY), settings.dimensions)
        return _remote(own.get(MODEL_KEY) or settings.model, dimensions, "it was confirmed for this store")
    if provider is not None and provider != "auto":
        raise InvalidValueError(
            f"choose model: the store says provider {provider[:40]!r}", hint="local, encoder, openai or off"
        )
    if local_package_folder() is not None:
        return _local("it needs no key and no network")
    return _off("no local model is installed, and no other was chosen")


def make_embedder(settings: EmbeddingSettings, store: Store | None = None) -> Embedder:
    """The embedder of the model in force, ready to use; asks the network nothing.

    Raises:
        ModelUnavailableError: no model is chosen, its package is absent, or its key is missing; the hint says what
            to do. Keyword search works without it.
    Spec: SPEC-09.01, SPEC-09.02
    """
    choice = chosen_model(settings, store)
    if choice.provider == "off":
        raise ModelUnavailableError(f"embed: {choice.reason}", hint="search by word works; see `tierdeck config`")
    if choice.provider == "local":
        return LocalEmbedder()
    if choice.provider == "encoder":
        return EncoderEmbedder()
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key:
        raise ModelUnavailableError(
            f"embed with {choice.name}: no key, the variable {settings.api_key_env} is not set",
            hint=f"export {settings.api_key_env}=... (any word for a server that needs none); search by word works",
        )
    from tierdeck.embed.remote import RemoteEmbedder

    return RemoteEmbedder(
        choice.name, choice.dimensions, api_key=key, base_url=base_url(settings), timeout_s=settings.timeout_s
    )


def base_url(settings: EmbeddingSettings) -> str:
    """Where a remote model's texts go: the setting, else the openai package's own variable, else OpenAI."""
    return settings.base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or DEFAULT_BASE_URL


def _own_settings(store: Store) -> dict[str, str]:
    if not store.has_table("td_setting"):
        return {}
    rows = store.read(
        lambda conn: conn.execute(
            "SELECT key, value FROM td_setting WHERE key IN (?, ?, ?)", (PROVIDER_KEY, MODEL_KEY, DIMENSIONS_KEY)
        ).fetchall()
    )
    return {str(key): str(value) for key, value in rows}


def _dimensions(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MAX_DIMENSIONS:
        raise InvalidValueError(
            f"choose model: the store says {text[:40]!r} dimensions, the limit is {MAX_DIMENSIONS:,}",
            hint="set dimensions in the settings, or embed the store anew",
        )
    return int(text)


def _local(why: str) -> ModelChoice:
    return ModelChoice("local", LOCAL_MODEL, LOCAL_DIMENSIONS, False, f"{LOCAL_MODEL}, on this machine: {why}")


def _encoder(why: str) -> ModelChoice:
    return ModelChoice(
        "encoder", ENCODER_MODEL, ENCODER_DIMENSIONS, False, f"{ENCODER_MODEL}, on this machine: {why}"
    )


def _remote(name: str, dimensions: int, why: str) -> ModelChoice:
    return ModelChoice("openai", name, dimensions, True, f"{name}, {dimensions} dimensions: {why}")


def _off(why: str) -> ModelChoice:
    return ModelChoice("off", "", 0, False, why)
