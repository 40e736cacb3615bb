from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.view.rows import DAY_MS, NOW_MS, hit, row
from tierdeck.model import Edge, EdgeType
from tierdeck.store import RelatedNode
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.memory_row import Row, RowLook, bar, hit_lines, memory_of, node_lines, row_lines


def texts(found: Row, **look: object) -> list[str]:
    return [text_of(line) for line in row_lines(found, RowLook(**{"cells": 78, "now_ms": NOW_MS, **look}))]  # type: ignore[arg-type]


def related(text: str = "other words", label: str | None = None) -> RelatedNode:
    return RelatedNode(Edge("e1", EdgeType.CAUSATION, label, 1.0, ()), "effect", row(text))


def test_a_hit_says_its_score_its_parts_what_it_is_and_how_old() -> None:
    first, second = texts(hit(), alpha=0.4)
    assert first.split() == ["0.772", "████████▒▒▒▒▒▒▒·····", "longterm", "decision", "90%", "3h", "3f2a9c1e"]
    assert second.strip() == "plain words"


def test_a_memory_of_the_store_says_how_often_it_was_used() -> None:
    assert texts(row(age_ms=12 * DAY_MS))[0].split()[:5] == ["longterm", "decision", "90%", "14×", "12d"]


def test_a_relation_says_the_bond_and_the_part_in_it() -> None:
    assert texts(related(label="leads to"))[0].strip().startswith("causation leads to → effect")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([6, 10, 20]))
def test_the_two_bars_together_are_the_score(words: float, meaning: float, alpha: float, cells: int) -> None:
    found = hit(words=words, meaning=meaning, alpha=alpha)
    pieces = bar(found, alpha, cells)
    keyword, semantic, rest = (len(piece.text) for piece in pieces)
    assert keyword + semantic + rest == cells
    assert abs(keyword + semantic - found.score * cells) <= 1


def test_bars_differ_by_their_signs_and_not_only_by_colour() -> None:
    keyword, semantic, _ = bar(hit(words=1, meaning=1, alpha=0.5), 0.5, 10)
    assert (keyword.text, semantic.text) == ("█████", "▒▒▒▒▒")


@pytest.mark.case("U07")
@given(st.integers(12, 140), st.sampled_from(HOSTILE_TEXTS), st.booleans(), st.booleans())
def test_every_row_is_exactly_as_wide_as_its_list(cells: int, text: str, is_cursor: bool, is_marked: bool) -> None:
    for found in (hit(text), row(text), related(text, label=text)):
        for line in texts(found, cells=cells, is_cursor=is_cursor, is_marked=is_marked):
            assert cell_len(line) == cells


@pytest.mark.case("U05", "T05")
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_no_row_holds_a_control_character(text: str) -> None:
    for found in (hit(text), row(text), related(text, label=text)):
        assert all(c >= " " and not "\x7f" <= c <= "\x9f" for line in texts(found) for c in line)


@pytest.mark.case("U01", "T01")
@pytest.mark.parametrize("text", ["[OPS-1234] fix", "[/etc/app]", "a[0]", "[bold red]x", "[/x]", "x[k=v:"])
def test_square_brackets_are_shown_as_they_stand(text: str) -> None:
    assert text in texts(row(text))[1]


def test_cursor_and_mark_are_signs() -> None:
    first, second = texts(row(), is_cursor=True, is_marked=True)
    assert first.startswith("▌✓")
    assert second.startswith("▌ ")


def test_what_is_special_about_a_row_is_said_in_words() -> None:
    assert texts(hit(flags=frozenset({"no-vector"})))[1].strip() == "[no vector] plain words"
    assert (
        texts(row(problems=("created_at: 'soon' is not a time",)))[1].strip().startswith("[unreadable created_at]")
    )


def test_a_narrow_list_leaves_out_columns_and_keeps_score_tier_and_age() -> None:
    wide, _ = hit_lines(hit(), RowLook(120, NOW_MS, alpha=0.4))
    narrow, _ = hit_lines(hit(), RowLook(30, NOW_MS, alpha=0.4))
    assert "3f2a9c1e" in text_of(wide)
    assert text_of(narrow).split() == ["0.772", "███▒▒·", "longterm", "3h"]


def test_a_row_of_any_kind_knows_its_memory() -> None:
    plain = row()
    assert memory_of(hit()) == memory_of(plain) == plain
    assert memory_of(related("plain words")) == plain


def test_a_row_of_the_store_has_no_score() -> None:
    first, _ = node_lines(row(), RowLook(78, NOW_MS))
    assert "█" not in text_of(first)
