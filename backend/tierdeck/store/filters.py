"""A filter as SQL. Every value, and every metadata key, is a parameter: text from outside is never part of the SQL.

A metadata key as a JSON path would be code of its own (`$.a.b`, `$."x"`), so keys are compared with those that
`json_each` lists.
"""

from __future__ import annotations

from collections.abc import Iterator

from tierdeck.model import NodeFilter, NodeType, Tier
from tierdeck.store.rows import SQLValue

# The bounds of `times.parse_time_ms`, which this must agree with.
_TIME_MS = """CASE
    WHEN typeof({0}) IN ('integer', 'real') THEN CAST(CASE
        WHEN {0} > -253402300800 AND {0} < 253402300800 THEN round({0} * 1000)
        WHEN {0} > -253402300800000 AND {0} < 253402300800000 THEN {0}
        WHEN {0} > -253402300800000000 AND {0} < 253402300800000000 THEN {0} / 1000
        ELSE 0 END AS INTEGER)
    WHEN {0} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
        THEN coalesce(CAST(round((julianday({0}) - 2440587.5) * 86400000) AS INTEGER), 0)
    ELSE 0 END"""
_METADATA = "CASE WHEN json_valid({0}.metadata) THEN {0}.metadata ELSE '{{}}' END"
_METADATA_TEXT = (
    "CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null' "
    "ELSE CAST(j.value AS TEXT) END"
)


def time_ms_sql(column: str) -> str:
    """SQL for a time column in milliseconds; 0 where it can't be read, so that text never sorts above all numbers.

    The family's columns are numbers; `julianday` is reached only by text that begins as a date, since it refuses
    to be part of an index when it meets 'now'.
    """
    return _TIME_MS.format(column)


def filter_sql(
    node_filter: NodeFilter,
    *,
    has_sessions: bool,
    alias: str = "n",
) -> tuple[str, list[SQLValue]]:
    """The condition that a row of `nodes` (under `alias`) meets the filter, and its parameters in order.

    Args:
        has_sessions: whether the store has `td_session` and `td_access`; without them sessions and projects are
            looked for in the metadata alone, where the family writes them.

    Returns:
        The SQL, "1" for a filter that lets everything through.
    """
    parts: list[str] = []
    values: list[SQLValue] = []

    def add(sql: str, *params: SQLValue) -> None:
        parts.append(sql)
        values.extend(map(_storable, params))

    _add_tiers(node_filter, alias, parts)
    if node_filter.types:
        parts.append(_one_of(f"{alias}.type", node_filter.types, NodeType, shown_as=NodeType.FACT))
    for sql, bound in _bounds(node_filter, alias):
        add(sql, bound)
    if node_filter.session is not None:
        wanted = node_filter.session
        add(*_session_or_project(alias, "session_id", "s.external_id", wanted, has_sessions=has_sessions))
    if node_filter.project is not None:
        add(*_session_or_project(alias, "project", "s.project", node_filter.project, has_sessions=has_sessions))
    if node_filter.tag is not None:
        # `tags` may be a list, or one text; the keys of an object are no tags.
        add(
            f"EXISTS (SELECT 1 FROM json_each({_METADATA.format(alias)}, '$.tags') j "
            "WHERE typeof(j.key) <> 'text' AND j.type = 'text' AND j.value = ?)",
            node_filter.tag,
        )
    for key, value in node_filter.metadata:
        add(_metadata_pair(alias), key, value)
    return (" AND ".join(parts) or "1"), values


def _bounds(node_filter: NodeFilter, alias: str) -> Iterator[tuple[str, SQLValue]]:
    """The conditions on confidence and time; what is no number or can't be read lies within no bounds."""
    is_number = f"typeof({alias}.confidence) IN ('real', 'integer')"
    if node_filter.min_confidence is not None:
        yield f"({is_number} AND {alias}.confidence >= ?)", node_filter.min_confidence
    if node_filter.max_confidence is not None:
        yield f"({is_number} AND {alias}.confidence <= ?)", node_filter.max_confidence
    created = time_ms_sql(f"{alias}.created_at")
    if node_filter.since_ms is not None:
        yield f"({created} >= ? AND {created} <> 0)", node_filter.since_ms
    if node_filter.until_ms is not None:
        yield f"({created} < ? AND {created} <> 0)", node_filter.until_ms


def _storable(value: SQLValue) -> SQLValue:
    """A text that SQLite can't take (half a character) goes in as bytes, which equal no text."""
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def _add_tiers(node_filter: NodeFilter, alias: str, parts: list[str]) -> None:
    if node_filter.tiers:
        parts.append(_one_of(f"{alias}.tier", node_filter.tiers, Tier, shown_as=Tier.TASK))
    elif not node_filter.include_archived:
        parts.append(f"{alias}.tier IS NOT 'archive'")


def _one_of(
    column: str, wanted: frozenset[Tier] | frozenset[NodeType], kind: type[Tier] | type[NodeType], *, shown_as: str
) -> str:
    """The column is one of the wanted; an unreadable value counts as what it is shown as, so it never vanishes."""
    if shown_as not in wanted:
        return f"{column} IN ({_quoted(wanted)})"
    unwanted = [member for member in kind if member not in wanted]
    return f"({column} IS NULL OR {column} NOT IN ({_quoted(unwanted)}))" if unwanted else "1"


def _quoted(members: frozenset[Tier] | frozenset[NodeType] | list[Tier | NodeType]) -> str:
    return ", ".join(f"'{member.value}'" for member in sorted(members))


def _metadata_pair(alias: str) -> str:
    return f"EXISTS (SELECT 1 FROM json_each({_METADATA.format(alias)}) j WHERE j.key = ? AND {_METADATA_TEXT} = ?)"


def _session_or_project(
    alias: str, key: str, column: str, wanted: str, *, has_sessions: bool
) -> tuple[str, *tuple[SQLValue, ...]]:
    if not has_sessions:
        return _metadata_pair(alias), key, wanted
    used = (
        f"{alias}.id IN (SELECT a.node_id FROM td_session s JOIN td_access a ON a.session_id = s.id "
        f"WHERE {column} = ? AND a.kind <> 'maintenance')"
    )
    return f"({used} OR {_metadata_pair(alias)})", wanted, key, wanted
