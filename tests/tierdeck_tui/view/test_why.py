from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck_tui.view.rows import answer, hit
from tierdeck_tui.view.why import sum_line, why_lines


@pytest.mark.spec("SPEC-09.04")
def test_the_score_is_told_as_its_sum() -> None:
    assert sum_line(hit(), 0.4) == "0.772 = 0.4×0.91 + 0.6×0.68"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_numbers_shown_add_up_to_the_score_shown(words: float, meaning: float, alpha: float) -> None:
    shown = sum_line(hit(words=words, meaning=meaning, alpha=alpha), alpha)
    total, *parts = (float(number) for number in re.findall(r"[\d.]+", shown))
    assert parts[0] * parts[1] + parts[2] * parts[3] == pytest.approx(total, abs=0.0025)


def test_both_sides_tell_where_their_number_comes_from() -> None:
    found = hit()
    assert why_lines(found, answer(found)) == (
        "0.772 = 0.4×0.91 + 0.6×0.68  (meaning + words)",
        "words    0.68  bm25 7.31 of 10.75 · terms 2/5 · rank 3",
        "meaning  0.91  cosine 0.830 · centred 0.910 · rank 1",
        "model    wordllama-256",
    )


def test_a_missing_side_says_why_it_counts_nothing() -> None:
    no_words = hit(words=None)
    assert "none of the words" in why_lines(no_words, answer(no_words))[1]
    no_vector = hit(meaning=None, flags=frozenset({"no-vector"}))
    assert "no vector yet" in why_lines(no_vector, answer(no_vector))[2]
    stale = hit(meaning=None, flags=frozenset({"stale-vector"}))
    assert "older text" in why_lines(stale, answer(stale))[2]
    off = hit(meaning=None, flags=frozenset({"embedding-off"}))
    assert "embedding is off" in why_lines(off, answer(off))[2]
    degraded = why_lines(off, answer(off, degraded="no model [/x]\x1b", alpha=0.0))
    assert "embedding is off" in degraded[2]
    plain = hit(meaning=None)
    assert (
        why_lines(plain, answer(plain, degraded="no model [/x]\x1b", alpha=0.0))[2] == "meaning  –  no model [/x]␛"
    )
    assert "not asked for at alpha 1" in why_lines(no_words, answer(no_words, alpha=1.0))[1]
    assert "not asked for at alpha 0" in why_lines(plain, answer(plain, alpha=0.0))[2]


def test_archived_and_secret_memories_say_so() -> None:
    found = hit(flags=frozenset({"archived", "secret"}))
    assert [text.split()[0] for text in why_lines(found, answer(found))[4:]] == ["archived:", "holds"]


def test_a_raw_score_of_a_small_store_does_not_round_to_nothing() -> None:
    found = hit()
    assert found.keyword is not None
    small = replace(found, keyword=replace(found.keyword, bm25=1.2e-6, best_bm25=2e-6, inside=0.5))
    assert "bm25 1.2e-06 + 0.50 inside words of 2.0e-06" in why_lines(small, answer(small))[1]
