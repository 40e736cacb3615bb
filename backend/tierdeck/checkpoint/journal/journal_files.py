"""Where the journals of a session lie: one file for each branch, in the session's folder."""

from __future__ import annotations

import re
from pathlib import Path

from tierdeck.errors import InvalidValueError

_SUFFIX = ".rlmjournal"
_BRANCH = re.compile(r"[0-9a-f]{8}")


def journal_path(folder: Path, branch: str) -> Path:
    """Where a branch's journal lies in its session's folder.

    Raises:
        InvalidValueError: no branch is called that.
    """
    if _BRANCH.fullmatch(branch) is None:
        raise InvalidValueError(f"find journal: {branch[:40]!r} is no branch; one has 8 hex digits")
    return folder / f"{branch}{_SUFFIX}"


def journalled_branches(folder: Path) -> list[str]:
    """The branches that have a journal in the folder, sorted; none when the folder can't be read."""
    try:
        names = [path.name.removesuffix(_SUFFIX) for path in folder.iterdir() if path.name.endswith(_SUFFIX)]
    except OSError:
        return []
    return sorted(name for name in names if _BRANCH.fullmatch(name))
