"""One formula, one order, and what happens at every edge of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.model import NodeRow, NodeType, Tier
from tierdeck.search.answer.fusion import combined, keyword_scores, ranked, ranks
from tierdeck.search.answer.hit import Hit, KeywordPart, SemanticPart

_UNIT = st.floats(0, 1)


def hit(
    name: str,
    keyword: float | None = None,
    semantic: float | None = None,
    *,
    confidence: float = 0.5,
    last_accessed_ms: int | None = None,
) -> Hit:
    row = NodeRow(
        name, NodeType.FACT, Tier.TASK, confidence, name, len(name), None, last_accessed_ms, access_count=0
    )
    words = None if keyword is None else KeywordPart(keyword, keyword, 1.0, 1, 1, 1)
    meaning = None if semantic is None else SemanticPart(max(semantic, 0.0), semantic, semantic, 1)
    return Hit(row, 0.0, words, meaning)


def names(hits: tuple[Hit, ...]) -> list[str]:
    return [h.row.id for h in hits]


@pytest.mark.spec("SPEC-09.04")
@given(_UNIT, _UNIT, _UNIT)
def test_the_score_is_alpha_times_semantic_plus_the_rest_times_keyword(alpha: float, sem: float, kw: float) -> None:
    [only] = ranked([hit("a", kw, sem)], alpha) or (hit("a"),)
    assert only.score == pytest.approx(alpha * sem + (1 - alpha) * kw)
    assert 0.0 <= combined(sem, kw, alpha) <= 1.0 + 1e-12


@pytest.mark.spec("SPEC-09.04")
@given(st.lists(st.tuples(st.none() | _UNIT, st.none() | st.floats(-1, 1)), max_size=20), _UNIT)
def test_the_order_is_always_that_of_the_score_shown(
    parts: list[tuple[float | None, float | None]], alpha: float
) -> None:
    found = ranked([hit(str(n), kw, sem) for n, (kw, sem) in enumerate(parts)], alpha)
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    assert all(0.0 <= h.score <= 1.0 for h in found)


@pytest.mark.spec("SPEC-09.04")
@given(_UNIT, _UNIT, _UNIT, st.floats(0, 0.5))
def test_more_meaning_or_more_words_never_lower_the_score(alpha: float, sem: float, kw: float, more: float) -> None:
    assert combined(sem + more, kw, alpha) >= combined(sem, kw, alpha)
    assert combined(sem, kw + more, alpha) >= combined(sem, kw, alpha)


@pytest.mark.spec("SPEC-09.05")
def test_without_a_keyword_hit_the_order_is_that_of_meaning_weighed_by_alpha() -> None:
    found = ranked([hit("far", None, 0.2), hit("near", None, 0.8)], 0.4)
    assert names(found) == ["near", "far"]
    assert found[0].score == pytest.approx(0.32)


def test_a_memory_without_a_vector_gets_nothing_for_meaning_and_nothing_is_scaled_up() -> None:
    [only] = ranked([hit("a", 1.0, None)], 0.7)
    assert only.score == pytest.approx(0.3)


@pytest.mark.case("S15")
def test_a_keyword_hit_without_a_neighbour_is_weighed_like_any_other() -> None:
    found = ranked([hit("A", 1.0, 0.0), hit("B", None, 0.9)], 0.7)
    assert names(found) == ["B", "A"]
    assert found[1].score <= 0.3 + 1e-12


def test_one_hit_or_equal_hits_score_one_each_without_a_division_by_zero() -> None:
    assert keyword_scores({"a": 3.0}, 3.0) == {"a": 1.0}
    assert keyword_scores({"a": 0.0, "b": 0.0}, 0.0) == {"a": 1.0, "b": 1.0}


@pytest.mark.case("S13")
def test_a_match_scores_above_zero_however_weak_it_is() -> None:
    scores = keyword_scores({"best": 12.0, "weak": 1e-30, "none": 0.0}, 12.0)
    assert scores["best"] == 1.0
    assert scores["weak"] > 0
    assert scores["none"] > 0


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1e6), min_size=1))
def test_keyword_scores_keep_the_order_and_stay_in_bounds(raw: dict[str, float]) -> None:
    scores = keyword_scores(raw, max(raw.values()))
    assert all(0 < score <= 1 for score in scores.values())
    by_raw = sorted(raw, key=lambda key: raw[key])
    assert [scores[key] for key in by_raw] == sorted(scores.values())


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_at_the_ends_what_scores_nothing_is_not_shown(alpha: float) -> None:
    found = ranked([hit("words", 0.5, None), hit("meaning", None, 0.5), hit("neither", None, -0.2)], alpha)
    assert names(found) == (["words"] if alpha == 0 else ["meaning"])


@pytest.mark.case("S19")
def test_between_the_ends_nothing_is_hidden_by_a_low_score() -> None:
    assert names(ranked([hit("only", None, -0.2)], 0.5)) == ["only"]


def test_equal_memories_are_ordered_by_meaning_words_confidence_last_access_and_id() -> None:
    hits = [
        hit("meaning", 0.4, 0.6),
        hit("words", 0.6, 0.4),
        hit("sure", 0.5, 0.5, confidence=0.9),
        hit("recent", 0.5, 0.5, last_accessed_ms=2),
        hit("older", 0.5, 0.5, last_accessed_ms=1),
        hit("a", 0.5, 0.5),
        hit("b", 0.5, 0.5),
    ]
    expected = ["meaning", "sure", "recent", "older", "a", "b", "words"]
    rng = random.Random(1)
    for _ in range(100):
        rng.shuffle(hits)
        assert names(ranked(hits, 0.5)) == expected


def test_ranks_go_by_score_and_equal_ones_by_id() -> None:
    assert ranks({"c": 0.2, "b": 0.2, "a": -0.5, "d": 0.9}) == {"d": 1, "b": 2, "c": 3, "a": 4}
    assert ranks({}) == {}
