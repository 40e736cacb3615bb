"""How much a token counts: from counts of texts to weights, and back from bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.vectors.token_weights import HALF, MIN_TEXTS, NEUTRAL_TEXTS, TokenWeights, read_weights, weigh


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=50))
def test_the_more_texts_hold_a_token_the_less_it_counts(held_by: list[int]) -> None:
    table = weigh(np.array(held_by), 1_000, 1_000).table(len(held_by))
    order = np.argsort(held_by, kind="stable")
    assert (np.diff(table[order]) <= 0).all()
    assert ((table > 0) & (table <= 1)).all()


def test_a_token_of_every_text_counts_a_quarter_and_a_rare_one_as_before() -> None:
    weights = weigh(np.array([10_000, 5, 0]), 10_000, 10_000)
    part = 10_000 / (10_000 + NEUTRAL_TEXTS)
    assert weights.tokens == (0,)
    assert weights.table(3) == pytest.approx([HALF / (HALF + part), 1.0, 1.0])


def test_too_few_texts_tell_nothing() -> None:
    assert weigh(np.array([MIN_TEXTS - 1]), MIN_TEXTS - 1, MIN_TEXTS - 1).tokens == ()
    assert weigh(np.array([MIN_TEXTS]), MIN_TEXTS, MIN_TEXTS).tokens == (0,)


@given(st.dictionaries(st.integers(0, 2**31 - 1), st.sampled_from([0.25, 0.5, 0.75, 1.0]), max_size=20))
def test_weights_come_back_from_their_bytes_under_the_same_name(by_token: dict[int, float]) -> None:
    weights = TokenWeights(tuple(sorted(by_token)), tuple(by_token[key] for key in sorted(by_token)), 7)
    assert read_weights(weights.to_bytes(), 7) == weights
    assert read_weights(weights.to_bytes(), 9).id == weights.id


@pytest.mark.parametrize(
    "data",
    [
        b"\x01" * 7,
        np.array([2, 1], "<i4").tobytes() + np.array([0.5, 0.5], "<f4").tobytes(),
        np.array([-1], "<i4").tobytes() + np.array([0.5], "<f4").tobytes(),
        np.array([1], "<i4").tobytes() + np.array([np.nan], "<f4").tobytes(),
        np.array([1], "<i4").tobytes() + np.array([1.5], "<f4").tobytes(),
        np.array([1], "<i4").tobytes() + np.array([0.0], "<f4").tobytes(),
    ],
    ids=["cut", "out of order", "negative token", "NaN", "above 1", "zero"],
)
def test_bytes_that_are_no_weights_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"weight|token"):
        read_weights(data, 1)


def test_a_token_that_the_vocabulary_lacks_is_left_out_of_the_table() -> None:
    assert TokenWeights((1, 9), (0.5, 0.5), 1).table(3).tolist() == [1.0, 0.5, 1.0]


def test_weights_drift_when_one_token_became_common_and_not_by_small_steps() -> None:
    before = weigh(np.array([500, 0]), 1_000, 1_000)
    assert not before.has_drifted(weigh(np.array([560, 10]), 1_000, 2_000))
    assert before.has_drifted(weigh(np.array([500, 500]), 1_000, 2_000))
    assert before.has_drifted(weigh(np.array([0, 0]), 1_000, 2_000))
