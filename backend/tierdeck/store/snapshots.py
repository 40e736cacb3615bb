"""A whole row of `nodes` as JSON and back, exactly: what a change replaced, so that it can be taken back.

Columns are those the store has, also ones we don't know. JSON carries text, whole numbers and finite reals as they
are; what it can't carry is an object with one key: {"blob": hex}, {"text": hex} (no UTF-8), {"real": "inf"}.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import apsw

from tierdeck.store.rows import SQLValue, as_bytes, quoted_name

JSONValue = None | int | float | str | dict[str, str]
Snapshot = Mapping[str, JSONValue]
# Reading a memory and embedding it move these; they are no part of a change and never stand in an undo's way.
PASSING_COLUMNS = frozenset({"last_accessed", "access_count", "embedding"})


def take(conn: apsw.Connection, columns: Sequence[str], node_id: str) -> dict[str, JSONValue] | None:
    """The row of a memory as it stands, every column of it; None when there is none."""
    sql = ", ".join(f"typeof({name}), {as_bytes(name)}" for name in map(quoted_name, columns))
    row = conn.execute(f"SELECT {sql} FROM nodes WHERE id = ?", (node_id,)).fetchone()
    if row is None:
        return None
    return {column: _to_json(row[2 * i], row[2 * i + 1]) for i, column in enumerate(columns)}


def put_back(conn: apsw.Connection, node_id: str, snapshot: Snapshot, *, with_tier: bool) -> None:
    """Make the row what the snapshot says, but for `PASSING_COLUMNS` and the keys that name the row.

    Args:
        with_tier: the tier as well; an edit never moved it, and what moved it since stays in force.
    """
    left = PASSING_COLUMNS | {"pk", "id"} | (frozenset() if with_tier else {"tier"})
    columns = [column for column in snapshot if column not in left]
    # CAST makes text of the bytes again, whether or not they are UTF-8.
    sets = ", ".join(
        f"{quoted_name(column)} = {'CAST(? AS TEXT)' if _is_text(snapshot[column]) else '?'}" for column in columns
    )
    conn.execute(f"UPDATE nodes SET {sets} WHERE id = ?", [*(_from_json(snapshot[c]) for c in columns), node_id])


def digest(snapshot: Snapshot, *, with_tier: bool) -> str:
    """What tells whether a row is still as a change left it (BLAKE2b-128 of its lasting columns).

    Not its `pk`: that is a place in a file, and another one after an import.
    """
    left = PASSING_COLUMNS | {"pk"} | (frozenset() if with_tier else {"tier"})
    lasting = {column: value for column, value in snapshot.items() if column not in left}
    text = json.dumps(lasting, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _to_json(kind: str, value: SQLValue) -> JSONValue:
    if isinstance(value, bytes):
        if kind == "blob":
            return {"blob": value.hex()}
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"text": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"real": repr(value)}
    return value


def _from_json(value: JSONValue) -> SQLValue:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict):
        [(kind, text)] = value.items()
        return float(text) if kind == "real" else bytes.fromhex(text)
    return value


def _is_text(value: JSONValue) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and "text" in value)
