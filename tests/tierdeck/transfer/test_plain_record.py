"""Somebody's record as a memory: its id, its text, what is kept of the rest, and why it may be refused."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.model import MAX_CONTENT_BYTES, NodeType, Tier
from tierdeck.store.drafts import DRAFT_COLUMNS
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.plain_record import plain_values

UUID_ID = "3f2b8c1e-0d4a-4b6f-9a7e-1c2d3e4f5a6b"
NOW = 1_800_000_000_000
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def values_of(record: dict[str, object], source: str = "cisi") -> dict[str, object]:
    found = plain_values(record, source, NOW, default_type=NodeType.FACT, default_tier=Tier.TASK)
    assert not isinstance(found, Rejected), found
    return dict(zip(DRAFT_COLUMNS, found[0], strict=True))


def refusal_of(record: dict[str, object]) -> Rejected:
    found = plain_values(record, "cisi", NOW, default_type=NodeType.FACT, default_tier=Tier.TASK)
    assert isinstance(found, Rejected)
    return found


def metadata_of(record: dict[str, object]) -> dict[str, object]:
    found = json.loads(str(values_of(record)["metadata"]))
    assert isinstance(found, dict)
    return found


def test_an_id_that_is_no_uuid_becomes_one_and_stays_in_the_metadata() -> None:
    values = values_of({"id": "17", "text": "words"})
    assert UUID(str(values["id"])).version == 5
    assert metadata_of({"id": "17", "text": "words"}) == {"source": "cisi", "source_id": "17"}
    assert values["provenance"] == "cisi:17"


def test_the_same_id_in_another_source_is_another_memory() -> None:
    record: dict[str, object] = {"id": "1", "text": "words"}
    assert values_of(record)["id"] == values_of({"id": 1, "text": "else"})["id"]
    assert values_of(record)["id"] != values_of(record, "cranfield")["id"]


def test_a_uuid_is_kept_and_leaves_no_mark() -> None:
    assert values_of({"id": UUID_ID, "text": "words"})["id"] == UUID_ID
    assert metadata_of({"id": UUID_ID, "text": "words"}) == {}
    assert values_of({"id": UUID_ID.upper(), "text": "words"})["id"] == UUID_ID


def test_a_record_without_an_id_gets_one_from_its_text() -> None:
    first, again, other = (values_of({"text": text})["id"] for text in ("one", "one", "two"))
    assert first == again
    assert first != other


def test_known_fields_are_taken_and_unknown_ones_are_kept() -> None:
    record: dict[str, object] = {
        "content": "words",
        "type": "decision",
        "tier": "longterm",
        "confidence": 1,
        "subtype": "adr",
        "provenance": "turn 3",
        "created_at": "2026-05-01T10:00:00Z",
        "access_count": 4,
        "metadata": {"tags": ["a"], "title": "mine"},
        "title": "theirs",
        "url": "https://example.org",
    }
    values = values_of(record)
    assert (values["type"], values["tier"], values["confidence"]) == ("decision", "longterm", 1.0)
    assert (values["subtype"], values["provenance"], values["access_count"]) == ("adr", "turn 3", 4)
    assert values["created_at"] == 1_777_629_600_000
    assert metadata_of(record) == {
        "tags": ["a"], "title": "mine", "url": "https://example.org", "source": "cisi",
    }  # fmt: skip


def test_a_time_that_can_not_be_read_hides_nothing_and_is_kept_as_it_was() -> None:
    record: dict[str, object] = {"id": UUID_ID, "text": "words", "created_at": "soon", "updated_at": None}
    assert values_of(record)["created_at"] == NOW
    assert metadata_of(record) == {"created_at": "soon"}


@pytest.mark.spec("SPEC-09.06")
def test_the_flag_against_embedding_is_heard() -> None:
    found = plain_values(
        {"text": "words", "compute_embedding": False}, "s", 0, default_type=NodeType.FACT, default_tier=Tier.TASK
    )
    assert not isinstance(found, Rejected)
    assert found[1] is False


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"id": "1"}, "it has no text"),
        ({"id": "1", "text": ""}, "it has no text"),
        ({"id": "1", "text": " \n\t"}, "it has no text"),
        ({"id": "1", "text": None, "content": None}, "it has no text"),
        ({"id": "1", "text": 5}, "its text is not a text"),
        ({"id": "1", "content": ["a"]}, "its content is not a text"),
        ({"id": "1", "text": "a\0b"}, "its text holds a NUL character"),
        ({"id": "1", "text": "a\ud800"}, "a field can't be stored"),
        ({"id": "1", "text": "x" * (MAX_CONTENT_BYTES + 1)}, "its text is longer than 10,000,000 bytes"),
        ({"id": "1", "text": "é" * (MAX_CONTENT_BYTES // 2 + 1)}, "its text is longer than 10,000,000 bytes"),
        ({"id": True, "text": "a"}, "its id is neither text nor a whole number"),
        ({"id": 1.5, "text": "a"}, "its id is neither text nor a whole number"),
        ({"id": ["1"], "text": "a"}, "its id is neither text nor a whole number"),
        ({"text": "a", "type": "note"}, "its type is none of entity, fact, experience, decision, snippet"),
        ({"text": "a", "tier": ["task"]}, "its tier is none of task, session, longterm, archive"),
        ({"text": "a", "confidence": 1.5}, "its confidence is no number from 0 to 1"),
        ({"text": "a", "confidence": True}, "its confidence is no number from 0 to 1"),
        ({"text": "a", "confidence": "high"}, "its confidence is no number from 0 to 1"),
        ({"text": "a", "subtype": 3}, "its subtype is not a text"),
        ({"text": "a", "metadata": [1]}, "its metadata are not a JSON object"),
        ({"text": "a", "metadata": "{broken"}, "its metadata are not a JSON object"),
        ({"text": "a", "subtype": "a\0"}, "a field can't be stored"),
        ({"text": "a", "extra": "\udfff"}, "a field can't be stored"),
        ({"text": "a", "metadata": {"k": "x" * 2_000_000}}, "a field can't be stored"),
    ],
)
def test_what_can_not_be_a_memory_is_refused_with_its_reason(record: dict[str, object], reason: str) -> None:
    assert refusal_of(record).reason == reason


def test_a_text_of_exactly_the_limit_is_taken() -> None:
    assert values_of({"text": "x" * MAX_CONTENT_BYTES})["content"] == "x" * MAX_CONTENT_BYTES


FIELDS = ("id", "text", "content", "type", "tier", "confidence", "metadata", "created_at", "subtype", "other")


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_record_raises_and_the_same_record_gives_the_same_memory(record: dict[str, object]) -> None:
    first, again = (
        plain_values(record, "s", 0, default_type=NodeType.FACT, default_tier=Tier.TASK) for _ in range(2)
    )
    assert first == again
