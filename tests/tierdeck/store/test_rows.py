"""Rows of other programs, shown with their problems and never hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck.model import EXCERPT_CHARS, Node, NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.store import Store, add_node, count_nodes, get_node, open_store, page_around, read_nodes, read_rows
from tierdeck.store.rows import node_of, node_row_of

GOOD: dict[str, object] = {"id": "a", "type": "fact", "content": "a text", "created_at": 1_796_040_000_000}


def shown(tmp_path: Path, **columns: object) -> Node:
    """The memory of a row in another program's store; the list has to show it too."""
    path = tmp_path / "theirs.db"
    row = {name: value for name, value in GOOD.items() if f"text:{name}" not in columns} | columns
    make_foreign_store(path, [row])
    with open_store(path) as store:
        page = page_around(store, NodeFilter(include_archived=True), None, before_rows=0, after_rows=9)
        assert (page.total_rows, len(page.rows)) == (1, 1)
        node = get_node(store, "a")
        assert page.rows[0].id == node.id
        return node


@pytest.mark.parametrize(
    ("columns", "field", "value", "problem"),
    [
        ({"tier": None}, "tier", Tier.TASK, "tier: NULL is not a tier; shown as task"),
        ({"tier": "attic"}, "tier", Tier.TASK, "tier: 'attic' is not a tier; shown as task"),
        ({"type": None}, "type", NodeType.FACT, "type: NULL is not a type; shown as fact"),
        ({"type": "rumour"}, "type", NodeType.FACT, "type: 'rumour' is not a type; shown as fact"),
        ({"confidence": None}, "confidence", 0.5, "confidence: NULL is not a number from 0 to 1; shown as 0.5"),
        ({"confidence": 7}, "confidence", 0.5, "confidence: '7.0' is not a number from 0 to 1; shown as 0.5"),
        ({"confidence": "high"}, "confidence", 0.5, "confidence: 'high' is not a number"),
        ({"confidence": float("inf")}, "confidence", 0.5, "confidence: 'inf' is not a number"),
        ({"created_at": "soon"}, "created_at_ms", None, "created_at: 'soon' is not a time"),
        ({"created_at": b"\xff"}, "created_at_ms", None, "is not a time"),
        ({"updated_at": "later"}, "updated_at_ms", None, "updated_at: 'later' is not a time"),
        ({"last_accessed": 10**18}, "last_accessed_ms", None, "last_accessed: '1000000000000000000' is not a time"),
        ({"access_count": "many"}, "access_count", 0, "access_count: 'many' is not a count; shown as 0"),
        ({"access_count": -1}, "access_count", 0, "access_count: '-1' is not a count; shown as 0"),
        ({"content": None}, "content", "", "content: it is NULL"),
        ({"text:content": b"caf\xe9"}, "content", "caf\ufffd", "content: it holds bytes that are not UTF-8"),
        ({"text:subtype": b"\xff"}, "subtype", "\ufffd", "subtype: it holds bytes that are not UTF-8"),
        ({"text:tier": b"\xff"}, "tier", Tier.TASK, "is not a tier; shown as task"),
        ({"metadata": "{half"}, "metadata", {}, "metadata: it is not JSON"),
        ({"metadata": "[1]"}, "metadata", {}, "metadata: it is a JSON list, not an object"),
        ({"metadata": '{"a": NaN}'}, "metadata", {}, "metadata: it is not JSON (NaN is not a finite number)"),
        ({"metadata": '{"a": 1e999}'}, "metadata", {}, "metadata: it is not JSON (1e999 is not a finite number)"),
        ({"metadata": "[" * 100_000}, "metadata", {}, "metadata: it is not JSON"),
        ({"metadata": '{"a": ' + "9" * 5_000 + "}"}, "metadata", {}, "metadata: it is not JSON"),
        ({"text:metadata": b'{"a": "\xff"}'}, "metadata", {"a": "\ufffd"}, "metadata: it holds bytes"),
    ],
)  # fmt: skip
def test_what_the_schema_forbids_is_shown_and_named(
    tmp_path: Path, columns: dict[str, object], field: str, value: object, problem: str
) -> None:
    node = shown(tmp_path, **columns)
    assert getattr(node, field) == value
    assert len(node.problems) == 1
    assert problem in node.problems[0]


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("created_at", 1_796_040_000),
        ("created_at", 1_796_040_000.0),
        ("created_at", 1_796_040_000_000_000),
        ("created_at", "2026-11-30T12:00:00"),
        ("created_at", "2026-11-30 13:00:00+01:00"),
    ],
)
def test_times_in_other_units_and_forms_are_read_without_a_problem(
    tmp_path: Path, column: str, written: object
) -> None:
    node = shown(tmp_path, **{column: written})
    assert (node.created_at_ms, node.problems) == (1_796_040_000_000, ())


def test_a_null_is_no_problem_where_the_schema_allows_it(tmp_path: Path) -> None:
    node = shown(tmp_path, created_at=None, metadata=None, provenance=None, subtype=None)
    assert (node.created_at_ms, node.metadata, node.problems) == (None, {}, ())


def test_a_text_with_a_nul_from_another_program_is_shown_whole(tmp_path: Path) -> None:
    assert shown(tmp_path, content="before\0after").content == "before\0after"


def test_a_memory_without_an_id_is_left_out_of_lists_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [GOOD, GOOD | {"id": None}, GOOD | {"id": b"blob"}])
    with open_store(path) as store:
        assert count_nodes(store, NodeFilter()) == 1
        page = page_around(store, NodeFilter(), None, before_rows=0, after_rows=9)
        assert [row.id for row in page.rows] == ["a"]


def test_a_list_row_holds_the_head_of_a_long_text(store: Store) -> None:
    text = "é" * 50_000
    node = add_node(store, NodeDraft(text))
    row = store.read(lambda conn: read_rows(conn, [node.id]))[node.id]
    assert (row.excerpt, row.content_chars) == ("é" * EXCERPT_CHARS, 50_000)


def test_rows_are_read_in_the_order_asked_and_unknown_ids_left_out(store: Store) -> None:
    ids = [add_node(store, NodeDraft(f"memory {n}")).id for n in range(5)]
    asked = [ids[3], "unknown", ids[0], ids[4]]
    assert list(store.read(lambda conn: read_nodes(conn, asked))) == [ids[3], ids[0], ids[4]]
    assert list(store.read(lambda conn: read_rows(conn, asked))) == [ids[3], ids[0], ids[4]]


ANY_VALUE = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.binary(max_size=20), st.text(max_size=20)
)


@given(st.lists(ANY_VALUE, min_size=12, max_size=12))
def test_no_row_at_all_can_not_be_shown(values: list[int | float | bytes | str | None]) -> None:
    node = node_of(values)
    assert 0 <= node.confidence <= 1
    assert node.access_count >= 0
    row = node_row_of(values)
    assert row.content_chars >= 0 or isinstance(values[5], int)
