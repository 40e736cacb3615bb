"""JSON text read with finite numbers only: `NaN` and `1e999` are no JSON, and no column could hold them."""

from __future__ import annotations

import json
import math


def parse_json(text: str) -> object:
    """The value that the text stands for.

    Raises:
        ValueError: it is not JSON, or a number in it is not finite.
        RecursionError: it is nested too deeply.
    """
    found: object = _DECODER.decode(text)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is not a finite number")
    return number


# Made once: `json.loads` makes one for each call that says how to read numbers.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
