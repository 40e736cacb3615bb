"""A row of the promotion log: its canonical text, its digest, and the way to a value and back. Pure.

The canonical text of a row is one JSON object with every column of `td_promotion_log` but `digest`: keys in
alphabetical order, ASCII only, no space between its parts, NULL as null. `criteria` is in it as the text that is
stored. `digest` is the BLAKE2b of that text with 32 bytes, in hex. Since `prev_digest` is one of the columns and
holds the digest of the row before ('' in the first), each digest covers every row up to its own.

What another program may have put there in place of a text or a number is an object with one key, so that it never
looks like the value it stands for: {"blob": hex}, {"text": hex} (no UTF-8).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, cast

from tierdeck.promote.records import LogDraft, LogEntry, LogKind
from tierdeck.promote.rules import Criterion
from tierdeck.store.rows import SQLValue, as_bytes, text_of

LOG_COLUMNS = (
    "id", "at", "node_id", "from_tier", "to_tier", "kind", "rule", "rule_version", "criteria", "actor", "reason",
    "run_id", "content_digest", "undoes", "evolution_id", "access_id", "counted_after", "prev_digest", "digest",
)  # fmt: skip
# The first fifteen are what `entry_of` takes.
ENTRY_COLUMNS = ", ".join(as_bytes(f"l.{column}") for column in LOG_COLUMNS[:15])
# With the type of each, since bytes may stand where a text should.
CHECKED_COLUMNS = ", ".join(f"typeof(l.{column}), {as_bytes(f'l.{column}')}" for column in LOG_COLUMNS)
_COVERED = LOG_COLUMNS[:-1]
_ENCODE = json.JSONEncoder(
    ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=lambda data: {"blob": data.hex()}
).encode


def row_digest(row: Mapping[str, object]) -> str:
    """The digest of a row, given every column but `digest` as its canonical text has it."""
    text = _ENCODE({column: row[column] for column in _COVERED})
    return blake2b(text.encode(), digest_size=32).hexdigest()


def checked_row(values: Sequence[SQLValue]) -> dict[str, object]:
    """A row selected as `CHECKED_COLUMNS`, each column as the canonical text has it."""
    return {column: _canonical(values[2 * i], values[2 * i + 1]) for i, column in enumerate(LOG_COLUMNS)}


def values_of(draft: LogDraft) -> dict[str, SQLValue]:
    """The columns that a draft gives; the log adds its own."""
    return {
        "at": draft.at_ms,
        "node_id": draft.node_id,
        "from_tier": draft.from_tier,
        "to_tier": draft.to_tier,
        "kind": draft.kind,
        "rule": draft.rule,
        "rule_version": draft.rule_version,
        "criteria": criteria_json(draft.criteria),
        "actor": draft.actor,
        "reason": draft.reason,
        "run_id": draft.run_id,
        "content_digest": draft.content_digest,
        "undoes": draft.undoes,
        "evolution_id": draft.evolution_id,
    }


def entry_of(values: Sequence[Any]) -> LogEntry:
    """The value of a row selected as `ENTRY_COLUMNS`; one that was tampered with is shown as far as it can be."""
    return LogEntry(
        id=values[0],
        at_ms=values[1] if isinstance(values[1], int) else 0,
        node_id=text_of(values[2]),
        from_tier=_text(values[3]),
        to_tier=_text(values[4]),
        kind=cast(LogKind, text_of(values[5])),
        rule=_text(values[6]),
        rule_version=_text(values[7]),
        criteria=_criteria(_text(values[8])),
        actor=text_of(values[9]),
        reason=_text(values[10]),
        run_id=_number(values[11]),
        content_digest=_text(values[12]),
        undoes=_number(values[13]),
        evolution_id=_number(values[14]),
    )


def criteria_json(criteria: Sequence[Criterion]) -> str | None:
    """The criteria of a decision as the log keeps them; NULL for none."""
    if not criteria:
        return None
    return _ENCODE(
        [
            {
                "name": criterion.name,
                "found": criterion.found,
                "comparison": criterion.comparison,
                "needed": criterion.needed,
                "passed": criterion.passed,
                "note": criterion.note,
            }
            for criterion in criteria
        ]
    )


def _criteria(text: str | None) -> tuple[Criterion, ...]:
    """What cannot be read as criteria was not written here: `verify_log` names the row."""
    try:
        return tuple(Criterion(**values) for values in json.loads(text or "[]"))
    except (ValueError, TypeError, RecursionError):
        return ()


def _canonical(kind: SQLValue, value: SQLValue) -> object:
    if not isinstance(value, bytes):
        return value
    if kind == "text":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"text": value.hex()}
    return {"blob": value.hex()}


def _text(value: SQLValue) -> str | None:
    return None if value is None else text_of(value)


def _number(value: SQLValue) -> int | None:
    return value if isinstance(value, int) else None
