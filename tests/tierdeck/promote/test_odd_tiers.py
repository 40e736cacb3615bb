"""A tier that another program left, of whatever kind, can be moved from, logged and taken back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck import db, migrate
from tierdeck.migrate import StoreKind
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.promote.moves.undo import undo_move
from tierdeck.store import Store, open_store
from tierdeck.store.rows import SQLValue


def tier_in(store: Store) -> object:
    return store.read(lambda conn: conn.execute("SELECT typeof(tier), quote(tier) FROM nodes").fetchall())


@pytest.mark.parametrize("tier", ["odd", "", 5, 1.5, b"\x00\xff", b"", None])
def test_any_value_of_a_tier_is_archived_logged_and_back_byte_for_byte(tmp_path: Path, tier: SQLValue) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [{"id": "a", "type": "fact", "content": "x", "tier": tier}])
    with closing(db.open_writer(path)) as conn:
        migrate.migrate(conn, StoreKind.ADOPTED)
    with open_store(path) as store:
        before = tier_in(store)
        assert archive_nodes(store, ["a"], actor="mara") == ["a"]
        undo_move(store, "a", actor="mara")
        assert tier_in(store) == before
        assert (verify_log(store).rows, verify_log(store).problem) == (2, None)
