"""Which rows of the store meet a condition: asked of SQLite as one text, kept until the store changes."""

from __future__ import annotations

from collections import OrderedDict
from weakref import WeakKeyDictionary

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.search.condition import Condition

_MAX_KEPT = 4


class _Kept:
    """The latest answers of one connection, all of one state of the store."""

    def __init__(self) -> None:
        self.data_version = -1
        self.by_condition: OrderedDict[Condition, NDArray[np.int64]] = OrderedDict()


# By connection, since SQLite's number for a state of the store means something only on one and the same, and a
# connection is used by one thread at a time.
_KEPT: WeakKeyDictionary[apsw.Connection, _Kept] = WeakKeyDictionary()


def allowed_keys(conn: apsw.Connection, condition: Condition) -> NDArray[np.int64]:
    """The rowids of all memories that meet the condition, in the snapshot under way, in no order.

    One text of all numbers takes a fifth of the time that a row each takes: 6 ms for 100,000.
    """
    kept = _KEPT.setdefault(conn, _Kept())
    version = int(conn.pragma("data_version"))
    if kept.data_version != version:
        kept.by_condition.clear()
        kept.data_version = version
    found = kept.by_condition.get(condition)
    if found is None:
        sql = f"SELECT group_concat(n.rowid) FROM nodes n WHERE {condition.sql}"
        text = conn.execute(sql, condition.params).get
        found = np.fromstring(str(text), np.int64, sep=",") if text is not None else np.zeros(0, np.int64)
        kept.by_condition[condition] = found
        if len(kept.by_condition) > _MAX_KEPT:
            kept.by_condition.popitem(last=False)
    return found


def has_allowed_keys(conn: apsw.Connection, condition: Condition) -> bool:
    """Whether the answer is known already."""
    kept = _KEPT.get(conn)
    return (
        kept is not None
        and condition in kept.by_condition
        and kept.data_version == int(conn.pragma("data_version"))
    )


def is_among(keys: NDArray[np.int64], allowed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each key whether it is allowed."""
    if not len(allowed):
        return np.zeros(len(keys), np.bool_)
    largest = int(allowed.max())
    if int(allowed.min()) < 0 or largest > 16 * len(allowed) + 64 * len(keys):
        return np.isin(keys, allowed)
    table = np.zeros(largest + 2, np.bool_)  # the last stands for every larger key
    table[allowed] = True
    found: NDArray[np.bool_] = table[np.minimum(keys, largest + 1)]
    return found
