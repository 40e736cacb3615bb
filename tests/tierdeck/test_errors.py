"""The tree of errors: what is drawn is what there is."""

from __future__ import annotations

import re

from tierdeck import errors
from tierdeck.errors import TierdeckError


def every_class(root: type[TierdeckError]) -> list[tuple[int, str, int]]:
    """Depth, name and exit code of a class and all below it, in the order they are defined."""
    found = [(0, root.__name__, root.exit_code)]
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            found += [(depth + 1, name, code) for depth, name, code in every_class(child)]
    return found


def test_the_tree_drawn_in_the_module_is_the_tree_of_the_classes() -> None:
    drawn = re.findall(r"^    ((?:[|`] ?[ -] ?)*)(\w+Error) +(\d+)", errors.__doc__ or "", re.MULTILINE)
    assert [(len(bars) // 3, name, int(code)) for bars, name, code in drawn] == every_class(TierdeckError)
