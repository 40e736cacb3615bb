"""Who works on a text just now, so that two indexers pay for none twice."""

from __future__ import annotations

import os
import socket
import uuid


def new_claimant() -> str:
    """A name for one run of an indexer: host, process and a random part."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"


def is_claimed(claimed_by: object, claimed_until_ms: object, now_ms: int) -> bool:
    """Whether the claim still holds: not run out, and its process not known to be gone."""
    if not isinstance(claimed_by, str) or not isinstance(claimed_until_ms, int) or claimed_until_ms <= now_ms:
        return False
    return not _is_dead(claimed_by)


def _is_dead(claimant: str) -> bool:
    """Whether the claimant ran on this machine and no longer does; a crashed run's texts are free at once."""
    host, _, rest = claimant.rpartition("/")[0].rpartition("/")
    if host != socket.gethostname() or not rest.isdigit():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
