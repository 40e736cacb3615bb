"""Hostile bytes: refused as damage, or harmless; never a crash, a hang, an import or memory without bound."""

from __future__ import annotations

import subprocess
import sys
import threading
import tracemalloc
from typing import Any

import msgpack
import numpy as np
import pytest

from tests.tierdeck.checkpoint.every_value import round_trip, same
from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.pieces import pack_plain
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, MB
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_pool, decode_unit
from tierdeck.checkpoint.values.encode import POOLED, encode_units
from tierdeck.checkpoint.values.nodes import Source
from tierdeck.errors import CheckpointLimitError, DamagedCheckpointError


def decoded(node: object, **more: Any) -> object:
    return decode_unit(msgpack.packb(node, unicode_errors="surrogatepass"), form=0, **more)


@pytest.mark.case("C17", "K17")
@pytest.mark.parametrize(
    "raw",
    [
        msgpack.packb(msgpack.ExtType(5, msgpack.packb(("math", "factorial", 5)))),
        msgpack.packb([0, msgpack.ExtType(0, b"")]),
        msgpack.packb([0, msgpack.Timestamp(0)]),
        msgpack.packb({"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "true"}}),
        msgpack.packb([0, {}]),
        b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.",
        msgpack.packb(["os.system", "true"]),
        msgpack.packb([6, "os.system", "k", 1]),
        msgpack.packb([48, "class", "os.system"]),
        msgpack.packb([29, "os.system", "true"]),
        msgpack.packb([27, "../../../etc/passwd"]),
        msgpack.packb([27, "os.path"]),
        msgpack.packb([40, "O", [1, 1], "C", b"\0" * 8]),
        msgpack.packb([40, "i4,O", [1, 1], "C", b"\0" * 12]),
        msgpack.packb([40, [1, "struct", [1, "a"], [1, "O"], [1, 0], [1, None], 8, False], [1, 1], "C", b"\0" * 8]),
        msgpack.packb([42, "os", "system", b"true"]),
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_a_foreign_type_or_a_name_in_the_bytes_is_refused_and_nothing_imported(raw: bytes) -> None:
    decoded([40, "<i4", [1, 1], "C", b"\0" * 4])  # numpy is there from now on
    before = set(sys.modules)
    for minor in (0, 7):
        with pytest.raises(DamagedCheckpointError):
            decode_unit(raw, form=0, minor=minor)
    assert set(sys.modules) == before


def test_a_record_that_names_a_class_of_ours_is_text() -> None:
    made: Any = decoded([48, "dataclass", "os.system", "command", "true"])
    assert made.type_name == "os.system"
    assert made.fields == {"command": "true"}
    inert: Any = decoded([49, "function", "os.system", "import os; os.system('true')"])
    assert inert.source == "import os; os.system('true')"


@pytest.mark.parametrize(
    "node",
    [
        [], [-1, 2], [200], [True, 1], [1.0], [None], [[0]], [0.5, 1], ["0"], [2, 1], [2, 1, 2, 1, 3],
        [3, 1, 1], [4, 1, 1.0], [2, [0], 1], [3, [0]], [5, -1], [5, 1, 1, 2], [5, "a"], [5], [6], [6, "open"],
        [7, 1], [9], [9, 0], [9, -1], [10, 0], [9, 1.0], [16, b"\0"], [16, 5], [17, 1, 2], [18, "x"], [18, 5],
        [19, 1, 0], [19, 1, -2], [19, 1.0, 2], [20, 0, 1, 0], [20, 0.5, 1, 1], [21, 1, 2],
        [21, [21, 1, 2, 3], None, None], [22, 0], [22, 10**9], [23, 2024, 13, 1, 0, 0, 0, 0, 0, None],
        [23, 2024, 1, 1, 0, 0, 0, 0, 2, None], [23, 2024, 1, 1, 0, 0, 0, 0, 0, "UTC"], [24, 1],
        [25, 10**12, 0, 0], [26, 2, 0, 0, None], [28, b"short", None], [28, b"\0" * 16, 7],
        [29, "PurePosixPath", 5], [30, "a", 128], [30, 5, 0], [31, "text"],
        [40, "<f4", [1, 2], "C", b"\0" * 4], [40, "<f4", [1, -1], "C", b""],
        [40, "<f4", [0, 1], "C", b"\0" * 4], [40, "<f4", [1, 1], "K", b"\0" * 4],
        [40, "V0", [1, 2**40], "C", b""], [40, "S0", [1, 2**40], "C", b""],
        [40, "<f4", [1, 0, 2**62, 2**62], "C", b""], [40, "T", [1, 1], "C", b"\0" * 16], [41, "<f4", b""],
        [41, "O", b"\0" * 8], [41, "<U1", b"\xff" * 4],
        [48, "dataclass", "a.B", 1, 2], [48, "dataclass", 5], [49, "thing", "x", None],
        [50, 1, 2],
    ],
    ids=lambda node: repr(node)[:40],
)  # fmt: skip
def test_operands_that_no_encoder_writes_are_damage(node: object) -> None:
    with pytest.raises(DamagedCheckpointError):
        decoded([0, node])


@pytest.mark.parametrize("raw", [b"", b"\xc1", b"\x91", b"\x92\x00", b"\x91\x00\x00", b"\xa1\xff", b"\xd9\x05ab"])
def test_bytes_that_are_no_value_are_damage(raw: bytes) -> None:
    with pytest.raises(DamagedCheckpointError):
        decode_unit(raw, form=0)


@pytest.mark.case("K17")
def test_a_tag_of_a_newer_version_becomes_a_placeholder_that_is_written_back() -> None:
    node = [0, [99, 1, [0, "a"], [2, "k", [98]]], "rest"]
    found: Any = decoded(node, minor=7)
    assert type(found[0]) is Placeholder
    assert found[0].operands[1] == ["a"]
    assert found[1] == "rest"
    [unit] = encode_units([Source("x", found)]).units
    assert unit.raw == msgpack.packb(node)
    with pytest.raises(DamagedCheckpointError, match="tag 98"):
        decoded(node)


def test_what_this_machine_lacks_becomes_a_placeholder_that_is_written_back() -> None:
    node = [0, [23, 2024, 1, 2, 3, 4, 5, 6, 0, [27, "Mars/Olympus"]], [30, "(?P<a>x)(?P<a>y)", 32]]
    found: Any = decoded(node)
    assert [type(item) for item in found] == [Placeholder, Placeholder]
    assert "Mars/Olympus" in found[0].why
    [unit] = encode_units([Source("x", found)]).units
    assert unit.raw == msgpack.packb(node)


@pytest.mark.case("K23")
def test_the_deepest_value_is_written_and_read_in_a_thread_with_a_small_stack() -> None:
    value: Any = ()
    for number in range(200):
        value = (value, {"k": [value]}) if number % 2 else (value,)
    deepest: list[object] = []
    for _ in range(399):
        deepest = [deepest]
    hostile = b"\x91" * 1023 + b"\x00"
    found: dict[str, Any] = {}

    def work() -> None:
        found["value"] = round_trip(x=(value,), y=deepest)
        try:
            decode_unit(hostile, form=0)
        except DamagedCheckpointError as e:
            found["error"] = e

    old = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(old)
    thread.join()
    assert same(found["value"]["y"], deepest)
    assert same(found["value"]["x"], (value,))
    assert "error" in found


def test_headers_that_claim_more_than_there_is_allocate_nothing() -> None:
    claims = b"\xdd\x00\xff\xff\xff" * 900 + b"\0" * 20_000_000
    with pytest.raises(DamagedCheckpointError, match="claims more"):
        decode_unit(claims, form=0)


def test_millions_of_empty_lists_are_refused_by_the_memory_limit() -> None:
    raw = b"\xdd" + (2_000_001).to_bytes(4, "big") + b"\x00" + b"\x91\x00" * 2_000_000
    with pytest.raises(CheckpointLimitError, match="100,000,000"):
        decode_unit(raw, form=0, budget=Budget(100_000_000))


def test_keys_that_collide_on_purpose_are_refused_before_a_dict_is_made() -> None:
    prime = (1 << 61) - 1
    flat: list[object] = [tags.SET]
    for number in range(1, 20_000):
        value = number * prime
        flat.append([tags.INT, value.to_bytes(12, "little")] if value >= 2**64 else value)
    with pytest.raises(DamagedCheckpointError, match="look alike"):
        decoded(flat)


def test_a_key_whose_hash_takes_for_ever_is_refused() -> None:
    twice: list[tuple[object, object]] = [(None, [1, [9, number], [9, number]]) for number in range(60)]
    raw = pool_of((None, [1]), *twice, (None, [2, [9, 60], 1]))
    with pytest.raises(DamagedCheckpointError, match="too many steps"):
        decode_unit(raw, form=POOLED, budget=Budget(MB, hash_steps=100_000))


def pool_of(*objects: tuple[object, object]) -> bytes:
    bodies = [pack_plain(body) for _, body in objects]
    index = pack_plain(
        [part for (head, _), body in zip(objects, bodies, strict=True) for part in (head, len(body))]
    )
    return len(index).to_bytes(4, "little") + index + b"".join(bodies)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\0\0\0\0", b"\xff\xff\xff\xff", pool_of((None, [9, 0])), pool_of((None, [9, 1]), (None, 5)),
        pool_of((5, [0])), pool_of(([5, 1], [0, 1, 2])), pool_of((0, 5)), pool_of((0, [1])), pool_of(([0, 1], [0])),
        pool_of((99, [0])), pool_of((1, [0])), pool_of(("0", [0])), pool_of((2, [0, 1])), pool_of((0, [0]))[:-1],
        pool_of((0, [0])) + b"x", pool_of(([48, "dataclass"], [0])), pool_of((None, [10, 0])), pool_of((True, [0])),
    ],
    ids=lambda raw: repr(raw[:24]),
)  # fmt: skip
def test_a_pool_that_does_not_hold_together_is_damage(raw: bytes) -> None:
    with pytest.raises(DamagedCheckpointError):
        decode_unit(raw, form=POOLED)


def test_a_pool_with_a_shell_of_a_newer_version_keeps_its_cycle() -> None:
    raw = pool_of(([99, 5], [0, [9, 0], "a"]), (None, [0, [9, 0]]))
    found: Any = decode_unit(raw, form=POOLED, minor=7)
    assert found[0].operands[1] is found[0]
    assert found[0].operands[0] == 5


def test_the_objects_of_a_pool_come_by_their_numbers() -> None:
    assert decode_pool(pool_of((0, [0, 1]), (None, "x"), (2, [0, "k", [9, 0]]))) == [[1], "x", {"k": [1]}]


@pytest.mark.case("K08")
def test_arrays_are_exact_and_writable() -> None:
    found: Any = round_trip(a=np.zeros(2, [("a", "i4")]), b=np.arange(3.0), c=np.array(1))
    assert found["a"].dtype == np.dtype([("a", "i4")])
    found["b"] += 1
    assert list(found["b"]) == [1, 2, 3]
    found["c"][...] = 5
    found["a"]["a"] = 7


def test_the_gaps_of_a_structured_array_are_not_saved() -> None:
    layout = np.dtype({"names": ["a"], "formats": ["i1"], "itemsize": 64})
    dirty = np.frombuffer(b"secret!!" * 8, layout).copy()
    [unit] = encode_units([Source("x", dirty)]).units
    assert b"ecret" not in unit.raw
    assert round_trip(x=dirty) == {"x": dirty}


def test_a_pattern_that_would_take_minutes_to_compile_is_left_as_it_is() -> None:
    slow = [30, "[^\x00-\uffff]" * 100_000, 32]
    many = [0, *([30, "[^\x00-\uffff]" * 790, 32],) * 12]
    assert type(decoded(slow)) is Placeholder
    found: Any = decoded(many)
    assert [type(each) is Placeholder for each in found] == [False] * 10 + [True] * 2


def test_an_index_of_empty_lists_is_refused_by_the_memory_limit() -> None:
    index = b"\xdd" + (2_000_000).to_bytes(4, "big") + b"\x90" * 2_000_000
    raw = len(index).to_bytes(4, "little") + index
    with pytest.raises(CheckpointLimitError):
        decode_pool(raw, budget=Budget(100 * MB))


def test_plain_values_never_take_more_than_the_console_allows_for_a_section() -> None:
    texts = [f"{number:02x}" for number in range(256)] * 4_000
    raw = pack_plain([0, *texts])
    tracemalloc.start()
    try:
        decode_unit(raw, form=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / len(raw) < CONSOLE_LIMITS.memory_bytes / CONSOLE_LIMITS.section_bytes


CHAINS = {
    "deques": "(([5, None], [0, [9, n - 1]] if n else [0]) for n in range(100_000))",
    "defaultdicts": "(([6, None], [0, 1, [9, n - 1]] if n else [0]) for n in range(100_000))",
    "a circle of deques": "(([5, None], [0, [9, (n - 1) % 100_000]]) for n in range(100_000))",
    "a chain before damage": "((0, [7]) if n == 99_999 else ([5, None], [0, [9, n - 1]]) for n in range(100_000))",
}


@pytest.mark.parametrize("objects", CHAINS.values(), ids=CHAINS)
def test_a_long_chain_of_what_is_freed_by_recursion_does_not_end_the_process(objects: str) -> None:
    program = f"""
import gc
from tests.tierdeck.checkpoint.values.test_decode import pool_of
from tierdeck.checkpoint.values.decode import decode_pool
from tierdeck.errors import DamagedCheckpointError
try:
    decode_pool(pool_of(*{objects}))
except DamagedCheckpointError:
    gc.collect()
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "refused\n")


def test_a_chain_of_lists_of_any_length_is_read() -> None:
    pool = decode_pool(pool_of(*((0, [0, [9, n - 1]] if n else [0]) for n in range(50_000))))
    assert pool[49_999] == [pool[49_998]]
