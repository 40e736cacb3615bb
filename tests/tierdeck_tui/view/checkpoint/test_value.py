"""Values out of checkpoints, as rows and as JSON: bounded, safe, and whole where that is promised."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from tests.tierdeck.checkpoint.sample import variables
from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tierdeck.checkpoint import Inert, Placeholder, Record, Unsaved
from tierdeck_tui.view.checkpoint.value import MAX_ROWS, value_lines, whole_text
from tierdeck_tui.view.checkpoint.value_form import MAX_DEPTH, value_form
from tierdeck_tui.view.json_form import json_text
from tierdeck_tui.view.line import text_of


def rows(value: object, **options: Any) -> list[str]:
    return [text_of(row).rstrip() for row in value_lines(value, 80, **options)]


def written(value: object) -> Any:
    return json.loads(json_text(value_form(value).form))


@pytest.mark.parametrize("cells", [10, 40, 80])
def test_every_row_has_exactly_the_width(cells: int) -> None:
    for value in (variables(), list(HOSTILE_TEXTS), {text: text for text in HOSTILE_TEXTS}):
        assert {cell_len(text_of(row)) for row in value_lines(value, cells)} == {cells}


def test_no_row_holds_what_a_terminal_obeys() -> None:
    value = [HOSTILE_TEXTS, dict.fromkeys(HOSTILE_TEXTS), Record("enum", HOSTILE_TEXTS[0], {HOSTILE_TEXTS[1]: 1}),
             Inert("module", HOSTILE_TEXTS[2]), Unsaved(HOSTILE_TEXTS[3], HOSTILE_TEXTS[4])]  # fmt: skip
    text = "".join(rows(value))
    assert not any(char in text for char in "\x1b\x07\x9b\x9d\u202e\u2066")


def test_what_stands_in_a_value_is_indented_below_it() -> None:
    assert rows({"a": [1, (2,)]}) == [
        "dict of 1: 'a'",
        "  ['a']  list of 2: 1, tuple of 1",
        "    [0]  1",
        "    [1]  tuple of 1: 2",
        "      [0]  2",
    ]


def test_a_cycle_ends_and_says_where_it_leads() -> None:
    inner: dict[str, object] = {}
    value = [inner]
    inner["me"] = value
    assert rows(value)[-1] == "    ['me']  the whole value again"
    inner["me"] = inner
    assert rows(value)[-1] == "    ['me']  the same object as [0]"


def test_a_value_that_doubles_at_each_level_is_as_long_as_its_objects() -> None:
    value: list[object] = []
    for _ in range(200):
        value = [value, value]
    assert len(rows(value)) < 100
    assert len(json_text(value_form(value).form)) < 200_000


def test_more_rows_than_the_limit_are_said_and_not_shown() -> None:
    found = rows(list(range(5_000)))
    assert len(found) == MAX_ROWS + 1
    assert found[-1] == "… and more: only the first 1,000 rows are shown"
    assert len(rows(list(range(MAX_ROWS - 1)))) == MAX_ROWS


def test_a_deep_value_is_cut_and_says_so() -> None:
    value: list[object] = []
    for _ in range(390):
        value = [value]
    assert rows(value)[-1].endswith("nested deeper than is shown")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.50"), "Decimal('1.50')"),
        (Fraction(1, 3), "Fraction(1, 3)"),
        (range(0, 10, 2), "range(0, 10, 2)"),
        (dt.date(2024, 2, 29), "datetime.date(2024, 2, 29)"),
        (PurePosixPath("/a"), "PurePosixPath('/a')"),
        (deque([1], 3), "deque of 1"),
        (defaultdict(list, a=[1]), "defaultdict of 1"),
        (Counter("aab"), "Counter of 2"),
        pytest.param(10**5000, "int of 16,610 bits", id="long int"),
        pytest.param(Fraction(10**5000, 3), "Fraction, too long to print", id="long fraction"),
        (np.zeros((3, 4), "<f4"), "float32 array 3×4"),
        (np.float64(0.5), "np.float64(0.5)"),
        pytest.param(np.frombuffer(b"\xff" * 8, "<U1"), "ndarray of text that is no Unicode", id="no Unicode"),
        (Record("dataclass", "app.Point", {}), "app.Point (its fields only)"),
        (Inert("module", "json"), "module json (a note; nothing is imported)"),
        (Placeholder(99, (1,), "newer"), "unknown, tag 99: newer"),
        (Unsaved("a.Lock", "it is a lock"), "a.Lock, not saved: it is a lock"),
    ],
)
def test_a_row_tells_what_the_value_is(value: object, text: str) -> None:
    assert rows(value)[0] == text


def test_secrets_are_hidden_in_values_and_in_keys_until_asked_for() -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    value = {"a": secret, secret: 1}
    assert secret not in "".join(rows(value))
    assert "".join(rows(value, reveal=True)).count(secret[:20]) >= 2


def test_the_whole_text_is_that_of_a_str_or_of_a_kept_source() -> None:
    assert whole_text("text") == "text"
    assert whole_text(Inert("function", "f", "def f(): ...")) == "def f(): ..."
    assert whole_text(Inert("module", "json")) is None
    assert whole_text(["text"]) is None


@pytest.mark.parametrize(
    "value", [None, True, 0, -5, 2**70, 0.5, "", "é\0\udc80", [], [1, [2]], {"a": {"b": None}}]
)
def test_what_json_has_stands_for_itself(value: object) -> None:
    assert written(value) == value
    assert value_form(value).is_whole


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ((1, 2), {"$type": "tuple", "items": [1, 2]}),
        (frozenset({1}), {"$type": "frozenset", "items": [1]}),
        (deque([1], 3), {"$type": "deque", "maxlen": 3, "items": [1]}),
        (b"\xff", {"$type": "bytes", "base64": "/w=="}),
        (bytearray(b"a"), {"$type": "bytearray", "base64": "YQ=="}),
        ({1: "a"}, {"$type": "dict", "pairs": [[1, "a"]]}),
        ({"$type": "tuple"}, {"$type": "dict", "pairs": [["$type", "tuple"]]}),
        (OrderedDict(b=1), {"$type": "OrderedDict", "pairs": [["b", 1]]}),
        (Decimal("1.50"), {"$type": "Decimal", "text": "Decimal('1.50')"}),
        pytest.param(10**5000, {"$type": "int", "hex": hex(10**5000)}, id="long int"),
        (Record("enum", "a.B", {"name": "X"}), {"$type": "enum", "class": "a.B", "fields": {"name": "X"}}),
        (Inert("function", "f", "src"), {"$type": "function", "name": "f", "source": "src"}),
        (Unsaved("a.B", "why"), {"$type": "unsaved", "class": "a.B", "reason": "why"}),
        (Placeholder(99, (1,), "why"), {"$type": "placeholder", "tag": 99, "why": "why"}),
        (1 + 2j, {"$type": "complex", "text": "(1+2j)"}),
    ],
)  # fmt: skip
def test_what_json_lacks_names_its_type(value: object, form: object) -> None:
    assert written(value) == form


def test_numbers_that_json_lacks_are_words() -> None:
    assert written([math.nan, math.inf, -math.inf]) == ["NaN", "Infinity", "-Infinity"]


def test_an_array_is_whole_with_type_and_shape() -> None:
    array = np.arange(6, dtype="<i2").reshape(2, 3)
    form = written(array)
    back = np.frombuffer(base64.b64decode(form["base64"]), form["dtype"]).reshape(form["shape"])
    assert (back == array).all()
    assert form["$type"] == "numpy.ndarray"


def test_an_object_met_again_is_named_by_its_path() -> None:
    shared = [1]
    assert written({"a": shared, "b": (shared,)}) == {
        "a": [1],
        "b": {"$type": "tuple", "items": [{"$type": "again", "path": "['a']"}]},
    }
    cycle: list[object] = []
    cycle.append(cycle)
    assert written(cycle) == [{"$type": "again", "path": ""}]


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: (inner,), lambda inner: {1: inner}])
def test_a_value_deeper_than_json_is_written_says_so_and_ends(wrap: Any) -> None:
    value: object = "end"
    for _ in range(390):
        value = wrap(value)
    formed = value_form(value)
    assert not formed.is_whole
    assert '"deep"' in json_text(formed.form)
    value = "end"
    for _ in range(MAX_DEPTH):
        value = wrap(value)
    assert value_form(value).is_whole
    assert '"end"' in json_text(value_form(value).form)


def test_the_sample_with_every_type_is_written_whole() -> None:
    formed = value_form(variables())
    assert formed.is_whole
    assert json.loads(json_text(formed.form))["plain"][8] == 2**70
