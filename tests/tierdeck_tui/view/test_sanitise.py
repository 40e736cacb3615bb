"""What reaches a terminal has no power over it and the width it seems to have."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tierdeck_tui.view.sanitise import clusters, cut, pad, visible

# Plain text() rarely draws what matters here, so every kind is drawn on purpose.
NASTY = st.sampled_from(
    "\x00\x07\t\n\r\x1b\x7f\x85\x9b\x9d\xad\u200b\u200c\u200d\u202e\u2028\u2066\ufe0e\ufe0f\ufeff\ud800\udc80\uffff"
    "\u0301\u093f\u094d\u1160\u3164\U0001f3fd\U000e0041\U000e0100\U0001f469\U0001f680\u2699\u26a0\U0001f1e9\U0001f1ea"
    "1a日क‹›⏎"
)
ANY_TEXT = st.lists(NASTY | st.characters(), max_size=40).map("".join)
DRAWN_FORMAT_CHARACTERS = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


@given(ANY_TEXT, st.booleans())
def test_cleaning_twice_changes_nothing_more(text: str, one_line: bool) -> None:
    once = visible(text, one_line=one_line)
    assert visible(once, one_line=one_line) == once


@given(ANY_TEXT, st.booleans())
def test_nothing_that_a_terminal_obeys_or_hides_is_left(text: str, one_line: bool) -> None:
    shown = visible(text, one_line=one_line)
    shown.encode("utf-8")
    allowed = set() if one_line else set("\n\t")
    kinds = {c: unicodedata.category(c) for c in shown if c not in allowed | {"\u200d"} | DRAWN_FORMAT_CHARACTERS}
    assert not {c for c, kind in kinds.items() if kind in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.mark.case("U05", "T05")
def test_every_invisible_character_of_unicode_gets_a_sign() -> None:
    unsafe = [
        chr(c)
        for c in range(0x110000)
        if unicodedata.category(chr(c)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and chr(c) not in DRAWN_FORMAT_CHARACTERS
    ]
    assert [c for c in unsafe if c in visible(f"a{c}b", one_line=True)] == []


@pytest.mark.case("U05", "T04")
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]52;c;cm0gLXJm\x07", "␛]52;c;cm0gLXJm␇"),
        ("\x1b]0;title\x1b\\", "␛]0;title␛\\"),
        ("\x9b2J", "‹009B›2J"),
        ("\x9d0;t\x9c", "‹009D›0;t‹009C›"),
        ("a\u202egpj.exe", "a‹202E›gpj.exe"),
        ("zero\u200bwidth", "zero‹200B›width"),
        ("tag\U000e0041", "tag‹E0041›"),
        ("lone\ud83d", "lone‹D83D›"),
        ("back\rover", "back␍over"),
        ("\x7f\x00", "␡␀"),
    ],
)
def test_text_that_would_drive_the_terminal_is_shown_instead(raw: str, shown: str) -> None:
    assert visible(raw) == shown
    assert visible(raw, one_line=True) == shown


def test_layout_stays_in_a_body_and_becomes_signs_in_a_row() -> None:
    assert visible("a\r\nb\tc\nd") == "a\nb\tc\nd"
    assert visible("a\r\nb\tc\nd", one_line=True) == "a⏎b⇥c⏎d"


@pytest.mark.case("U07", "T07")
def test_a_row_drops_what_terminals_give_different_widths() -> None:
    assert visible("⚙️ 1️⃣ 👍🏽", one_line=True) == "⚙ 1⃣ 👍"
    assert visible("⚙️ 1️⃣ 👍🏽") == "⚙️ 1️⃣ 👍🏽"


@pytest.mark.case("U07")
def test_a_joiner_lives_only_inside_an_emoji() -> None:
    assert visible("👩‍👩‍👧", one_line=True) == "👩‍👩‍👧"
    assert visible("a\u200db") == "a‹200D›b"
    assert visible("👩\u200d") == "👩‹200D›"
    assert visible("\u200d👩") == "‹200D›👩"


def test_a_chain_of_joined_emoji_is_broken_up() -> None:
    assert visible("\u200d".join("👩" * 9)).count("‹200D›") == 1


@given(ANY_TEXT, st.integers(0, 30))
@pytest.mark.case("U07")
def test_a_cut_fits_and_ends_between_clusters(text: str, cells: int) -> None:
    shown = visible(text, one_line=True)
    short = cut(shown, cells)
    assert cell_len(short) <= cells
    if short != shown and cells:
        pieces = [c for c, _ in clusters(shown)]
        kept = short.removesuffix("…")
        assert kept in {"".join(pieces[:i]) for i in range(len(pieces) + 1)}


@given(ANY_TEXT, st.integers(0, 30))
@pytest.mark.case("U07")
def test_padding_gives_exactly_the_cells_asked_for(text: str, cells: int) -> None:
    assert cell_len(pad(visible(text, one_line=True), cells)) == cells


@given(ANY_TEXT)
def test_clusters_leave_nothing_out_and_add_up(text: str) -> None:
    shown = visible(text)
    parts = list(clusters(shown))
    assert "".join(c for c, _ in parts) == shown
    assert sum(width for _, width in parts) == cell_len(shown)


@pytest.mark.case("U07")
@pytest.mark.parametrize(
    ("text", "cells", "short"),
    [
        ("日本語", 4, "日…"),
        ("日本語", 5, "日本…"),
        ("日本語", 6, "日本語"),
        ("👩‍👩‍👧ab", 3, "👩‍👩‍👧…"),
        ("👩‍👩‍👧ab", 2, "…"),
        ("🇩🇪🇫🇷🇯🇵", 4, "🇩🇪…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("plain text", 5, "plai…"),
        ("ab", 0, ""),
        ("ab", 1, "…"),
    ],
)
def test_cuts_by_width_not_by_characters(text: str, cells: int, short: str) -> None:
    assert cut(text, cells) == short


def test_a_cut_reads_only_the_start_of_a_long_text() -> None:
    assert cut("\u65e5" * 5_000_000, 9) == "日日日日…"


def test_a_smear_of_marks_does_not_make_a_long_row() -> None:
    assert len(pad("a" + "\u0301" * 100_000 + "b", 10)) < 50
