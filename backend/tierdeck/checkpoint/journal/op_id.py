"""The name of a call that is the same for the same call again, in any process. Pure."""

from __future__ import annotations

from hashlib import blake2b

from tierdeck.checkpoint.kinds.pieces import pack_plain
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source

_DIGEST_BYTES = 16


def call_digest(kind: str, request: object) -> str:
    """What is called with what, as 32 hex digits; equal requests give equal digests in every process.

    Args:
        request: read as a checkpoint reads a value. What can't be saved counts by its type alone.
    """
    [unit] = encode_units([Source("request", request, is_part=True)]).units or (None,)
    raw = b"" if unit is None else unit.raw
    return blake2b(pack_plain([kind, raw]), digest_size=_DIGEST_BYTES).hexdigest()


def op_id(session: str, branch: str, turn: int, block: int, sequence: int, prompt_digest: str) -> str:
    """The idempotency key of a call, 32 hex digits.

    Args:
        turn: the turn it belongs to, from 1.
        block: the piece of the turn it stands in, as the agent counts them.
        sequence: how many equal calls the turn has made before it. Counted among equal ones, since calls that run
            side by side begin in another order each time.

    Spec: SPEC-09.23
    """
    key = pack_plain([session, branch, turn, block, sequence, prompt_digest])
    return blake2b(key, digest_size=_DIGEST_BYTES).hexdigest()
