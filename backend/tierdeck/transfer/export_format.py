"""The lossless export: what its lines say. Pure.

A file is UTF-8 text of ASCII characters alone (nothing in a memory can drive a terminal or break on its way),
one JSON object a line, each with a `kind`. The first line is the header:

    {"kind": "header", "format": "tierdeck-export", "version": 1, "counts": {"node": 400, ...},
     "promotion_log": "12:5f0c..."}

`counts` says how many lines of each kind follow, `promotion_log` how many rows the promotion log has and the
digest of the last; a file made from a damaged store has `"salvaged": true` and neither. Then come the rows, kind by
kind in the order of `TABLES`, and within a kind in the order of the store. A row's fields are the columns of its
table under their own names, but: a relation's type is `type` also where the store says `edge_type`; columns named
`kind` are `access_kind`, `revision_kind`, `log_kind` and `run_kind`; the memories' `pk` is left out.

Whole numbers are written without and reals with a point or an exponent. What JSON can't hold is an object of one
key: {"blob": base64}, {"text": base64} for text that is no UTF-8, {"real": "inf"} or "-inf".

Left out: what can be made again (full-text index, sequence of changes, vectors, what promotion counts) and what a
store says of itself (schema version, the day its tracking began).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tierdeck.promote.log.row import LOG_COLUMNS
from tierdeck.store.raw_row import RawValue, UndecodedText, text_of_bytes

FORMAT_NAME = "tierdeck-export"
FORMAT_VERSION = 1
_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class TableForm:
    """How one table stands in an export: the lines' kind, the key that orders them, columns under other names."""

    kind: str
    table: str
    columns: tuple[str, ...]
    key: str = "rowid"
    field_names: Mapping[str, str] = field(default_factory=dict)

    def field_of(self, column: str) -> str:
        """The name that a column of the store has in a line."""
        return self.field_names.get(column, column)


TABLES = (
    TableForm("setting", "td_setting", ("key", "value"), "key"),
    TableForm(
        "session",
        "td_session",
        (
            "id", "external_id", "run", "root_id", "parent_id", "project", "agent", "started_at", "ended_at",
            "outcome", "seen_at",
        ),
    ),
    TableForm(
        "node",
        "nodes",
        (
            "id", "type", "subtype", "content", "embedding", "tier", "confidence", "provenance",
            "created_at", "updated_at", "last_accessed", "access_count", "metadata",
        ),
    ),
    TableForm("edge", "hyperedges", ("id", "type", "label", "weight"), field_names={"edge_type": "type"}),
    TableForm("member", "membership", ("hyperedge_id", "node_id", "role", "position")),
    TableForm(
        "move",
        "evolution_log",
        ("id", "timestamp", "operation", "node_ids", "from_tier", "to_tier", "reasoning"),
    ),
    TableForm(
        "confidence",
        "confidence_updates",
        ("id", "node_id", "old_confidence", "new_confidence", "trigger_type", "trigger_id", "timestamp"),
    ),
    TableForm(
        "access",
        "td_access",
        ("id", "node_id", "session_id", "kind", "outcome", "at"),
        field_names={"kind": "access_kind"},
    ),
    TableForm(
        "revision",
        "td_revision",
        ("id", "node_id", "at", "kind", "actor", "reason", "before", "after_digest", "undoes"),
        field_names={"kind": "revision_kind"},
    ),
    TableForm("no_embedding", "td_no_embedding", ("node_id",), "node_id"),
    TableForm(
        "confidence_change", "td_confidence", ("id", "node_id", "at", "old_confidence", "new_confidence")
    ),
    # After the accesses and the moves, whose numbers its rows name; before what refers to its rows.
    TableForm("log", "td_promotion_log", LOG_COLUMNS, field_names={"kind": "log_kind"}),
    TableForm(
        "run",
        "td_promotion_run",
        (
            "id", "kind", "at", "ended_at", "actor", "reason", "rule_version", "planned", "moved", "refused",
            "rejections",
        ),
        field_names={"kind": "run_kind"},
    ),
    TableForm(
        "hold",
        "td_hold",
        ("id", "node_id", "tier", "set_at", "until", "actor", "reason", "log_id", "released_at"),
    ),
    TableForm("dismissal", "td_dismissal", ("node_id", "tier", "at", "last_pull_id", "log_id"), "node_id"),
)  # fmt: skip
FORM_OF_KIND = {form.kind: form for form in TABLES}
# What a store says of itself, and what stands only in a backup: neither is a fact to carry over.
LEFT_OUT_SETTINGS = frozenset({"schema_version", "backup_manifest", "tracking_since", "promotion_log_head"})


def header_line(counts: Mapping[str, int], log_head: str) -> bytes:
    """The first line of a whole export; `log_head` is the promotion log's rows and last digest, "count:digest"."""
    return _header({"counts": dict(counts), "promotion_log": log_head})


def salvaged_header_line() -> bytes:
    """The first line of rows that were salvaged: nobody knows how many there were."""
    return _header({"salvaged": True})


def _header(more: Mapping[str, object]) -> bytes:
    head = {"kind": "header", "format": FORMAT_NAME, "version": FORMAT_VERSION, **more}
    return _encode(head).encode() + b"\n"


def row_line(kind: str, fields: Iterable[tuple[str, RawValue]], **more: bool) -> bytes:
    """One row as a line; `more` are marks beside its fields."""
    record: dict[str, object] = {"kind": kind}
    for name, value in fields:
        record[name] = _json_of(value)
    record.update(more)
    # DEL is ASCII, so the encoder lets it through; in JSON it can only stand inside a string.
    return _encode(record).replace("\x7f", "\\u007f").encode() + b"\n"


def raw_value(value: object) -> RawValue:
    """A value of a line as the store holds it.

    Raises:
        ValueError: it is none that `row_line` writes.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and not value.isascii():
        _check_whole(value)
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        [(name, inner)] = value.items()
        if isinstance(inner, str):
            return _wrapped(name, inner)
    raise ValueError(f"{str(value)[:40]!r} is no value of a column")


def _check_whole(text: str) -> None:
    """Refuse a lone surrogate: JSON can spell one, and the driver would end the whole batch over it."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise ValueError(f"it holds half a character (a lone surrogate) at {e.start}") from e


def _json_of(value: RawValue) -> object:
    if isinstance(value, bytes):
        return {"blob": base64.b64encode(value).decode()}
    if isinstance(value, UndecodedText):
        return {"text": base64.b64encode(value.data).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"real": repr(value)}
    return value


def _wrapped(name: str, inner: str) -> RawValue:
    if name == "real" and inner in ("inf", "-inf"):
        return float(inner)
    if name in ("blob", "text"):
        try:
            data = base64.b64decode(inner, validate=True)
        except binascii.Error as e:
            raise ValueError(f"a {name} is not base64: {e}") from e
        return data if name == "blob" else text_of_bytes(data)
    raise ValueError(f"{name[:40]!r} is no kind of value")
