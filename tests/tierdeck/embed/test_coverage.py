from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tierdeck.conftest import Remote
from tests.tierdeck.embed_server import Fault
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.coverage import Coverage, coverage
from tierdeck.errors import StoppedError
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.store import Store
from tierdeck.store.changes import edit_node
from tierdeck.store.nodes import add_node

Fill = Callable[..., list[str]]


def test_every_memory_is_counted_once_under_what_became_of_it(remote: Remote, fill: Fill) -> None:
    ids = fill("fine", "to be edited", "refused", "password=hunter2")
    add_node(remote.store, NodeDraft(content="off", compute_embedding=False))
    remote.server.fault_for = lambda text: Fault(422) if text == "refused" else None
    remote.run()
    edit_node(remote.store, ids[1], NodeChanges(content="edited"), actor="test")
    fill("late")
    assert coverage(remote.store, remote.settings) == Coverage(
        total=6,
        embedded=1,
        pending=1,
        failed=1,
        stale=1,
        off=2,
        current_model="model-a",
        index_model="model-a",
        by_model={"model-a": 2},
    )


def test_without_an_index_everything_waits(store: Store, fill: Fill) -> None:
    fill("a", "b")
    found = coverage(store, EmbeddingSettings())
    assert (found.total, found.pending, found.embedded, found.by_model) == (2, 2, 0, {})
    assert found.index_model is None
    assert found.foreign_model_note is None


def test_with_embeddings_turned_off_no_model_is_in_force_and_vectors_still_count(
    remote: Remote, fill: Fill
) -> None:
    fill("a")
    remote.run()
    found = coverage(remote.store, EmbeddingSettings(provider="off"))
    assert (found.current_model, found.index_model, found.by_model) == (None, "model-a", {"model-a": 1})


@pytest.mark.case("E09")
def test_vectors_of_another_model_are_named_with_their_number(remote: Remote, fill: Fill) -> None:
    fill("a", "b")
    remote.run()
    remote.configure(model="model-b")
    found = coverage(remote.store, remote.settings)
    assert (found.embedded, found.pending, found.current_model, found.index_model) == (0, 2, "model-b", "model-a")
    assert found.foreign_model_note is not None
    assert found.foreign_model_note.startswith("2 memories embedded by model-a")


def test_the_count_can_be_given_up(remote: Remote, fill: Fill) -> None:
    fill("a")
    remote.run()
    with pytest.raises(StoppedError):
        coverage(remote.store, remote.settings, should_stop=lambda: True)
