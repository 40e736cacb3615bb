"""Every requirement has a test that carries its id, or stands on the written list of what is still open."""

from __future__ import annotations

import re
from pathlib import Path

REQUIREMENTS = frozenset(
    [f"SPEC-02.{n:02d}" for n in range(1, 27)]
    + [f"SPEC-03.{n:02d}" for n in range(18, 25)]
    + [f"SPEC-09.{n:02d}" for n in (*range(1, 8), *range(10, 16), *range(20, 27))]
)

# What has no test yet; the list only ever shrinks.
OPEN: frozenset[str] = frozenset()

_MARK = re.compile(r"pytest\.mark\.spec\(([^)]*)\)")
_ID = re.compile(r"SPEC-\d\d\.\d\d")


def ids_with_a_test() -> set[str]:
    found: set[str] = set()
    for file in Path(__file__).parent.rglob("test_*.py"):
        if file != Path(__file__):
            for mark in _MARK.findall(file.read_text("utf-8")):
                found.update(_ID.findall(mark))
    return found


def test_every_requirement_has_a_test_or_is_listed_as_open() -> None:
    assert REQUIREMENTS - ids_with_a_test() - OPEN == set()


def test_no_requirement_with_a_test_is_still_listed_as_open() -> None:
    assert OPEN & ids_with_a_test() == set()


def test_no_test_carries_an_id_that_does_not_exist() -> None:
    assert ids_with_a_test() - REQUIREMENTS == set()
