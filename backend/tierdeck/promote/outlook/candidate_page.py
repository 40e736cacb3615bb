"""A page of memories with what the rules say of each, and the place where the next one begins.

SQL only picks the ids: facts and decision of each row are read as for a single memory, so that a list can't say
anything else than `why`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.errors import InvalidValueError
from tierdeck.model import NodeRow
from tierdeck.promote.evidence.facts import check_tracked, facts_in
from tierdeck.promote.evidence.facts_sql import DISMISSED, HELD, FactsSQL, facts_sql
from tierdeck.promote.outlook.due_sql import Source, parameters
from tierdeck.promote.rules import Decision, Facts, RuleName, Rules, decide
from tierdeck.store import Store, read_rows

NOT_BLOCKED = f"NOT {HELD} AND NOT {DISMISSED}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended; only to be handed back to the same list."""

    source: int
    key: tuple[int | float, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory in a list: what the rules say of it, why, and its head."""

    decision: Decision
    facts: Facts
    row: NodeRow


@dataclass(frozen=True, slots=True)
class CandidatePage:
    """Some rows of a list. `next` None: the list ends here."""

    rows: tuple[Candidate, ...]
    next: Place | None


def page_of(
    store: Store,
    sources_of: Callable[[FactsSQL], Sequence[Source]],
    rules: Rules,
    now_ms: int | None,
    *,
    rule: RuleName | None,
    after: Place | None,
    limit_rows: int,
) -> CandidatePage:
    """`read_page` of a store, in one snapshot of it; without a time as of its own clock.

    Raises:
        ReadOnlyStoreError: the store has no access records.
        InvalidValueError: the limit is none.
    """
    check_tracked(store)
    form = facts_sql(store)
    sources, now = sources_of(form), store.now_ms() if now_ms is None else now_ms
    return store.read(
        lambda conn: read_page(conn, form, sources, rules, now, rule=rule, after=after, limit_rows=limit_rows)
    )


def read_page(
    conn: apsw.Connection,
    form: FactsSQL,
    sources: Sequence[Source],
    rules: Rules,
    now_ms: int,
    *,
    rule: RuleName | None,
    after: Place | None,
    limit_rows: int,
) -> CandidatePage:
    """The rows after a place that nothing blocks; of one rule, or of all.

    Raises:
        InvalidValueError: the limit is none.
    """
    if limit_rows < 1:
        raise InvalidValueError(f"list memories: {limit_rows} rows is no limit", hint="1 or more")
    values = parameters(rules, now_ms)
    places: list[Place] = []
    ids: list[str] = []
    for number, source in enumerate(sources):
        is_wanted = rule in (None, source.rule) and (after is None or number >= after.source)
        if is_wanted and len(ids) <= limit_rows:
            key = after.key if after is not None and number == after.source else None
            for node_id, place in pick(conn, source, values, key, limit_rows + 1 - len(ids), NOT_BLOCKED):
                ids.append(node_id)
                places.append(Place(number, place))
    shown = ids[:limit_rows]
    following = places[limit_rows - 1] if len(ids) > limit_rows else None
    return CandidatePage(candidates_of(conn, form, shown, rules, now_ms), following)


def pick(
    conn: apsw.Connection,
    source: Source,
    values: dict[str, int | float],
    after: tuple[int | float, ...] | None,
    limit_rows: int,
    also: str = "1",
) -> list[tuple[str, tuple[int | float, ...]]]:
    """The ids of a source after a key, with their keys, at most `limit_rows`; `also` is one more condition."""
    direction, side = ("DESC", "<") if source.is_falling else ("ASC", ">")
    keys = ", ".join(source.keys)
    beyond = "1" if after is None else f"({keys}) {side} ({', '.join(f':key{i}' for i in range(len(after)))})"
    found: Iterable[Any] = conn.execute(
        f"SELECT n.id, {keys} FROM {source.tables} "
        f"WHERE {source.of_tier} AND {source.where} AND {beyond} AND {also} "
        f"ORDER BY {', '.join(f'{key} {direction}' for key in source.keys)} LIMIT :limit_rows",
        {**values, **{f"key{i}": part for i, part in enumerate(after or ())}, "limit_rows": limit_rows},
    )
    return [(row[0], tuple(row[1:])) for row in found]


def candidates_of(
    conn: apsw.Connection, form: FactsSQL, ids: Sequence[str], rules: Rules, now_ms: int
) -> tuple[Candidate, ...]:
    """The rows of these memories, in their order."""
    facts, rows = facts_in(conn, form, ids, now_ms), read_rows(conn, ids)
    return tuple(Candidate(decide(facts[node_id], rules, now_ms), facts[node_id], rows[node_id]) for node_id in ids)
