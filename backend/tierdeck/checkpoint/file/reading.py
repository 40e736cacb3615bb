"""One checkpoint file, read as far as it is asked for.

    with open_checkpoint(path) as file:
        file.head.summary           # 4 KB read
        file.table().variables      # and the table
        file.variable("x")          # and one section
        load_checkpoint(file)       # all, with the trailer checked

Nothing that stands in a file is imported, compiled or called; see FORMAT.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from tierdeck.checkpoint.file.ahead import Ahead
from tierdeck.checkpoint.file.bytes_source import Bytes, open_bytes
from tierdeck.checkpoint.file.compression import ZSTD, decompress
from tierdeck.checkpoint.file.header import HEAD_BYTES, TRAILER_BYTES, Head, parse_head
from tierdeck.checkpoint.file.table import DIGEST_BYTES, VARIABLE, Table, UnitEntry, parse_table
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, Limits
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_pool, decode_unit
from tierdeck.errors import CheckpointKeyError, CheckpointLimitError, DamagedCheckpointError, NotFoundError

_STEP_BYTES = 1 << 20


class CheckpointFile:
    """An open checkpoint. Its head has been checked; everything else is, when it is asked for.

    Raises, when it is made, what `parse_head` raises. Spec: SPEC-09.23
    """

    def __init__(
        self, source: Bytes, name: str, *, limits: Limits = CONSOLE_LIMITS, key: bytes | None = None
    ) -> None:
        self.name = name
        self.limits = limits
        self._source = source
        self._key = key
        self._is_verified = False
        self.head: Head = parse_head(source.read(0, HEAD_BYTES), file_bytes=source.size(), name=name, limits=limits)

    def table(self) -> Table:
        """Sections and units; read and checked once."""
        return self._table

    def verify(self) -> None:
        """Check the whole file against its trailer: that it is as it was written, not that it can be decoded.

        Raises:
            DamagedCheckpointError: it is not.
            CheckpointKeyError: it is keyed and no key was given, or another one; or a key was given and it is not
                keyed. With another key, what can be checked without one was, and is sound.
        """
        end = self.head.file_bytes - TRAILER_BYTES
        digest = blake2b(key=self._checked_key(), digest_size=TRAILER_BYTES)
        for start in range(0, end, _STEP_BYTES):
            digest.update(self._source.read(start, min(_STEP_BYTES, end - start)))
        if self._source.read(end, TRAILER_BYTES) != digest.digest():
            if self.head.is_keyed:
                self._check_sections()
                raise CheckpointKeyError(
                    f"verify checkpoint {self.name}: its trailer does not fit the key: it was made with another "
                    "one, or somebody who does not have the key has changed the file",
                    hint="check that it is the key the agent was given",
                )
            raise DamagedCheckpointError(f"read checkpoint {self.name}: its trailer does not fit: it was changed")
        self._is_verified = True

    def _check_sections(self) -> None:
        """Tell damage from another key: a disk that loses bits does not make new digests for them."""
        for number, section in enumerate(self._table.sections):
            digest = blake2b(digest_size=DIGEST_BYTES)
            start = self.head.sections_start + section.offset
            for at in range(0, section.stored_bytes, _STEP_BYTES):
                digest.update(self._source.read(start + at, min(_STEP_BYTES, section.stored_bytes - at)))
            if digest.digest() != section.stored_digest:
                raise DamagedCheckpointError(f"read checkpoint {self.name}: section {number} was changed")

    def variable(self, name: str) -> object:
        """The value of one variable; only its section and its pool are read, and both are checked.

        Raises:
            NotFoundError: there is none of that name.
            DamagedCheckpointError: its bytes are not what was written.
            CheckpointLimitError: it is larger than a limit.
        """
        return self.value(self.unit(VARIABLE, name), self.budget())

    def budget(self) -> Budget:
        """What reading one value, or all of them together, may take by the file's limits."""
        return Budget(self.limits.memory_bytes, reads_frames=self.limits.reads_frames)

    def unit(self, kind: str, name: str) -> UnitEntry:
        """The table's line of a variable or part; raises NotFoundError."""
        for unit in self._table.units:
            if unit.kind == kind and unit.name == name:
                return unit
        raise NotFoundError(f"read checkpoint {self.name}: it has no {kind} {name[:80]!r}")

    def value(self, unit: UnitEntry, budget: Budget, sections: Sections | None = None) -> object:
        """A unit's value; raises as `variable`. With `sections` what was read once is kept there."""
        sections = sections or Sections(self)
        pool = None if unit.pool is None else sections.pool(unit.pool, budget)
        return decode_unit(sections.raw_of(unit), form=unit.form, pool=pool, minor=self.head.minor, budget=budget)

    def raw_section(self, number: int, *, before_verified: bool = False) -> bytes:
        """A section's raw bytes, checked by its digest and by the frame's own checksum.

        Args:
            before_verified: the trailer is being checked, and nothing is made of the bytes before it is.

        Raises:
            DamagedCheckpointError: they are not what was written.
            CheckpointLimitError: they are more than the limit.
        """
        section = self._table.sections[number]
        if section.raw_bytes > self.limits.section_bytes:
            raise CheckpointLimitError(
                f"read checkpoint {self.name}: a section of {section.raw_bytes:,} bytes, "
                f"the limit is {self.limits.section_bytes:,}",
                hint="an agent's own process reads larger ones than the console",
            )
        stored = self._source.read(self.head.sections_start + section.offset, section.stored_bytes)
        # Once the trailer has been checked, a frame's own checksum is enough; what is stored as it is has none.
        is_checked = self._is_verified or before_verified
        if not (is_checked and section.codec == ZSTD) and _digest(stored) != section.stored_digest:
            raise DamagedCheckpointError(f"read checkpoint {self.name}: section {number} was changed")
        return self._decompressed(section.codec, stored, section.raw_bytes, f"section {number}")

    @cached_property
    def _table(self) -> Table:
        head, summary = self.head, self.head.summary
        if summary.table_raw_bytes > self.limits.table_bytes:
            raise CheckpointLimitError(
                f"read checkpoint {self.name}: a table of {summary.table_raw_bytes:,} bytes, "
                f"the limit is {self.limits.table_bytes:,}"
            )
        stored = self._source.read(head.sections_start - head.table_bytes, head.table_bytes)
        if _digest(stored) != summary.table_digest:
            raise DamagedCheckpointError(f"read checkpoint {self.name}: its table was changed")
        raw = self._decompressed(ZSTD, stored, summary.table_raw_bytes, "its table")
        sections_bytes = head.file_bytes - TRAILER_BYTES - head.sections_start
        return parse_table(
            raw, sections_bytes=sections_bytes, is_newer=head.is_newer, limits=self.limits, name=self.name
        )

    def _decompressed(self, codec: int, stored: bytes, raw_bytes: int, what: str) -> bytes:
        try:
            return decompress(codec, stored, raw_bytes=raw_bytes, window_bytes=self.limits.window_bytes)
        except ValueError as e:
            raise DamagedCheckpointError(f"read checkpoint {self.name}: {what}: {e}") from e

    def _checked_key(self) -> bytes:
        if self.head.is_keyed and self._key is None:
            raise CheckpointKeyError(
                f"verify checkpoint {self.name}: its trailer was made with a key, and none is set",
                hint="its sections can be read; that nobody made or changed it can't be told without the key",
            )
        if self._key is not None and not self.head.is_keyed:
            raise CheckpointKeyError(
                f"verify checkpoint {self.name}: a key is set, and its trailer was made without one",
                hint="whoever can write the folder can have made it; without a key set it can be used",
            )
        return self._key or b""


class Sections:
    """What was read of a file's sections, so that units of one group or pool read it once."""

    def __init__(self, file: CheckpointFile, ahead: Ahead | None = None) -> None:
        self._file = file
        self._ahead = ahead
        self._number, self._raw = -1, b""
        self._pools: dict[int, list[object]] = {}

    def raw_of(self, unit: UnitEntry) -> memoryview:
        """A unit's raw bytes."""
        if unit.section != self._number:
            self._number, self._raw = -1, b""  # one after the other, not both
            self._number, self._raw = unit.section, self._section(unit.section)
        return memoryview(self._raw)[unit.start : unit.start + unit.raw_bytes]

    def pool(self, number: int, budget: Budget) -> list[object]:
        """The objects of a pool section."""
        if number not in self._pools:
            raw = self._section(number)
            self._pools[number] = decode_pool(raw, minor=self._file.head.minor, budget=budget)
        return self._pools[number]

    def _section(self, number: int) -> bytes:
        made = None if self._ahead is None else self._ahead.take(number)
        return self._file.raw_section(number) if made is None else made


@contextmanager
def open_checkpoint(
    path: Path,
    *,
    limits: Limits = CONSOLE_LIMITS,
    key: bytes | None = None,
    watch: Callable[[int], None] | None = None,
) -> Iterator[CheckpointFile]:
    """An open checkpoint file; 4 KB of it are read.

    Args:
        limits: the console's, or an agent's in its own process.
        key: the operator's, when trailers are keyed.
        watch: called after each read with the bytes it gave; what it raises ends the reading.

    Raises:
        NotFoundError: no file is there.
        DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: as `parse_head`.
        CheckpointError: it can't be read, or is a link, a pipe or a folder.
    """
    with open_bytes(path, watch=watch) as source:
        yield CheckpointFile(source, path.name, limits=limits, key=key)


def read_head(path: Path | str, *, limits: Limits = CONSOLE_LIMITS) -> Head:
    """Header and summary of a file: one read of 4 KB. Raises as `open_checkpoint`.

    Spec: SPEC-09.26
    """
    with open_bytes(path) as source:
        data = source.read(0, HEAD_BYTES)
        return parse_head(data, file_bytes=source.size(), name=os.path.basename(path), limits=limits)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()
