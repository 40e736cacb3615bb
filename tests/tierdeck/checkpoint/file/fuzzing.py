"""Files changed at random: what becomes of them, and what must never. Seeded: the same number, the same file.

Three kinds of change: to the file as it lies there, which the digests find; to a section, table or summary whose
digests are then made to fit again, as somebody hostile would; and bytes that never were a file.
"""

from __future__ import annotations

import random
import resource
import struct
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b

from tests.tierdeck.checkpoint.sample import TIGHT, file_bytes, forged, opened, sample
from tierdeck.checkpoint import load_checkpoint, pack_checkpoint
from tierdeck.checkpoint.file.compression import compress
from tierdeck.checkpoint.file.header import pack_head
from tierdeck.checkpoint.file.summary import pack_summary
from tierdeck.checkpoint.file.table import pack_table, parse_table
from tierdeck.checkpoint.kinds.pieces import pack_plain
from tierdeck.checkpoint.kinds.tags import KNOWN
from tierdeck.checkpoint.limits import MB
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_pool, decode_unit
from tierdeck.errors import TierdeckError

# Beyond what the limits in `TIGHT` allow for one unit and one section.
MORE_MEMORY_BYTES = 64 * MB
_TAGS = sorted(KNOWN)
_OPERANDS: list[object] = [
    None, True, False, 0, 1, -1, 2, 7, 2024, 2**31, 2**63, -(2**63), 2**64 - 1, 0.0, -0.5, 1e300, float("nan"), "",
    "a", "UTC", "Europe/Rome", "list", "dataclass", "enum", "module", "PurePosixPath", "1.5", "1E+999999999", "(a",
    "<f4", "<M8[ns]", "|V8", "<U1", "array", "struct", "C", "F", "pandas", "DataFrame", "\ud800", b"", b"\x01",
    bytes(8),
    bytes(16), bytes(400),
]  # fmt: skip
_INTERESTING = bytes(
    [0x00, 0x7F, 0x80, 0x90, 0x91, 0xC0, 0xC1, 0xC4, 0xC7, 0xCB, 0xD4, 0xD9, 0xDC, 0xDD, 0xDF, 0xFF]
)


class Fuzzer:
    """Changed files one after the other, each tried in every way a file is read."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._files = [
            file_bytes(),
            file_bytes(sample(repl_state={"x": 1}, label=None)),
            file_bytes(sample(turn=7)),
        ]
        self._meanings = [_meaning(data) for data in self._files]
        encoded = pack_checkpoint(sample())
        self._units = [(unit.raw, unit.form) for unit in encoded.units]
        self._pools = [pool.raw for pool in encoded.pools]
        self._objects = [decode_pool(raw) for raw in self._pools]
        self.outcomes: Counter[str] = Counter()
        for data in self._files:
            _read_everything(data)
        self._modules = set(sys.modules)
        self._peak_bytes = _peak_bytes()

    def run(self, count: int) -> None:
        """Try so many; an assertion fails, or an error that is none of ours comes out, when one is not held."""
        kinds: list[Callable[[], str]] = [
            self._changed_file, self._changed_unit, self._changed_head, self._changed_table, self._made_up_value,
            self._no_file,
        ]  # fmt: skip
        for number in range(count):
            self.outcomes[kinds[number % len(kinds)]()] += 1
        assert set(sys.modules) == self._modules
        allowed = TIGHT.memory_bytes + 2 * TIGHT.section_bytes + MORE_MEMORY_BYTES
        assert _peak_bytes() - self._peak_bytes < allowed

    def _changed_file(self) -> str:
        which = self._random.randrange(len(self._files))
        data = self._changed(self._files[which])
        try:
            meaning = _meaning(data)
        except TierdeckError as e:
            return f"file: {type(e).__name__}"
        assert meaning == self._meanings[which] or data in self._files
        return "file: the exact value"

    def _changed_unit(self) -> str:
        """A unit's raw bytes changed, with nothing around to find it: the decoder alone."""
        budget = Budget(TIGHT.memory_bytes)
        try:
            if self._random.random() < 0.3:
                decode_pool(self._changed(self._random.choice(self._pools)), budget=budget)
                return "pool: some value"
            raw, form = self._random.choice(self._units)
            minor = self._random.choice([0, 0, 7])
            decode_unit(self._changed(raw), form=form, pool=self._objects[0], minor=minor, budget=budget)
        except TierdeckError as e:
            return f"unit: {type(e).__name__}"
        return "unit: some value"

    def _changed_head(self) -> str:
        """Header or summary changed, and the digests made to fit."""
        data = bytearray(self._random.choice(self._files))
        summary_bytes = struct.unpack_from("<I", data, 16)[0]
        where = self._random.choice([(8, 32), (48, 48 + summary_bytes)])
        for _ in range(self._random.randint(1, 3)):
            data[self._random.randrange(*where)] = self._random.choice(_INTERESTING)
        return self._read(forged(bytes(data)), "head")

    def _changed_table(self) -> str:
        """The table's raw bytes changed, compressed again, and all digests made to fit."""
        data = self._random.choice(self._files)
        file = opened(data)
        raw = self._changed(pack_table(file.table()))
        _, stored = compress(raw, always=True)
        digest = blake2b(stored, digest_size=16).digest()
        summary = pack_summary(replace(file.head.summary, table_raw_bytes=len(raw), table_digest=digest))
        sections = data[file.head.sections_start : -32]
        head = pack_head(summary, table_bytes=len(stored), sections_bytes=len(sections), is_keyed=False)
        return self._read(forged(head + stored + sections + bytes(32)), "table")

    def _read(self, data: bytes, what: str) -> str:
        try:
            _read_everything(data)
        except TierdeckError as e:
            return f"{what}: {type(e).__name__}"
        return f"{what}: read"

    def _made_up_value(self) -> str:
        """A value put together at random from tags that are known and operands that may fit."""
        raw = pack_plain(self._node(0))
        try:
            decode_unit(raw, form=0, pool=self._objects[0], budget=Budget(TIGHT.memory_bytes))
        except TierdeckError as e:
            return f"made up: {type(e).__name__}"
        return "made up: some value"

    def _node(self, depth: int) -> object:
        if depth > 4 or self._random.random() < 0.4:
            return self._random.choice(_OPERANDS)
        tag = self._random.choice(_TAGS)
        return [tag, *(self._node(depth + 1) for _ in range(self._random.choice([0, 1, 2, 2, 3, 4, 6, 9])))]

    def _no_file(self) -> str:
        raw = self._random.randbytes(self._random.choice([0, 1, 7, 47, 48, 300, 5000]))
        data = raw if self._random.random() < 0.5 else self._files[0][: self._random.randrange(60)] + raw
        try:
            if self._random.random() < 0.5:
                parse_table(raw, sections_bytes=len(raw), is_newer=True, limits=TIGHT, name="random")
            elif self._random.random() < 0.5:
                decode_unit(raw, form=self._random.randrange(2), minor=7, budget=Budget(TIGHT.memory_bytes))
            else:
                _read_everything(data)
        except TierdeckError as e:
            return f"random: {type(e).__name__}"
        return "random: read"

    def _changed(self, data: bytes) -> bytes:
        made = bytearray(data)
        kind = self._random.randrange(5)
        if kind == 0:
            for _ in range(self._random.randint(1, 4)):
                made[self._random.randrange(len(made))] ^= 1 << self._random.randrange(8)
        elif kind == 1:
            del made[self._random.randrange(len(made)) :]
        elif kind == 2:
            start, end = sorted(self._random.randrange(len(made)) for _ in range(2))
            at = self._random.randrange(len(made))
            made[at:at] = made[start : min(end, start + 500)]
        elif kind == 3:
            at = self._random.randrange(len(made))
            del made[at : at + self._random.randint(1, 40)]
        else:
            for _ in range(self._random.randint(1, 6)):
                made[self._random.randrange(len(made))] = self._random.choice(_INTERESTING)
        return bytes(made)


def _read_everything(data: bytes) -> None:
    file = opened(data)
    for unit in file.table().variables[:3]:
        try:
            file.variable(unit.name)
        except TierdeckError:
            continue
    load_checkpoint(file)


def _meaning(data: bytes) -> bytes:
    """What the file's values are encoded to again, and what its summary says: equal for equal ones."""
    checkpoint = load_checkpoint(opened(data))
    packed = pack_checkpoint(checkpoint)
    parts = (
        [unit.raw for unit in packed.units] + [pool.raw for pool in packed.pools] + [repr(packed.summary).encode()]
    )
    return blake2b(b"".join(parts)).digest()


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
