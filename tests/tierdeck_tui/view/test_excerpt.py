from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tierdeck_tui.view.rows import row
from tierdeck_tui.view.excerpt import excerpt_line, masked_pieces
from tierdeck_tui.view.line import text_of

KEY = "sk-test-0000aaaabbbbccccdddd1111"


def shown(text: str, cells: int = 60, **how: object) -> str:
    return text_of(excerpt_line(row(text), cells, **how)).rstrip()  # type: ignore[arg-type]


def test_matches_are_set_off() -> None:
    pieces = excerpt_line(row("the refund job"), 20, matches=[(4, 10)])
    assert [(p.text, p.role) for p in pieces[:3]] == [("the ", "plain"), ("refund", "match"), (" job", "plain")]


def test_a_line_starts_where_its_first_match_can_be_seen() -> None:
    text = "word " * 60 + "needle and more"
    start = text.index("needle")
    line = shown(text, 40, matches=[(start, start + 6)])
    assert line.startswith("…word")
    assert "needle" in line


def test_a_match_near_the_end_leaves_no_empty_row_behind_it() -> None:
    text = "word " * 60 + "needle"
    start = text.index("needle")
    assert len(shown(text, 40, matches=[(start, start + 6)])) >= 33


def test_a_text_that_goes_on_ends_in_an_ellipsis() -> None:
    assert text_of(excerpt_line(replace(row("short"), content_chars=6), 20)).rstrip() == "short…"
    assert shown("short") == "short"


def test_what_stands_in_the_middle_of_a_text_says_so_at_both_ends() -> None:
    middle = replace(row("the needle lies"), excerpt_start=4_000, content_chars=9_000)
    assert text_of(excerpt_line(middle, 30)).rstrip() == "…the needle lies…"
    assert text_of(excerpt_line(replace(middle, content_chars=4_015), 30)).rstrip() == "…the needle lies"


@pytest.mark.case("X01")
def test_a_key_is_masked_until_it_is_asked_for() -> None:
    text = f"export OPENAI_API_KEY={KEY} then deploy"
    assert KEY not in shown(text, 200)
    assert "then deploy" in shown(text, 200)
    assert KEY in shown(text, 200, reveal=True)


@pytest.mark.case("X01")
def test_a_search_for_the_key_itself_does_not_print_it() -> None:
    text = f"some words {'pad ' * 40}OPENAI_API_KEY={KEY}"
    start = text.index(KEY)
    line = shown(text, 60, matches=[(start, start + len(KEY))])
    assert KEY[8:] not in line
    assert "hidden" in line


@pytest.mark.case("X01")
def test_what_names_a_password_may_stand_before_the_line_begins() -> None:
    text = "x" * 100 + " password: c0rrect-h0rse-b4ttery"
    start = text.index("h0rse")
    assert "h0rse" not in shown(text, 30, matches=[(start, start + 5)])


def test_a_match_outside_a_secret_keeps_its_place() -> None:
    text = f"OPENAI_API_KEY={KEY} needle"
    start = text.index("needle")
    pieces = list(masked_pieces(text, [(start, start + 6)], reveal=False))
    assert [p.text for p in pieces if p.role == "match"] == ["needle"]


@given(st.text(max_size=80), st.integers(1, 60), st.data())
def test_a_line_is_exactly_as_wide_as_asked_whatever_the_text(text: str, cells: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert cell_len(text_of(excerpt_line(row(text), cells, matches=[(start, end)]))) == cells
