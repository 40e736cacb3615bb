"""A line whose values are of other types than its columns is the row that it becomes, each time it comes."""

from __future__ import annotations

import io
import json

import pytest

from tests.tierdeck.transfer.test_jsonl_import import Record, an_export, node
from tests.tierdeck.transfer.test_round_trip import exported
from tierdeck.model import NodeDraft
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import Store, add_node
from tierdeck.transfer.jsonl_import import import_jsonl, preview_import

BAD_TEXT = {"text": "gP8="}
ODD: list[object] = [
    5,
    1.5,
    -0.0,
    1e300,
    2**62,
    True,
    "5",
    " 5 ",
    "1e2",
    "0x1f",
    "inf",
    "soon",
    "",
    BAD_TEXT,
    {"text": "YQ=="},
]
LOGS: list[Record] = [
    {
        "kind": "move", "id": 1, "timestamp": 1, "operation": "archive", "node_ids": "[]", "from_tier": "task",
        "to_tier": "archive", "reasoning": None,
    },
    {
        "kind": "confidence", "id": 1, "node_id": "n", "old_confidence": 0.5, "new_confidence": 0.6,
        "trigger_type": "manual", "trigger_id": None, "timestamp": 1,
    },
    {
        "kind": "revision", "id": 1, "node_id": "n", "at": 1, "revision_kind": "edit", "actor": "mara",
        "reason": None, "before": "{}", "after_digest": None, "undoes": None,
    },
]  # fmt: skip
EDGE: Record = {"kind": "edge", "id": "e", "type": "relation", "label": "ties", "weight": 1.0}
MEMBER: Record = {"kind": "member", "hyperedge_id": "e", "node_id": "n", "role": "subject", "position": 0}
SESSION: Record = {
    "kind": "session", "id": 1, "external_id": "s", "run": 1, "root_id": 1, "parent_id": None, "project": None,
    "agent": None, "started_at": 1, "ended_at": None, "outcome": None,
}  # fmt: skip


def varied(record: Record) -> list[Record]:
    """The record with each odd value in each of its fields but the kind."""
    return [{**record, name: odd} for name in record if name != "kind" for odd in ODD]


@pytest.mark.parametrize(
    "row",
    [*LOGS, EDGE, MEMBER, SESSION, node("m")],
    ids=lambda row: str(row["kind"]) if isinstance(row, dict) else "",
)
def test_a_second_import_adds_nothing_whatever_types_the_values_have(store: Store, row: Record) -> None:
    for number, odd in enumerate(varied(row)):
        base = [SESSION] if row["kind"] != "session" else []
        base += [node("n"), EDGE] if row["kind"] != "edge" else [node("n")]
        preview = preview_import(store, an_export(*base, odd))
        first = import_jsonl(store, an_export(*base, odd))
        again = import_jsonl(store, an_export(*base, odd))
        assert (preview.added, preview.skipped_count) == (first.added, first.skipped_count), (number, odd)
        assert again.added == 0, (number, odd)


def test_a_log_that_brings_the_greatest_number_does_not_end_all_logs(store: Store) -> None:
    moves = [{**LOGS[0], "id": number, "timestamp": number} for number in (2**63 - 1, 2**63 - 1, 7)]
    sessions = [{**SESSION, "id": n, "root_id": n, "external_id": f"s{n}"} for n in (2**63 - 1, -(2**63), 3)]
    report = import_jsonl(store, an_export(*sessions, *moves))
    assert (report.added, report.skipped) == (6, ())
    node_id = add_node(store, NodeDraft("still to be archived")).id
    assert archive_nodes(store, [node_id], actor="mara") == [node_id]


def test_text_that_is_no_utf8_is_compared_and_not_decoded(store: Store) -> None:
    rows: list[Record] = [
        {**SESSION, "project": BAD_TEXT, "agent": BAD_TEXT},
        node("n", BAD_TEXT, subtype=BAD_TEXT),
        {**EDGE, "label": BAD_TEXT},
        MEMBER,
        {"kind": "setting", "key": "odd", "value": BAD_TEXT},
    ]
    assert import_jsonl(store, an_export(*rows)).added == 5
    before = exported(store)
    again = import_jsonl(store, io.BytesIO(before))
    assert (again.added, again.unchanged, again.skipped) == (0, 5, ())
    other = import_jsonl(store, an_export(node("n", BAD_TEXT), {**EDGE, "label": "ties"}))
    assert (other.unchanged, [skip.detail for skip in other.skipped]) == (1, ["e"])
    assert exported(store) == before
    assert json.loads(before.splitlines()[0])["counts"]["edge"] == 1
