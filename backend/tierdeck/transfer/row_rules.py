"""What a line of an export must hold before it may enter a store. Pure.

The store's own constraints say the same once more; here it is known before anything is written, so that a
preview tells what an import will do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from tierdeck.model import AccessKind, EdgeType, NodeType, Outcome, RevisionKind, Tier, Trigger
from tierdeck.promote.records import LogKind, RunKind
from tierdeck.store.raw_row import RawValue
from tierdeck.transfer.export_format import FORM_OF_KIND, raw_value
from tierdeck.transfer.line_reader import Rejected

Row = dict[str, RawValue]
LOG_KINDS = ("move", "confidence", "access", "revision", "confidence_change")
PROMOTION_KINDS = ("log", "run", "hold", "dismissal")
_OUTCOMES = frozenset([*get_args(Outcome), None])
_CHOICES: dict[str, dict[str, frozenset[str | None]]] = {
    "session": {"outcome": _OUTCOMES},
    "node": {"type": frozenset(NodeType), "tier": frozenset([*Tier, None])},
    "edge": {"type": frozenset(EdgeType)},
    "confidence": {"trigger_type": frozenset(get_args(Trigger))},
    "access": {"kind": frozenset(AccessKind), "outcome": _OUTCOMES},
    "revision": {"kind": frozenset(get_args(RevisionKind))},
    "log": {"kind": frozenset(get_args(LogKind))},
    "run": {"kind": frozenset(get_args(RunKind))},
}
_NEEDED = {
    "setting": ("key", "value"),
    "session": ("id", "external_id", "run", "root_id", "started_at"),
    "node": ("id", "type", "content"),
    "edge": ("id", "type"),
    "member": ("hyperedge_id", "node_id", "role"),
    "move": ("operation", "node_ids"),
    "confidence": ("node_id", "old_confidence", "new_confidence", "trigger_type"),
    "access": ("node_id", "session_id", "kind", "at"),
    "revision": ("id", "node_id", "at", "kind", "actor"),
    "no_embedding": ("node_id",),
    "confidence_change": ("node_id", "at"),
    "log": (
        "id", "at", "node_id", "kind", "actor", "access_id", "counted_after", "prev_digest", "digest",
    ),
    "run": ("id", "kind", "at", "actor", "planned"),
    "hold": ("id", "node_id", "tier", "set_at", "actor", "log_id"),
    "dismissal": ("node_id", "tier", "at", "last_pull_id", "log_id"),
}  # fmt: skip
# What rows are found again by.
_KEYS = {
    "setting": ("key",),
    "session": ("external_id",),
    "node": ("id",),
    "edge": ("id",),
    "member": ("hyperedge_id", "node_id", "role"),
    "confidence": ("node_id",),
    "access": ("node_id",),
    "revision": ("node_id",),
    "no_embedding": ("node_id",),
    "confidence_change": ("node_id",),
    "log": ("node_id", "prev_digest", "digest"),
    "hold": ("node_id",),
    "dismissal": ("node_id",),
}
_WHOLE = {
    "session": ("id", "run", "root_id", "parent_id"),
    "access": ("session_id",),
    "revision": ("id", "undoes"),
    "log": ("id", "access_id", "counted_after"),
    "run": ("id",),
    "hold": ("id", "log_id"),
    "dismissal": ("last_pull_id", "log_id"),
}
_MARKS = frozenset({"kind", "from_index"})  # beside the fields of a row; the latter from `salvage`
_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1
# A log whose greatest number is the greatest there is takes no row any more, and the store could not be changed.
MAX_KEPT_NUMBER = 2**53


def row_of(record: Mapping[str, object]) -> tuple[str, Row, tuple[str, ...]] | Rejected:
    """A line's kind, its values by column, and its fields that no column is for; or why it is refused."""
    form = FORM_OF_KIND.get(str(record.get("kind")))
    if form is None:
        return Rejected("its kind is unknown", f"{str(record.get('kind'))[:40]!r}")
    column_of = {form.field_of(column): column for column in form.columns}
    row: Row = {}
    for name, value in record.items():
        if name in column_of:
            try:
                row[column_of[name]] = raw_value(value)
            except ValueError as e:
                return Rejected("a field holds what no column can", f"{name}: {e}")
    # A log has no key but its content: a field left out would take today's time, and no second import match it.
    is_whole = form.kind in (*LOG_KINDS, *PROMOTION_KINDS)
    missing = [c for c in form.columns if c not in row] if is_whole else []
    missing += [c for c in _NEEDED[form.kind] if row.get(c) is None]
    if missing:
        return Rejected(f"it has no {form.field_of(missing[0])}")
    refused = _refused(form.kind, row)
    if refused is not None:
        return refused
    unknown = tuple(name for name in record if name not in column_of and name not in _MARKS)
    return form.kind, row, unknown


def _refused(kind: str, row: Row) -> Rejected | None:
    no_text = next((c for c in _KEYS.get(kind, ()) if not isinstance(row[c], str)), None)
    if no_text is None and row.get("id") == "":
        no_text = "id"
    if no_text is not None:
        return Rejected(f"its {no_text} is not a text", f"{str(row[no_text])[:40]!r}")
    for column, choices in _CHOICES.get(kind, {}).items():
        if column in row and row[column] not in choices:
            return Rejected(f"its {column} is none of those allowed", f"{str(row[column])[:40]!r}")
    for column, value in row.items():
        if isinstance(value, int) and not _INT_MIN <= value <= _INT_MAX:
            return Rejected("a number is beyond 64 bits", column)
    not_whole = next((c for c in _WHOLE.get(kind, ()) if not isinstance(row.get(c, 0), int | None)), None)
    if not_whole is not None:
        return Rejected("a number of it is not whole", not_whole)
    if kind in ("run", "hold") and not 0 < _number(row["id"]) <= MAX_KEPT_NUMBER:
        return Rejected("its number is none that it can keep", str(row["id"]))
    if kind == "session" and row["run"] in (0, None):
        return Rejected("its run is below 1")
    if kind == "node" and not _is_between(row.get("confidence", 0.5), 0, 1):
        return Rejected("its confidence is no number from 0 to 1", f"{str(row['confidence'])[:40]!r}")
    if kind == "edge" and not _is_between(row.get("weight", 1.0), 0, math.inf):
        return Rejected("its weight is no number of 0 or more", f"{str(row['weight'])[:40]!r}")
    return None


def _is_between(value: RawValue, low: float, high: float) -> bool:
    return value is None or (isinstance(value, int | float) and low <= value <= high)


def _number(value: RawValue) -> int:
    return value if isinstance(value, int) else 0
