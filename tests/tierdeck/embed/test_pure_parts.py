"""The pure parts: vectors checked, texts cut, waits counted, means taken."""

from __future__ import annotations

import email.utils
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.embed.batch_sender import retry_delay_s
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.embed.remote import retry_after_s
from tierdeck.embed.text_fit import MAX_TEXT_TOKENS, first_fitting, fit_text, token_bound
from tierdeck.errors import VectorRefusedError
from tierdeck.secret_scan import has_secret
from tierdeck.vectors.mean_vector import is_due, mean_vector
from tierdeck.vectors.unit_vectors import unit_vector

numbers = st.floats(-1e300, 1e300, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-300)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_a_vector_keeps_its_direction_at_length_one_whatever_its_size(values: list[float]) -> None:
    vector = np.array(values)
    if not any(values):
        with pytest.raises(VectorRefusedError, match="all zeros"):
            unit_vector(vector, len(values))
        return
    unit = unit_vector(vector, len(values))
    assert unit.dtype == np.float32
    assert float(np.linalg.norm(unit.astype(np.float64))) == pytest.approx(1.0, abs=1e-6)
    largest = int(np.argmax(np.abs(vector)))
    assert math.copysign(1, unit[largest]) == math.copysign(1, values[largest])


@pytest.mark.case("E05")
@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([0.0, 0.0], "all zeros"),
        ([-0.0, 0.0], "all zeros"),
        ([float("nan"), 1.0], "NaN"),
        ([float("inf"), 1.0], "infinite"),
        ([float("-inf"), float("nan")], "NaN"),
        ([1.0], "has 1 numbers, 2 are expected"),
        ([1.0, 2.0, 3.0], "has 3 numbers, 2 are expected"),
        ([], "has 0 numbers, 2 are expected"),
    ],
)
def test_a_vector_that_must_not_enter_names_whose_it_is_and_why(values: list[float], why: str) -> None:
    with pytest.raises(VectorRefusedError, match=f"^embed node-7: .*{why}"):
        unit_vector(np.array(values), 2, of="node-7")


@given(st.text(max_size=300), st.integers(0, 12))
def test_a_text_that_is_cut_is_a_beginning_of_itself_and_fits(text: str, times: int) -> None:
    whole = text * 2**times
    kept, note = fit_text(whole)
    assert whole.startswith(kept)
    assert token_bound(kept) <= MAX_TEXT_TOKENS
    assert (note is None) == (kept == whole)
    assert note is None or token_bound(kept) > MAX_TEXT_TOKENS - 4  # as much as fits


@given(st.lists(st.integers(0, 500), max_size=30), st.integers(1, 1_000))
def test_a_request_takes_as_many_texts_as_fit_and_at_least_one(bounds: list[int], limit: int) -> None:
    count = first_fitting(bounds, limit)
    assert count <= len(bounds)
    assert not bounds or count >= 1
    assert count <= 1 or sum(bounds[:count]) <= limit
    assert count == len(bounds) or sum(bounds[: count + 1]) > limit


@given(st.integers(1, 60), st.floats(0, 1))
def test_waits_double_up_to_half_a_minute_and_are_never_the_same_for_all(attempt: int, jitter: float) -> None:
    wait = retry_delay_s(attempt, None, jitter)
    full = min(30.0, 0.5 * 2 ** (attempt - 1))
    assert full / 2 <= wait <= full


@given(st.integers(1, 60), st.floats(0, 1_000), st.floats(0, 1))
def test_a_wait_that_is_asked_for_is_never_shortened(attempt: int, asked: float, jitter: float) -> None:
    assert asked <= retry_delay_s(attempt, asked, jitter) <= asked + 0.1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "١٢"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_what_a_provider_asks_to_wait_is_read_as_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, 1_000_000.0) == seconds


def test_the_mean_lies_near_the_probes_for_few_vectors_and_near_the_vectors_for_many() -> None:
    probe, vector = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert mean_vector(np.zeros(2), 0, probe).tolist() == [1.0, 0.0]
    assert mean_vector(100 * vector, 100, probe).tolist() == [0.5, 0.5]
    assert mean_vector(1e6 * vector, 1_000_000, probe)[1] > 0.999


def test_the_mean_is_taken_anew_at_one_two_four_and_so_on() -> None:
    taken: list[int] = []
    mean_vectors = 0
    for vectors in range(1, 70):
        if is_due(vectors, mean_vectors, has_mean=bool(taken)):
            taken.append(vectors)
            mean_vectors = vectors
    assert taken == [1, 2, 4, 8, 16, 32, 64]


def test_the_probe_sentences_are_64_different_harmless_ones() -> None:
    assert len(set(PROBE_SENTENCES)) == len(PROBE_SENTENCES) == 64
    assert not any(has_secret(sentence) for sentence in PROBE_SENTENCES)
