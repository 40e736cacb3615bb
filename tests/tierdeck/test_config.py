"""Settings as values: the defaults that the specification names, and the check of alpha."""

from __future__ import annotations

import math

import pytest

from tierdeck.config import Settings, checked_alpha
from tierdeck.errors import InvalidValueError


@pytest.mark.spec("SPEC-09.02")
def test_the_default_remote_model_is_the_one_the_specification_names() -> None:
    assert (Settings().embedding.model, Settings().embedding.dimensions) == ("text-embedding-3-small", 1536)


def test_nothing_is_sent_anywhere_by_default() -> None:
    assert Settings().embedding.provider == "auto"
    assert Settings().embedding.send_secrets is False


@pytest.mark.spec("SPEC-09.05")
def test_alpha_is_a_half_unless_set() -> None:
    assert Settings().search.alpha == 0.5


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.37, 1.0])
def test_a_number_from_0_to_1_is_an_alpha(value: float) -> None:
    assert checked_alpha(value) == value


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -0.001, 1.001, 2, 10**400, True], ids=lambda v: f"{v!r:.20}"
)
def test_anything_else_is_refused_as_alpha(value: float) -> None:
    with pytest.raises(InvalidValueError, match="set alpha"):
        checked_alpha(value)
