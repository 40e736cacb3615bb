"""Which memories a search may show at all: its filter and its exclusions, as one SQL condition on `nodes n`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from tierdeck.model import NodeFilter
from tierdeck.search.query.fts import quoted
from tierdeck.store import Store
from tierdeck.store.filters import filter_sql
from tierdeck.store.rows import SQLValue, as_bytes, text_of
from tierdeck.terms.normal_form import normal_form

# Without the second condition one full-text row without an id would make NOT IN unknown, and hide everything.
NOT_MATCHING = "n.id NOT IN (SELECT node_id FROM content_fts WHERE content_fts MATCH ? AND node_id IS NOT NULL)"


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL on `nodes n` with its parameters; what was typed is a parameter, never a part of it."""

    sql: str
    params: tuple[SQLValue, ...]

    @property
    def keeps_most(self) -> bool:
        """Whether it lets through what a search without any filter does, nine memories of ten or all."""
        return self.sql in _KEEPING_MOST


# Of a filter that says nothing, without the archive and with it.
_KEEPING_MOST = frozenset(
    filter_sql(NodeFilter(include_archived=archived), has_sessions=False)[0] for archived in (False, True)
)


def meeting(conn: apsw.Connection, condition: Condition, ids: Sequence[str]) -> set[str]:
    """Those of the memories that meet the condition in the connection's snapshot."""
    rows = conn.execute(
        # CROSS: else SQLite may begin with an index of the condition, which lists a tenth of the store.
        f"SELECT {as_bytes('n.id')} FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value WHERE {condition.sql}",
        (json.dumps(ids), *condition.params),
    )
    return {text_of(row[0]) for row in rows}


def condition_of(store: Store, node_filter: NodeFilter, excluded: Sequence[str] = ()) -> Condition:
    """The condition of a filter, and that none of the excluded words or phrases stands in the memory."""
    sql, params = filter_sql(node_filter, has_sessions=store.has_table("td_session"))
    if not excluded:
        return Condition(sql, tuple(params))
    return Condition(f"{sql} AND {NOT_MATCHING}", (*params, any_of(excluded)))


def any_of(excluded: Sequence[str]) -> str:
    """The full-text expression that finds every memory which one of the words or phrases keeps out."""
    return " OR ".join(quoted(text) for text in in_both_forms(excluded))


def in_both_forms(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts as they were typed and in normal form, each once."""
    return tuple(dict.fromkeys(form for text in texts for form in (text, normal_form(text))))
