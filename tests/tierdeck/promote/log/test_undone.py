from __future__ import annotations

import pytest

from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.log.undone import undone_ids, undone_in
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.undo import undo_move
from tierdeck.store import Store, add_nodes

pytestmark = pytest.mark.spec("SPEC-09.14", "SPEC-09.15")


def test_a_row_whose_undo_was_taken_back_stands_and_that_undo_does_not() -> None:
    move, undo, redo = (1, None), (2, 1), (3, 2)
    assert undone_ids([move, undo]) == {1}
    assert undone_ids([redo, move, undo]) == {2}
    assert undone_ids([move, undo, redo, (4, 3)]) == {1, 3}


def test_the_rows_of_a_memory_that_were_taken_back_are_found_and_no_others(store: Store) -> None:
    moved, other = add_nodes(store, [NodeDraft("moved"), NodeDraft("other")])
    override_tier(store, [moved, other], Tier.SESSION, actor="mara", reason="both are known")
    first = undo_move(store, moved, actor="mara")
    assert store.read(lambda conn: undone_in(conn, [moved, other])) == {first.undoes}
    undo_move(store, moved, actor="mara", log_id=first.id)
    assert store.read(lambda conn: undone_in(conn, [moved])) == {first.id}
    assert store.read(lambda conn: undone_in(conn, [other])) == frozenset()
