"""A function of somebody else's, with a few of the names that it looks up replaced. Pure."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def rebound(function: FunctionType, **names: object) -> Callable[..., Any]:
    """The function's own code, for this caller only; its module keeps its names.

    Args:
        names: what stands for which name of its module.
    """
    # Setting the names in the module would reach every other run in the process; the alternative is a copy of it.
    around = {**function.__globals__, **names}
    again = FunctionType(function.__code__, around, function.__name__, function.__defaults__, function.__closure__)
    again.__kwdefaults__ = function.__kwdefaults__
    return again
