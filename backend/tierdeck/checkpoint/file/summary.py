"""What a listing shows of a checkpoint: at most 4,048 bytes, checked by the digest in the header. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from itertools import product
from operator import itemgetter
from typing import Any

import msgpack

from tierdeck.checkpoint.checkpoint import OPERATION_STATES, REASONS, Origin, Reason
from tierdeck.checkpoint.limits import MAX_SUMMARY_BYTES
from tierdeck.errors import DamagedCheckpointError, InvalidValueError

MAX_SESSION_BYTES = 1_024
MAX_LABEL_CHARS = 200
_MAX_ITEMS = 32
_ID = re.compile(r"[0-9a-f]{16}")
_BRANCH = re.compile(r"[0-9a-f]{8}")
_DIGEST_BYTES = 16
_INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Summary:
    """One checkpoint in a list. `pending` counts operations by state; sizes are before compression.

    `table_raw_bytes` and `table_digest` say what the table behind it must be.
    """

    session_id: str
    checkpoint_id: str
    created_at_ns: int
    turn: int
    depth: int
    reason: Reason
    branch: str
    parent: str | None = None
    label: str | None = None
    cost_so_far: float | None = None
    tokens: int | None = None
    origin: Origin | None = None
    variables: int = 0
    lost: int = 0
    inert: int = 0
    messages: int = 0
    events: int = 0
    pending: Mapping[str, int] = field(default_factory=dict)
    writer: Mapping[str, str] = field(default_factory=dict)
    raw_bytes: int = 0
    table_raw_bytes: int = 0
    table_digest: bytes = b"\0" * _DIGEST_BYTES


# Name in the file, name here; in the order of `Summary`, which has three more among them.
_SCALARS = (
    ("session", "session_id"), ("checkpoint", "checkpoint_id"), ("created_ns", "created_at_ns"), ("turn", "turn"),
    ("depth", "depth"), ("reason", "reason"), ("branch", "branch"), ("parent", "parent"), ("label", "label"),
    ("cost_usd", "cost_so_far"), ("tokens", "tokens"), ("variables", "variables"), ("lost", "lost"),
    ("inert", "inert"), ("messages", "messages"), ("events", "events"), ("raw_bytes", "raw_bytes"),
    ("table_raw", "table_raw_bytes"), ("table_digest", "table_digest"),
)  # fmt: skip


def pack_summary(summary: Summary) -> bytes:
    """The summary's bytes.

    Raises:
        InvalidValueError: something in it is none that can be listed: names it, and the limit.
    """
    _check_given(summary)
    fields: dict[str, object] = {name: getattr(summary, ours) for name, ours in _SCALARS}
    fields["origin"] = None if summary.origin is None else [summary.origin.session_id, summary.origin.checkpoint_id]
    fields["pending"], fields["writer"] = dict(summary.pending), dict(summary.writer)
    data: bytes = msgpack.packb(fields, strict_types=True, unicode_errors="surrogatepass")
    if len(data) > MAX_SUMMARY_BYTES:
        raise InvalidValueError(
            f"write checkpoint: its summary takes {len(data):,} bytes, at most {MAX_SUMMARY_BYTES:,} fit",
            hint="shorten the session's id or the label",
        )
    return data


def parse_summary(data: bytes, name: str) -> Summary:
    """The summary from its bytes, every field checked; keys of a newer minor version are passed over.

    Raises:
        DamagedCheckpointError: it is none.
    """
    try:
        fields = msgpack.unpackb(
            data,
            max_map_len=_MAX_ITEMS * 2,
            max_array_len=_MAX_ITEMS,
            max_ext_len=0,
            unicode_errors="surrogatepass",
        )
        return _summary_of(fields)
    except (ValueError, TypeError, LookupError, OverflowError) as e:
        raise DamagedCheckpointError(f"read checkpoint {name}: its summary is damaged ({str(e)[:100]})") from e


def _summary_of(fields: object) -> Summary:
    if type(fields) is not dict:
        raise ValueError("it is no map")
    values = _values_of(fields)
    if not _is_sound(*values):
        odd = next((name for name, ours in _SCALARS if not _CHECKS[ours](fields[name])), "a field")
        raise ValueError(f"{odd} is {str(fields.get(odd))[:40]!r}")
    maps = _counts(fields["pending"]), _texts(fields["writer"])
    # By its slots: a frozen class's own way takes three times as long, and a listing makes ten thousand.
    summary = object.__new__(Summary)
    for put, value in zip(_PUT, (*values[:11], _origin(fields["origin"]), *values[11:16], *maps, *values[16:])):  # noqa: B905
        put(summary, value)
    return summary


def _check_given(summary: Summary) -> None:
    for _, ours in _SCALARS:
        value = getattr(summary, ours)
        if not _CHECKS[ours](value):
            raise InvalidValueError(
                f"write checkpoint: {ours} can't be {str(value)[:40]!r}",
                hint=f"a session's id has 1 to {MAX_SESSION_BYTES:,} bytes, a label {MAX_LABEL_CHARS} characters",
            )


def _origin(value: object) -> Origin | None:
    if value is None:
        return None
    if type(value) is list and len(value) == 2 and _is_session(value[0]) and _is_id(value[1]):
        return Origin(value[0], value[1])
    raise ValueError("its origin is none")


def _counts(value: object) -> dict[str, int]:
    if type(value) is not dict or not all(key in OPERATION_STATES and _is_count(n) for key, n in value.items()):
        raise ValueError("its operations are no counts")
    return value


def _texts(value: object) -> dict[str, str]:
    if type(value) is not dict or not all(type(key) is str and type(text) is str for key, text in value.items()):
        raise ValueError("its writer is no text")
    return value


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_session(value: object) -> bool:
    if type(value) is not str or not 0 < len(value) <= MAX_SESSION_BYTES:
        return False
    # No character takes more than four bytes.
    return len(value) <= MAX_SESSION_BYTES // 4 or len(value.encode("utf-8", "surrogatepass")) <= MAX_SESSION_BYTES


def _is_id(value: object) -> bool:
    return type(value) is str and _ID.fullmatch(value) is not None


def _is_cost(value: object) -> bool:
    return value is None or (type(value) is float and 0 <= value < float("inf"))


_CHECKS: dict[str, Callable[[object], bool]] = {
    "session_id": _is_session,
    "checkpoint_id": _is_id,
    "created_at_ns": lambda value: type(value) is int,
    "reason": lambda value: type(value) is str and value in REASONS,
    "branch": lambda value: type(value) is str and _BRANCH.fullmatch(value) is not None,
    "parent": lambda value: value is None or _is_id(value),
    "label": lambda value: value is None or (type(value) is str and len(value) <= MAX_LABEL_CHARS),
    "cost_so_far": _is_cost,
    "tokens": lambda value: value is None or _is_count(value),
    "table_digest": lambda value: type(value) is bytes and len(value) == _DIGEST_BYTES,
} | dict.fromkeys(
    ("turn", "depth", "variables", "lost", "inert", "messages", "events", "raw_bytes", "table_raw_bytes"), _is_count
)
_OR_NONE = {"parent": str, "label": str, "cost_so_far": float, "tokens": int}
_TYPES = {"session_id": str, "checkpoint_id": str, "reason": str, "branch": str, "table_digest": bytes}
_ROWS_OF_TYPES = frozenset(
    product(
        *([_OR_NONE[ours], type(None)] if ours in _OR_NONE else [_TYPES.get(ours, int)] for _, ours in _SCALARS)
    )
)
_values_of = itemgetter(*(name for name, _ in _SCALARS))
_PUT = tuple(vars(Summary)[each.name].__set__ for each in fields_of(Summary))


def _is_sound(*values: Any) -> bool:
    """All of `_CHECKS` at once, which takes a quarter of the time: a listing asks it of ten thousand."""
    (
        session, checkpoint, _, turn, depth, reason, branch, parent, label, cost, tokens, variables, lost, inert,
        messages, events, raw_bytes, table_raw_bytes, table_digest,
    ) = values  # fmt: skip
    return (
        tuple(map(type, values)) in _ROWS_OF_TYPES
        and min(turn, depth, variables, lost, inert, messages, events, raw_bytes, table_raw_bytes) >= 0
        and _is_session(session)
        and _ID.fullmatch(checkpoint) is not None
        and (parent is None or _ID.fullmatch(parent) is not None)
        and reason in REASONS
        and _BRANCH.fullmatch(branch) is not None
        and (label is None or len(label) <= MAX_LABEL_CHARS)
        and (cost is None or 0 <= cost < _INFINITE)
        and (tokens is None or tokens >= 0)
        and len(table_digest) == _DIGEST_BYTES
    )
