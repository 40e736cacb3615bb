"""Which memories a search may show at all: its filter and its exclusions, as one SQL condition on `nodes n`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tierdeck.model import NodeFilter
from tierdeck.search.fts import quoted
from tierdeck.store import Store
from tierdeck.store.filters import filter_sql
from tierdeck.store.rows import SQLValue

# Without the second condition one full-text row without an id would make NOT IN unknown, and hide everything.
NOT_MATCHING = "n.id NOT IN (SELECT node_id FROM content_fts WHERE content_fts MATCH ? AND node_id IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL on `nodes n` with its parameters; what was typed is a parameter, never a part of it."""

    sql: str
    params: tuple[SQLValue, ...]


def condition_of(store: Store, node_filter: NodeFilter, excluded: Sequence[str] = ()) -> Condition:
    """The condition of a filter, and that none of the excluded words or phrases stands in the memory."""
    sql, params = filter_sql(node_filter, has_sessions=store.has_table("td_session"))
    if not excluded:
        return Condition(sql, tuple(params))
    return Condition(f"{sql} AND {NOT_MATCHING}", (*params, " OR ".join(quoted(text) for text in excluded)))
