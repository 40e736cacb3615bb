"""The first 48 bytes of a checkpoint file, and the summary behind them. Pure."""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import NamedTuple

from tierdeck.checkpoint.file.summary import Summary, parse_summary
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, MAX_SUMMARY_BYTES, Limits
from tierdeck.checkpoint.version import MAJOR, MINOR, checked_version
from tierdeck.errors import CheckpointLimitError, DamagedCheckpointError, NewerCheckpointError

MAGIC = b"\x89RLMC\r\n\x1a"
HEADER_BYTES = 48
TRAILER_BYTES = 32
HEAD_BYTES = HEADER_BYTES + MAX_SUMMARY_BYTES
KEYED = 1
_MUST_KNOW = 0xFFFF0000
_FIXED = struct.Struct("<8sHHIIIQ")


class Head(NamedTuple):
    """Header and summary of a file: what a listing knows of it. The rest of the file is not verified by it."""

    major: int
    minor: int
    flags: int
    summary_bytes: int
    table_bytes: int
    file_bytes: int
    summary: Summary

    @property
    def is_keyed(self) -> bool:
        """Whether the trailer can be checked only with the operator's key."""
        return bool(self.flags & KEYED)

    @property
    def is_newer(self) -> bool:
        """Whether a newer minor version wrote it."""
        return (self.major, self.minor) > (MAJOR, MINOR)

    @property
    def sections_start(self) -> int:
        """Where the first section lies."""
        return HEADER_BYTES + self.summary_bytes + self.table_bytes


def pack_head(
    summary: bytes, *, table_bytes: int, sections_bytes: int, is_keyed: bool, minor: int = MINOR
) -> bytes:
    """Header and summary, with the digest over both.

    Args:
        summary: its bytes, from `pack_summary`.
        sections_bytes: how much the sections take, all together.
        minor: the version it takes to read all of it.
    """
    file_bytes = HEADER_BYTES + len(summary) + table_bytes + sections_bytes + TRAILER_BYTES
    flags = KEYED if is_keyed else 0
    fixed = _FIXED.pack(MAGIC, MAJOR, minor, flags, len(summary), table_bytes, file_bytes)
    return fixed + _digest(fixed, summary) + summary


def parse_head(data: bytes, *, file_bytes: int, name: str, limits: Limits = CONSOLE_LIMITS) -> Head:
    """Header and summary from the first bytes of a file.

    Args:
        data: the first `HEAD_BYTES` of it, or all of a shorter one.
        file_bytes: how long the file is.
        name: the file, for messages.

    Raises:
        NewerCheckpointError: a newer major version wrote it.
        DamagedCheckpointError: it is no checkpoint, is cut, or is not what was written.
        CheckpointLimitError: it is longer than the limit.

    Spec: SPEC-09.26
    """
    if data[: len(MAGIC)] != MAGIC:
        raise DamagedCheckpointError(f"read checkpoint {name}: it is no checkpoint file")
    if len(data) < HEADER_BYTES:
        raise DamagedCheckpointError(f"read checkpoint {name}: it is cut after {len(data)} bytes")
    _, major, minor, flags, summary_bytes, table_bytes, said_bytes = _FIXED.unpack_from(data)
    _check_version(data, major, minor, summary_bytes, name)
    if summary_bytes > MAX_SUMMARY_BYTES or len(data) < HEADER_BYTES + summary_bytes:
        raise DamagedCheckpointError(f"read checkpoint {name}: its summary is cut")
    fixed, summary = data[: _FIXED.size], data[HEADER_BYTES : HEADER_BYTES + summary_bytes]
    if _digest(fixed, summary) != data[_FIXED.size : HEADER_BYTES]:
        raise DamagedCheckpointError(f"read checkpoint {name}: its header is damaged")
    if flags & _MUST_KNOW:
        raise NewerCheckpointError(f"read checkpoint {name}: it needs what this version lacks (flags {flags:#x})")
    if said_bytes != file_bytes:
        raise DamagedCheckpointError(f"read checkpoint {name}: it has {file_bytes:,} of {said_bytes:,} bytes")
    if file_bytes > limits.file_bytes:
        raise CheckpointLimitError(
            f"read checkpoint {name}: {file_bytes:,} bytes, the limit is {limits.file_bytes:,}"
        )
    head = Head(major, minor, flags, summary_bytes, table_bytes, said_bytes, parse_summary(summary, name))
    if head.sections_start + TRAILER_BYTES > said_bytes:
        raise DamagedCheckpointError(f"read checkpoint {name}: its table lies outside")
    return head


def _check_version(data: bytes, major: int, minor: int, summary_bytes: int, name: str) -> None:
    """Refuse another major version; but a file of ours whose version was hit by damage is damaged, not newer."""
    if major == MAJOR:
        return
    ours = MAGIC + struct.pack("<H", MAJOR) + data[len(MAGIC) + 2 : _FIXED.size]
    summary = data[HEADER_BYTES : HEADER_BYTES + min(summary_bytes, MAX_SUMMARY_BYTES)]
    if _digest(ours, summary) == data[_FIXED.size : HEADER_BYTES]:
        raise DamagedCheckpointError(f"read checkpoint {name}: its version was changed after it was written")
    checked_version(major, minor, name)


def _digest(fixed: bytes, summary: bytes) -> bytes:
    return blake2b(fixed + summary, digest_size=HEADER_BYTES - _FIXED.size).digest()
