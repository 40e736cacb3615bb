"""Memories added, and read by full and short ids."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tierdeck.errors import AmbiguousIdError, ConflictError, InvalidValueError, NotFoundError
from tierdeck.model import NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    count_nodes,
    embedding_off,
    get_node,
    open_store,
    resolve_id,
    resolve_ids,
)

NOW = 1_796_040_000_000


@pytest.mark.spec("SPEC-02.20", "SPEC-02.21")
@pytest.mark.spec("SPEC-02.06", "SPEC-02.07", "SPEC-02.09", "SPEC-02.10")
def test_a_memory_is_added_and_read_back_with_every_field(store: Store) -> None:
    draft = NodeDraft(
        "Retry the upload with backoff: it fixed the flaky deploy",
        type=NodeType.EXPERIENCE,
        tier=Tier.SESSION,
        confidence=0.75,
        subtype="deploy",
        provenance="turn 12",
        metadata={"tags": ["ops"], "nested": {"a": [1, 2.5, None, True]}},
        created_at_ms=NOW,
        updated_at_ms=NOW + 1,
        last_accessed_ms=NOW + 2,
        access_count=3,
    )
    node = add_node(store, draft)
    assert UUID(node.id).version == 4
    assert node == get_node(store, node.id)
    for field in ("content", "type", "tier", "confidence", "subtype", "provenance", "metadata", "created_at_ms"):
        assert getattr(node, field) == getattr(draft, field), field
    assert (node.updated_at_ms, node.last_accessed_ms, node.access_count) == (NOW + 1, NOW + 2, 3)
    assert node.problems == ()


@pytest.mark.spec("SPEC-02.18")
def test_a_memory_without_a_tier_goes_to_task(store: Store) -> None:
    assert add_node(store, NodeDraft("x")).tier is Tier.TASK
    with store.writing() as conn:  # as another program adds one
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('theirs', 'fact', 'y')")
    assert get_node(store, "theirs").tier is Tier.TASK


@pytest.mark.spec("SPEC-02.10")
def test_times_are_those_of_the_stores_clock(store: Store) -> None:
    store.clock = lambda: NOW
    node = add_node(store, NodeDraft("x"))
    assert (node.created_at_ms, node.updated_at_ms, node.last_accessed_ms) == (NOW, NOW, NOW)


@pytest.mark.parametrize("time_ms", [0, 1, -1, 253_402_300_799, 253_402_300_800, NOW, 253_402_300_799_999])
def test_a_time_is_read_back_as_it_was_given(store: Store, time_ms: int) -> None:
    assert add_node(store, NodeDraft("x", created_at_ms=time_ms)).created_at_ms == time_ms


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(lambda t: not t.isspace())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    content=TEXTS,
    kind=st.sampled_from(NodeType),
    tier=st.sampled_from(Tier),
    confidence=st.floats(0, 1),
    subtype=st.none() | TEXTS,
    created_at_ms=st.integers(-(10**14) + 1, 10**14 - 1),
    access_count=st.integers(0, 2**53),
)
def test_every_memory_that_may_enter_comes_back_the_same(
    store: Store,
    content: str,
    kind: NodeType,
    tier: Tier,
    confidence: float,
    subtype: str | None,
    created_at_ms: int,
    access_count: int,
) -> None:
    draft = NodeDraft(
        content,
        type=kind,
        tier=tier,
        confidence=confidence,
        subtype=subtype,
        provenance=content,
        metadata={content: content},
        created_at_ms=created_at_ms,
        access_count=access_count,
    )
    node = add_node(store, draft)
    assert node.problems == ()
    assert (node.content, node.provenance, node.metadata) == (content, content, {content: content})
    assert (node.type, node.tier, node.confidence, node.subtype) == (kind, tier, confidence, subtype)
    assert (node.created_at_ms, node.access_count) == (created_at_ms, access_count)


@pytest.mark.spec("SPEC-02.20")
def test_many_are_added_all_or_none(store: Store) -> None:
    ids = add_nodes(store, (NodeDraft(f"memory {n}") for n in range(1000)))
    assert [get_node(store, node_id).content for node_id in ids[::333]] == [
        "memory 0", "memory 333", "memory 666", "memory 999",
    ]  # fmt: skip
    with pytest.raises(InvalidValueError, match="blank"):
        add_nodes(store, [NodeDraft("good"), NodeDraft(" ")])
    with pytest.raises(ConflictError, match=f"{ids[5]}: a memory with that id exists; nothing was added"):
        add_nodes(store, [NodeDraft("good"), NodeDraft("other", id=ids[5])])
    with pytest.raises(ConflictError, match="the same id is given twice"):
        add_nodes(store, [NodeDraft("one", id="twin"), NodeDraft("two", id="twin")])
    assert count_nodes(store, NodeFilter()) == 1000
    assert get_node(store, ids[5]).content == "memory 5"
    assert add_nodes(store, []) == []


def test_a_source_that_fails_while_it_is_read_has_written_nothing_and_held_nothing(store: Store) -> None:
    def source() -> list[NodeDraft]:
        with store.writing():
            raise OSError("the file went away")

    with pytest.raises(OSError, match="went away"):
        add_nodes(store, (draft for draft in source()))
    assert count_nodes(store, NodeFilter()) == 0


@pytest.mark.spec("SPEC-09.06")
def test_a_memory_may_be_kept_from_being_embedded(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("public"), NodeDraft("private", compute_embedding=False)])
    assert embedding_off(store, ids) == {ids[1]}


def test_a_memory_that_is_not_there_is_named(store: Store) -> None:
    with pytest.raises(NotFoundError, match=r"find memory nothing: there is none in .*memory\.db"):
        get_node(store, "nothing")


@pytest.mark.case("X03")
def test_a_short_id_from_a_list_is_taken(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(50)])
    for node_id in ids:
        short = get_node(store, node_id).short_id
        assert resolve_id(store, short) == resolve_id(store, f" {short.upper()}\n") == node_id
    assert resolve_ids(store, [ids[3][:8], ids[1], ids[3]]) == [ids[3], ids[1]]


@pytest.mark.case("X03")
def test_a_short_id_of_two_memories_lists_both(store: Store) -> None:
    ids = [f"abcdef01-0000-4000-8000-00000000000{n}" for n in range(2)]
    add_nodes(store, [NodeDraft("x", id=node_id) for node_id in reversed(ids)])
    with pytest.raises(AmbiguousIdError, match="find memory abcdef01: 2 ids begin so") as caught:
        resolve_id(store, "abcdef01")
    assert caught.value.matches == tuple(ids)
    assert caught.value.hint == "give more of its characters"
    assert resolve_id(store, ids[1]) == ids[1]


def test_of_very_many_matches_twenty_are_listed(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id=f"same-{n:03d}") for n in range(100)])
    with pytest.raises(AmbiguousIdError, match=r"20\+ ids begin so") as caught:
        resolve_id(store, "same")
    assert caught.value.matches == tuple(f"same-{n:03d}" for n in range(20))


def test_an_exact_id_wins_over_those_it_begins(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id="note"), NodeDraft("y", id="note-2")])
    assert resolve_id(store, "note") == "note"


@pytest.mark.parametrize("text", ["%", "_", "*", "no", "' OR 1=1 --", "\ud800", "x" * 10_000, "\U0010ffff"])
def test_a_text_that_no_id_begins_with_finds_none(store: Store, text: str) -> None:
    add_nodes(store, [NodeDraft("x"), NodeDraft("y", id="zz")])
    with pytest.raises(NotFoundError):
        resolve_id(store, text)


def test_an_empty_id_is_refused(store: Store) -> None:
    add_node(store, NodeDraft("x"))
    with pytest.raises(InvalidValueError, match="an id is empty"):
        resolve_id(store, "  ")


def test_an_id_that_is_no_uuid_is_found_in_another_programs_store(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert resolve_id(store, "00000003") == "00000003-0000-4000-8000-000000000003"
