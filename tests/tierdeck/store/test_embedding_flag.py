"""The flag that keeps a memory from being embedded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.family import family_id
from tierdeck.errors import NotFoundError, ReadOnlyStoreError
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_nodes, embedding_off, open_store, set_compute_embedding


@pytest.mark.spec("SPEC-09.06")
def test_the_flag_is_set_and_lifted(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("x"), NodeDraft("y"), NodeDraft("z", compute_embedding=False)])
    set_compute_embedding(store, ids[:2], enabled=False)
    set_compute_embedding(store, ids[1:], enabled=True)
    assert embedding_off(store, ids) == {ids[0]}
    with pytest.raises(NotFoundError, match="set embedding of nothing"):
        set_compute_embedding(store, [ids[1], "nothing"], enabled=False)
    assert embedding_off(store, ids) == {ids[0]}


def test_another_programs_store_has_no_flags(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert embedding_off(store, [family_id(1)]) == set()
        with pytest.raises(ReadOnlyStoreError):
            set_compute_embedding(store, [family_id(1)], enabled=False)
