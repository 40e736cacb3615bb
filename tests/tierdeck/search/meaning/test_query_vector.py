"""Meaning is prepared, or left out with a reason that an operator can act on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tierdeck.errors import ProviderError
from tierdeck.search.meaning.query_vector import MeaningSource
from tierdeck.store import Store


class DeadProvider(ChosenVectors):
    """A provider that can't be reached."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        raise ProviderError("embed with chosen: no connection", is_retryable=True, hint="is it running?")


class RemoteModel(ChosenVectors):
    """A model that runs elsewhere."""

    is_remote = True


def test_without_an_index_the_reason_of_the_caller_stands() -> None:
    assert MeaningSource(off_reason="embeddings are turned off").prepare("x", is_typing=False).off == (
        "embeddings are turned off"
    )


def test_without_an_index_or_a_reason_it_says_how_to_make_one() -> None:
    off = MeaningSource(ChosenVectors({})).prepare("x", is_typing=False).off
    assert off is not None
    assert "tierdeck embed" in off


@pytest.mark.case("E09")
@pytest.mark.parametrize("model", [ChosenVectors({}, name="B"), ChosenVectors({}, name="A", dimensions=12)])
def test_vectors_of_another_model_are_never_compared(store: Store, model: ChosenVectors) -> None:
    remember(store, "one", "two")
    with embed_all(store, ChosenVectors({}, name="A")) as index:
        meaning = MeaningSource(model, index).prepare("one", is_typing=False)
    assert meaning.leg is None
    assert meaning.off is not None
    assert meaning.off.startswith("2 memories embedded by A")
    assert "re-embed" in meaning.off
    assert model.asked == []


def test_a_provider_that_fails_is_a_reason_and_no_error(store: Store) -> None:
    remember(store, "one")
    with embed_all(store, ChosenVectors({})) as index:
        meaning = MeaningSource(DeadProvider({}), index).prepare("one", is_typing=False)
    assert meaning.off == "embed with chosen: no connection; is it running?"


@pytest.mark.case("E05")
@pytest.mark.parametrize("vector", [[0.0] * 8, [float("nan")] * 8, [float("inf"), *[0.0] * 7]])
def test_a_query_vector_that_points_nowhere_is_a_reason_and_no_error(store: Store, vector: list[float]) -> None:
    remember(store, "one")
    with embed_all(store, ChosenVectors({})) as index:
        meaning = MeaningSource(ChosenVectors({"q": vector}), index).prepare("q", is_typing=False)
    assert meaning.leg is None
    assert meaning.off is not None
    assert "the query" in meaning.off


def test_nothing_is_sent_to_a_remote_model_while_somebody_types(store: Store) -> None:
    remember(store, "one")
    remote = RemoteModel({})
    with embed_all(store, ChosenVectors({})) as index:
        assert MeaningSource(remote, index).prepare("one", is_typing=True).leg is None
        assert remote.asked == []
        assert MeaningSource(remote, index).prepare("one", is_typing=False).leg is not None
        assert remote.asked == ["one"]


def test_a_given_vector_needs_no_embedder_but_the_right_length(store: Store) -> None:
    remember(store, "one")
    with embed_all(store, ChosenVectors({})) as index:
        fitting = MeaningSource(index=index, query_vector=np.ones(8, np.float32)).prepare("", is_typing=False)
        other = MeaningSource(index=index, query_vector=np.ones(9, np.float32)).prepare("", is_typing=False)
    assert fitting.leg is not None
    assert other.leg is None
    assert other.off is not None
    assert "9" in other.off


@pytest.mark.case("X01")
def test_a_query_that_looks_like_a_secret_goes_to_no_remote_model_unless_allowed(store: Store) -> None:
    key = "ghp_abcdefghij0123456789abcdefghij012345"
    remember(store, "one")
    model = RemoteModel({})
    with embed_all(store, ChosenVectors({})) as index:
        held_back = MeaningSource(model, index).prepare(key, is_typing=False)
        assert held_back.off == "the query looks like a secret, and is not sent to a remote model"
        assert model.asked == []
        assert MeaningSource(model, index, may_send_secrets=True).prepare(key, is_typing=False).off is None
    assert model.asked == [key]
