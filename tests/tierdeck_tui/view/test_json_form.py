"""JSON output loses nothing."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.model import Tier
from tierdeck_tui.view.json_form import json_form, json_text
from tierdeck_tui.view.masked import masked_form

# Lone surrogates are part of what a text of another program may hold.
_ANY_TEXT = st.text(st.characters(exclude_categories=()))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_ANY_TEXT, inner),
    max_leaves=20,
)


@given(_JSON)
def test_what_json_can_hold_comes_back_as_it_was_from_pure_ascii(value: object) -> None:
    text = json_text(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert not any(ord(char) < 0x20 and char != "\n" for char in text)


@dataclass(frozen=True, slots=True)
class Example:
    tier: Tier
    path: Path
    tags: frozenset[str]
    score: float


def test_values_of_ours_become_objects_lists_and_texts() -> None:
    form = json_form(Example(Tier.TASK, Path("/a"), frozenset({"b", "a"}), 0.5))
    assert form == {"tier": "task", "path": "/a", "tags": ["a", "b"], "score": 0.5}


@pytest.mark.parametrize(("value", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_a_number_that_json_lacks_is_named(value: float, text: str) -> None:
    assert json.loads(json_text([value])) == [text]


@pytest.mark.case("X01")
def test_secrets_are_masked_at_any_depth_unless_revealed() -> None:
    value = {"a": [{"b": "export OPENAI_API_KEY=sk-test-0000abcdefgh1234"}]}
    assert "0000abcd" not in json_text(masked_form(value, reveal=False))
    assert masked_form(value, reveal=True) == value
