"""Equal values give equal bytes, in whatever process and whatever order they were put together."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tierdeck.checkpoint.every_value import KEYS
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source

_PROGRAM = """
import hashlib
from tests.tierdeck.checkpoint.sample import file_bytes, sample, variables
more = {"s": {str(n) for n in range(50)} | {(str(n), frozenset({str(n), n, None})) for n in range(20)}}
data = file_bytes(sample(repl_state={**variables(), **more}))
print(hashlib.sha256(data).hexdigest())
"""


@pytest.mark.spec("SPEC-09.22")
def test_the_same_checkpoint_is_the_same_file_in_every_process() -> None:
    found = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, env=environment
        )
        found.add(done.stdout)
    assert len(found) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(KEYS, max_size=12), st.randoms(use_true_random=False))
def test_a_set_gives_the_same_bytes_however_it_was_filled(items: list[object], random: object) -> None:
    kept = list(dict.fromkeys(items))
    shuffled = kept[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random of hypothesis
    assert raw_of(set(kept)) == raw_of(set(shuffled))


def raw_of(value: object) -> bytes:
    [unit] = encode_units([Source("x", value)]).units
    return unit.raw


def test_sets_of_tuples_that_share_their_parts_take_no_time() -> None:
    shared: object = ("a",)
    for _ in range(20):
        shared = (shared, shared)
    assert raw_of({(shared, 1), (shared, 2)})
