"""Bits from a handful of vectors on, so that a small store has some; and whether they are in step."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from tierdeck.index.file import VECTORS, open_for_writing
from tierdeck.store import Store
from tierdeck.vectors.bit_check import bit_fault
from tierdeck.vectors.model_record import Model, current_model

FEW = 4
PLACES = ("bit_table", "bit_check", "bit_follower", "model_record")


def begin_early(patch: pytest.MonkeyPatch) -> None:
    """Have bits from `FEW` vectors on."""
    for place in PLACES:
        patch.setattr(f"tierdeck.vectors.{place}.MIN_BIT_VECTORS", FEW)


def assert_bits_in_step(store: Store, *, has_bits: bool | None = True, knows_rowids: bool = True) -> None:
    """The bits are those of a rebuild, and every rowid that they know is the memory's in the store.

    Args:
        has_bits: whether there must be some; None when there may.
        knows_rowids: whether all of them must be known; a rebuild leaves that to the indexer's next run.
    """
    keys = store.read(lambda c: {str(key): row for key, row in c.execute("SELECT id, rowid FROM nodes")})
    with closing(open_for_writing(store)) as conn:
        model = current_model(conn)
        assert isinstance(model, Model)
        assert bit_fault(conn, model) is None
        chunks = conn.execute("SELECT chunk_id, keys FROM bit_chunk").fetchall()
        if has_bits is not None:
            assert bool(chunks) is has_bits
        for chunk_id, raw in chunks:
            assert isinstance(raw, bytes)
            known = np.frombuffer(raw, np.int64)
            rows = conn.execute(f"SELECT id, chunk_offset FROM {VECTORS}_rowids WHERE chunk_id = ?", (chunk_id,))
            for node_id, offset in rows:
                is_unknown = not knows_rowids and known[int(offset)] == 0
                assert is_unknown or known[int(offset)] == keys[str(node_id)]
