"""The format's version, and what to say of another one. Pure."""

from __future__ import annotations

import re

from tierdeck.errors import DamagedCheckpointError, NewerCheckpointError

MAJOR, MINOR = 1, 0
_TEXT = re.compile(r"([0-9]{1,5})(?:\.([0-9]{1,5}))?")


def checked_version(major: int, minor: int, name: str) -> None:
    """Refuse a version that this program does not read.

    Args:
        name: the file, for the message.

    Raises:
        NewerCheckpointError: it is of a newer major version.
        DamagedCheckpointError: there never was such a version.

    Spec: SPEC-09.26
    """
    if major > MAJOR:
        raise NewerCheckpointError(
            f"read checkpoint {name}: written by a newer version ({major}.{minor}); this one reads up to {MAJOR}.x",
            hint="a newer tierdeck reads it; the file may well be sound",
        )
    if major < 1:
        raise DamagedCheckpointError(f"read checkpoint {name}: there is no format {major}.{minor}")


def parse_version(value: object, name: str) -> tuple[int, int]:
    """A version as other files write it (9, "9.0"), as two numbers.

    Raises:
        DamagedCheckpointError: it is missing, or no version.

    Spec: SPEC-09.26
    """
    if value is None:
        raise DamagedCheckpointError(f"read checkpoint {name}: it does not say which version it is")
    found = _TEXT.fullmatch(str(value)) if type(value) in (int, float, str) else None
    if found is None:
        raise DamagedCheckpointError(f"read checkpoint {name}: {str(value)[:40]!r} is no version")
    return int(found[1]), int(found[2] or 0)
