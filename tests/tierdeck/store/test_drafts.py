"""What may enter a store, and what is said of the rest."""

from __future__ import annotations

import json
import math
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.errors import InvalidValueError
from tierdeck.model import MAX_CONTENT_BYTES, NodeDraft, NodeType, Tier
from tierdeck.store.drafts import (
    DRAFT_COLUMNS,
    checked_actor,
    checked_content,
    checked_id,
    checked_weight,
    draft_values,
    metadata_json,
)

NOW = 1_796_040_000_000


def columns(draft: NodeDraft) -> dict[str, object]:
    return dict(zip(DRAFT_COLUMNS, draft_values(draft, NOW), strict=True))


def test_a_bare_draft_gets_an_id_and_the_time_now() -> None:
    found = columns(NodeDraft("a text"))
    assert len(str(found.pop("id"))) == 36
    assert found == {
        "type": "fact", "subtype": None, "content": "a text", "tier": "task", "confidence": 0.5, "provenance": None,
        "created_at": NOW, "updated_at": NOW, "last_accessed": NOW, "access_count": 0, "metadata": "{}",
    }  # fmt: skip


@pytest.mark.spec("SPEC-02.08")
@pytest.mark.parametrize("confidence", [-0.001, 1.001, math.nan, math.inf, -math.inf, True, "0.5", None])
def test_a_confidence_outside_0_to_1_is_refused(confidence: object) -> None:
    with pytest.raises(InvalidValueError, match="is not a number from 0 to 1") as caught:
        columns(NodeDraft("x", confidence=cast("float", confidence)))
    assert repr(confidence) in caught.value.message


@pytest.mark.spec("SPEC-02.08")
@pytest.mark.parametrize("confidence", [0, 0.0, 5e-324, 0.5, 1, 1.0])
def test_a_confidence_from_0_to_1_is_taken(confidence: float) -> None:
    assert columns(NodeDraft("x", confidence=confidence))["confidence"] == confidence


@pytest.mark.spec("SPEC-02.05", "SPEC-02.17")
def test_types_and_tiers_are_taken_as_members_or_as_their_text_and_nothing_else() -> None:
    for kind in NodeType:
        assert columns(NodeDraft("x", type=cast("NodeType", kind.value)))["type"] == kind.value
    for tier in Tier:
        assert columns(NodeDraft("x", tier=tier))["tier"] == tier.value
    with pytest.raises(InvalidValueError, match="type 'rumour' is none of entity, fact, experience, decision"):
        columns(NodeDraft("x", type=cast("NodeType", "rumour")))
    with pytest.raises(InvalidValueError, match="tier 'attic' is none of task, session, longterm, archive"):
        columns(NodeDraft("x", tier=cast("Tier", "attic")))


@pytest.mark.spec("SPEC-02.07")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "its text is blank"),
        (" \n\t\u2003", "its text is blank"),
        ("a\0b", "text holds a NUL character at 1"),
        ("ab\ud800", r"text holds half a character \(a lone surrogate\) at 2"),
        ("x" * (MAX_CONTENT_BYTES + 1), "its text has 10,000,001 bytes, the limit is 10,000,000"),
        ("\U0001f600" * 2_500_001, "its text has 10,000,004 bytes"),
    ],
)
def test_a_text_that_may_not_enter_is_refused_with_value_and_limit(text: str, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        checked_content(text)


@pytest.mark.parametrize("text", ["x" * MAX_CONTENT_BYTES, "\U0001f600" * 2_500_000, "\u202e\x1b[31m\r\n", "0"])
def test_a_text_within_the_limit_is_taken_as_it_is(text: str) -> None:
    assert checked_content(text) is text


@pytest.mark.spec("SPEC-02.06")
@pytest.mark.parametrize("node_id", ["", " a", "a ", "a\nb", "a\0b", "x" * 201, "\ud800", "\u202ea"])
def test_an_id_that_could_not_be_typed_is_refused(node_id: str) -> None:
    with pytest.raises(InvalidValueError, match="is not an id"):
        checked_id(node_id)


@pytest.mark.parametrize("node_id", ["a", "cisi:1", "issue/12 of 3", "日本", "x" * 200])
def test_an_id_of_another_tool_is_taken(node_id: str) -> None:
    assert checked_id(node_id) == node_id


@pytest.mark.spec("SPEC-02.09")
@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ([], "a list, not an object"),
        ("{}", "a str, not an object"),
        ({"a": math.nan}, "can't be written as JSON"),
        ({"a": [1, {"b": math.inf}]}, "can't be written as JSON"),
        ({"a": {1, 2}}, "can't be written as JSON"),
        ({"a": b"bytes"}, "can't be written as JSON"),
        ({1: "a"}, "key 1 is not text"),
        ({"a": [{None: 1}]}, "key None is not text"),
        ({"a": "\ud800"}, "half a character"),
        ({"a": "x" * 1_000_001}, "metadata has 1,000,010 characters, the limit is 1,000,000"),
    ],
)
def test_metadata_that_is_no_json_object_is_refused(metadata: object, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        metadata_json(cast("dict[str, object]", metadata))


def test_metadata_that_holds_itself_or_is_too_deep_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for metadata in (loop, deep):
        with pytest.raises(InvalidValueError, match="can't be written as JSON"):
            metadata_json(metadata)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON_VALUES, max_size=4))
def test_every_json_object_is_written_and_means_the_same(metadata: dict[str, object]) -> None:
    assert json.loads(metadata_json(metadata)) == metadata


@pytest.mark.spec("SPEC-02.10")
@pytest.mark.parametrize(
    "time_ms", [253_402_300_800_000, -(253_402_300_800_000), True, 1.5, "1796040000000", math.nan]
)
def test_a_time_that_is_none_is_refused(time_ms: object) -> None:
    wrong = cast("int", time_ms)
    for draft in (
        NodeDraft("x", created_at_ms=wrong),
        NodeDraft("x", updated_at_ms=wrong),
        NodeDraft("x", last_accessed_ms=wrong),
    ):
        with pytest.raises(InvalidValueError, match="is not a whole number of milliseconds"):
            columns(draft)


@pytest.mark.parametrize("count", [-1, 1.0, True, "3", 2**63])
def test_an_access_count_that_is_none_is_refused(count: object) -> None:
    with pytest.raises(InvalidValueError, match=r"access_count .* is not a whole number of 0 or more"):
        columns(NodeDraft("x", access_count=cast("int", count)))


@pytest.mark.spec("SPEC-02.13")
@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, True, "1"])
def test_a_weight_below_0_or_not_finite_is_refused(weight: object) -> None:
    with pytest.raises(InvalidValueError, match="is not a finite number of 0 or more"):
        checked_weight(cast("float", weight))


def test_an_actor_without_a_visible_character_is_refused() -> None:
    for actor in ("", "  ", "\0"):
        with pytest.raises(InvalidValueError):
            checked_actor(actor)
    assert checked_actor("mara") == "mara"
