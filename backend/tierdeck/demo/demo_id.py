"""The ids of the demo's memories and relations."""

from __future__ import annotations

from hashlib import blake2b
from uuid import UUID


def demo_id(key: str) -> str:
    """The id of a demo memory by its key: looks like a UUID4, and is the same each time."""
    return str(UUID(bytes=blake2b(key.encode(), digest_size=16).digest(), version=4))
