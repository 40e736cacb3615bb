"""The tiers of memories that a person names, none of which may be missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from tierdeck.errors import NotFoundError


def known_tiers(conn: apsw.Connection, ids: Sequence[str], doing: str) -> dict[str, str | None]:
    """The tier of each memory by id, in the order of the ids; None where another program left NULL.

    Args:
        doing: what is asked, as the message begins: "move memory".

    Raises:
        NotFoundError: an id does not exist; it is named.
    """
    tiers = tiers_in(conn, ids)
    missing = next((node_id for node_id in ids if node_id not in tiers), None)
    if missing is not None:
        raise NotFoundError(f"{doing} {missing[:80]}: there is no such memory; nothing was changed")
    return {node_id: tiers[node_id] for node_id in ids}


def tiers_in(conn: apsw.Connection, ids: Sequence[str]) -> dict[str, str | None]:
    """The tier of each of these memories that exists, by id."""
    sql = "SELECT id, tier FROM nodes WHERE id IN (SELECT value FROM json_each(?))"
    rows: Any = conn.execute(sql, (json.dumps(list(ids)),)).fetchall()
    return dict(rows)
