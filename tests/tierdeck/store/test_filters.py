"""Filters: what they let through, and that a text from outside is never part of the SQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck.model import AccessKind, NodeChanges, NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.promote import record_accesses
from tierdeck.promote.moves.override import archive_nodes, restore_nodes
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    add_session,
    count_nodes,
    edit_node,
    filter_sql,
    open_store,
    page_around,
    time_ms_sql,
)
from tierdeck.times import parse_time_ms

NOON = 1_796_040_000_000


def found(store: Store, filter: NodeFilter) -> set[str]:
    """The texts that the filter lets through, by list and by count."""
    page = page_around(store, filter, None, before_rows=0, after_rows=999)
    assert count_nodes(store, filter) == page.total_rows == len(page.rows)
    return {row.excerpt for row in page.rows}


@pytest.fixture
def mixed(store: Store) -> Store:
    """One memory of each type, of rising confidence and time, over the tiers."""
    add_nodes(
        store,
        [
            NodeDraft(kind.value, type=kind, tier=tier, confidence=n / 4, created_at_ms=NOON + n * 1000)
            for n, (kind, tier) in enumerate(zip(NodeType, [*Tier, Tier.TASK], strict=True))
        ],
    )
    return store


@pytest.mark.spec("SPEC-02.24")
@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (NodeFilter(), {"entity", "fact", "experience", "snippet"}),
        (NodeFilter(include_archived=True), {"entity", "fact", "experience", "decision", "snippet"}),
        (NodeFilter(tiers=frozenset({Tier.TASK})), {"entity", "snippet"}),
        (NodeFilter(tiers=frozenset({Tier.ARCHIVE})), {"decision"}),
        (NodeFilter(tiers=frozenset({Tier.SESSION, Tier.ARCHIVE})), {"fact", "decision"}),
        (NodeFilter(tiers=frozenset(Tier)), {"entity", "fact", "experience", "decision", "snippet"}),
        (NodeFilter(types=frozenset({NodeType.FACT, NodeType.DECISION})), {"fact"}),
        (NodeFilter(min_confidence=0.25), {"fact", "experience", "snippet"}),
        (NodeFilter(max_confidence=0.25), {"entity", "fact"}),
        (NodeFilter(min_confidence=0.2, max_confidence=0.6), {"fact", "experience"}),
        (NodeFilter(since_ms=NOON + 1000), {"fact", "experience", "snippet"}),
        (NodeFilter(until_ms=NOON + 1000), {"entity"}),
        (NodeFilter(since_ms=NOON, until_ms=NOON + 2000), {"entity", "fact"}),
    ],
)
def test_a_filter_lets_through_what_it_says(mixed: Store, filter: NodeFilter, expected: set[str]) -> None:
    assert found(mixed, filter) == expected


@pytest.mark.spec("SPEC-03.19", "SPEC-03.20")
def test_an_archived_memory_shows_on_request_alone(mixed: Store) -> None:
    assert "decision" not in found(mixed, NodeFilter(types=frozenset({NodeType.DECISION})))
    assert found(mixed, NodeFilter(types=frozenset({NodeType.DECISION}), include_archived=True)) == {"decision"}


HOSTILE_KEYS = [
    "x') OR 1=1 --",
    "a.b",
    '"',
    "'",
    "$",
    "$.a",
    "a[0]",
    "\\",
    "",
    "k" * 10_000,
    "\u202e",
    "日本",
    "%",
    "?",
]


@pytest.mark.case("D11")
@pytest.mark.parametrize("key", HOSTILE_KEYS)
def test_a_metadata_key_is_data_whatever_it_looks_like(store: Store, key: str) -> None:
    add_nodes(
        store,
        [
            NodeDraft("has it", metadata={key: "wanted"}),
            NodeDraft("has another", metadata={"other": "wanted", "a": {"b": "wanted"}}),
            NodeDraft("has none"),
        ],
    )
    assert found(store, NodeFilter(metadata=((key, "wanted"),))) == {"has it"}
    assert found(store, NodeFilter(metadata=((key, "x' OR '1'='1"),))) == set()
    assert found(store, NodeFilter(metadata=((key, "wanted"), ("other", "wanted")))) == set()


@pytest.mark.case("D11")
@pytest.mark.parametrize("text", HOSTILE_KEYS)
def test_a_session_a_project_and_a_tag_are_data_whatever_they_look_like(store: Store, text: str) -> None:
    metadata = {"session_id": text, "project": text, "tags": [text]}
    add_nodes(store, [NodeDraft("has it", metadata=metadata), NodeDraft("has none", metadata={"tags": []})])
    for filter in (NodeFilter(session=text), NodeFilter(project=text), NodeFilter(tag=text)):
        assert found(store, filter) == {"has it"}


@pytest.mark.case("D11")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(key=st.text(st.characters(codec="utf-8")), value=st.text(st.characters(codec="utf-8")))
def test_no_key_or_value_at_all_reaches_the_sql(store: Store, key: str, value: str) -> None:
    sql, values = filter_sql(NodeFilter(metadata=((key, value),)), has_sessions=False)
    assert sql == filter_sql(NodeFilter(metadata=(("x", "y"),)), has_sessions=False)[0]
    assert values == [key, value]


@pytest.mark.case("D11")
def test_half_a_character_is_a_text_that_no_memory_has(store: Store) -> None:
    add_node(store, NodeDraft("x", metadata={"session_id": "s", "tags": ["t"]}))
    half = "\ud800"
    for filter in (NodeFilter(session=half), NodeFilter(tag=half), NodeFilter(metadata=((half, half),))):
        assert found(store, filter) == set()


def test_a_metadata_value_is_compared_as_text(store: Store) -> None:
    add_node(store, NodeDraft("typed", metadata={"n": 3, "r": 0.5, "t": True, "f": False, "z": None, "s": "3"}))
    for key, value in (("n", "3"), ("r", "0.5"), ("t", "true"), ("f", "false"), ("z", "null"), ("s", "3")):
        assert found(store, NodeFilter(metadata=((key, value),))) == {"typed"}, key
    for key, value in (("t", "1"), ("f", "0"), ("z", ""), ("n", "3.0"), ("missing", "null")):
        assert found(store, NodeFilter(metadata=((key, value),))) == set(), key


def test_metadata_that_is_no_json_meets_no_filter_and_breaks_none(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    broken = ["{half", "", "[1, 2]", '"text"', "3", "{'a': 1}", '{"a": NaN}', b"\xff\xfe", "{" * 5000]
    rows: list[dict[str, object]] = [
        {"id": str(n), "type": "fact", "content": f"broken {n}", "metadata": metadata}
        for n, metadata in enumerate([*broken, None])
    ]
    metadata = '{"a": "1", "tags": ["t"], "project": "p"}'
    good: dict[str, object] = {"id": "good", "type": "fact", "content": "good", "metadata": metadata}
    make_foreign_store(path, [*rows, good])
    with open_store(path) as store:
        for filter in (NodeFilter(metadata=(("a", "1"),)), NodeFilter(tag="t"), NodeFilter(project="p")):
            assert found(store, filter) == {"good"}
        assert len(found(store, NodeFilter())) == len(rows) + 1


def test_a_tag_is_a_member_of_the_list_or_the_text_itself(store: Store) -> None:
    add_nodes(
        store,
        [
            NodeDraft("list", metadata={"tags": ["blue", "green"]}),
            NodeDraft("text", metadata={"tags": "blue"}),
            NodeDraft("longer", metadata={"tags": ["blueish"]}),
            NodeDraft("object", metadata={"tags": {"colour": "blue"}}),
            NodeDraft("nested", metadata={"tags": [["blue"]], "more": {"tags": ["blue"]}}),
        ],
    )
    assert found(store, NodeFilter(tag="blue")) == {"list", "text"}


@pytest.mark.case("D07")
def test_a_retagged_and_deleted_memory_is_found_by_neither_tag(store: Store) -> None:
    node = add_node(store, NodeDraft("a note", metadata={"tags": ["blue"]}))
    edit_node(store, node.id, NodeChanges(metadata={"tags": ["green"]}), actor="mara")
    assert (found(store, NodeFilter(tag="blue")), found(store, NodeFilter(tag="green"))) == (set(), {"a note"})
    archive_nodes(store, [node.id], actor="mara")
    assert (found(store, NodeFilter(tag="blue")), found(store, NodeFilter(tag="green"))) == (set(), set())
    restore_nodes(store, [node.id], actor="mara")
    assert found(store, NodeFilter(tag="green")) == {"a note"}
    with store.writing() as conn:
        conn.execute("INSERT INTO content_fts (content_fts) VALUES ('integrity-check')")


def test_a_session_is_found_by_its_accesses_and_by_metadata(store: Store) -> None:
    ids = add_nodes(
        store,
        [
            NodeDraft("pulled"),
            NodeDraft("tidied"),
            NodeDraft("noted", metadata={"session_id": "s-41"}),
            NodeDraft("of another", metadata={"session_id": "s-4"}),
        ],
    )
    session = add_session(store, "s-41", project="billing")
    record_accesses(store, session.id, [ids[0]], AccessKind.PULL)
    record_accesses(store, session.id, [ids[1]], AccessKind.MAINTENANCE)
    assert found(store, NodeFilter(session="s-41")) == {"pulled", "noted"}
    assert found(store, NodeFilter(project="billing")) == {"pulled"}


def test_a_family_store_is_filtered_by_the_session_in_its_metadata(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert len(found(store, NodeFilter(session="s1"))) == 3
        assert len(found(store, NodeFilter(tag="demo", include_archived=True))) == 8


def test_what_can_not_be_read_counts_as_what_it_is_shown_as(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(
        path,
        [
            {"id": "1", "content": "no tier", "type": "fact", "tier": None},
            {"id": "2", "content": "odd tier", "type": "fact", "tier": "attic"},
            {"id": "3", "content": "no type", "type": None},
            {"id": "4", "content": "odd confidence", "type": "fact", "confidence": "high"},
            {"id": "5", "content": "no time", "type": "fact", "created_at": "soon"},
        ],
    )
    everything = {"no tier", "odd tier", "no type", "odd confidence", "no time"}
    with open_store(path) as store:
        assert found(store, NodeFilter()) == everything
        assert found(store, NodeFilter(tiers=frozenset({Tier.TASK}))) == everything
        assert found(store, NodeFilter(types=frozenset({NodeType.FACT}))) == everything
        assert found(store, NodeFilter(tiers=frozenset({Tier.LONGTERM}))) == set()
        assert found(store, NodeFilter(types=frozenset({NodeType.ENTITY}))) == set()
        assert "odd confidence" not in found(store, NodeFilter(min_confidence=0.1))
        assert "no time" not in found(store, NodeFilter(since_ms=1)) | found(store, NodeFilter(until_ms=10**13))


TIMES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(10**11), 10**11),
    st.floats(allow_nan=False),
    st.datetimes().map(lambda when: when.isoformat()),
    st.datetimes().map(lambda when: when.isoformat(" ", "milliseconds")),
    st.datetimes().map(lambda when: when.isoformat() + "+02:00"),
    st.sampled_from(["now", "soon", "", "2026-13-01", "0000-00-00", "12:00", "9999-99-99 now"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(written=TIMES)
def test_sql_reads_a_time_as_the_library_does_or_as_unknown(store: Store, written: float | int | str) -> None:
    [(by_sql,)] = store.read(
        lambda conn: conn.execute(f"SELECT {time_ms_sql('t.x')} FROM (SELECT ? AS x) t", (written,)).fetchall()
    )
    by_library = parse_time_ms(written)
    assert by_sql == 0 if by_library is None else abs(int(str(by_sql)) - by_library) <= 1


@pytest.mark.parametrize("written", ["now", "2026-01-01 now", "soon", b"2026", None, 1e300, -(2**63)])
def test_no_time_that_another_program_writes_is_refused_by_the_index(store: Store, written: object) -> None:
    with store.writing() as conn:
        conn.execute(
            "INSERT INTO nodes (id, type, content, created_at) VALUES ('a', 'fact', 'kept', ?)",
            (written,),
        )
    assert found(store, NodeFilter()) == {"kept"}
