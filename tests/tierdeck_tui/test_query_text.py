from __future__ import annotations

import pytest

from tierdeck.search import MissingWord, parse_query
from tierdeck_tui.query_text import near_texts, quoted, with_filters, without_chip, without_filters, without_hiding


def test_one_filter_is_taken_out_and_the_rest_stays() -> None:
    assert without_chip("refund tier:task type:fact job", "tier:task") == "refund type:fact job"
    assert without_chip("tier:task", "tier:task") == ""
    assert without_chip("xtier:task tier:taskforce", "tier:task") == "xtier:task tier:taskforce"


def test_words_only() -> None:
    assert without_filters("refund tier:task conf>0.6 job since:7d") == "refund job"


def test_a_form_puts_its_filters_behind_the_words() -> None:
    assert with_filters("refund tier:task", ["type:fact", "conf>0.5"]) == "refund type:fact conf>0.5"
    assert with_filters("", []) == ""


@pytest.mark.parametrize(
    ("text", "hiding", "left"),
    [
        ("a tier:task", "tier:task", "a"),
        ("a tier:task tier:session", "tier:task tier:session", "a"),
        ("a -b", "-b", "a"),
        ('a -"b c"', "-b c", "a"),
        ("a meta.k=v meta.l=w", "meta.k=v", "a meta.l=w"),
        ("a meta:k=v", "meta.k=v", "a"),
        ("a", "is:archived", "a is:archived"),
        ("a is:archived", "is:archived", "a is:archived"),
        ("a", "type:fact", "a"),
    ],
)
def test_what_hides_is_taken_out_by_the_name_the_answer_gives_it(text: str, hiding: str, left: str) -> None:
    assert without_hiding(text, hiding) == left


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("meta:k=v", "meta.k=v"),
        ('meta.k:"a b"', 'meta.k="a b"'),
        ('meta:k="a b"', 'meta.k="a b"'),
        ('meta:"a key=v"', 'meta:"a key=v"'),
        ("until:1h", "until:1h"),
    ],
)
def test_a_filter_is_dropped_however_it_was_typed(typed: str, named: str) -> None:
    assert without_hiding(f"x {typed} y", named) == "x y"


@pytest.mark.parametrize("value", ["plain", "with blank", 'with "quotes" and blank', "[/x]"])
def test_a_value_in_quotes_is_read_back_whole(value: str) -> None:
    [chip] = parse_query(f"session:{quoted(value)}").chips
    assert chip.value == value.replace('"', "")


@pytest.mark.parametrize(
    ("text", "missing", "texts"),
    [
        (
            "webhok baering tier:task",
            (MissingWord("webhok", ("webhook",)), MissingWord("baering", ("bearing", "tearing"))),
            ("webhook bearing tier:task", "webhook tearing tier:task", "webhok baering tier:task"),
        ),
        ("src/paymnt.py", (MissingWord("paymnt", ("payment",)),), ("src/payment.py", "src/paymnt.py")),
        ("tag:redsi redsi", (MissingWord("redsi", (), ("redis",)),), ("tag:redsi redis", "tag:redsi redsi")),
        ("zzz", (MissingWord("zzz"),), ()),
        ("redis", (), ()),
    ],
)
def test_missing_words_are_replaced_by_the_nearest_then_the_next_then_as_typed(
    text: str, missing: tuple[MissingWord, ...], texts: tuple[str, ...]
) -> None:
    assert near_texts(text, missing) == texts
