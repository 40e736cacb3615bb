"""Where the branches of a session begin, read from the first record of each journal and no further."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierdeck.checkpoint.journal.journal_files import journal_path, journalled_branches
from tierdeck.checkpoint.journal.lines import BranchLine, parse_line
from tierdeck.checkpoint.journal.record_file import read_first_record
from tierdeck.errors import CheckpointError


def read_beginnings(folder: Path) -> Mapping[str, BranchLine]:
    """By branch, the branch and the turn that it went on from, as its journal says.

    It is known also when the checkpoint that it began at is gone. A branch whose journal is lost, or can't be read,
    has none.
    """
    found = {}
    for branch in journalled_branches(folder):
        try:
            record = read_first_record(journal_path(folder, branch))
            line = None if record is None else parse_line(record)
        except (CheckpointError, ValueError):
            continue
        if isinstance(line, BranchLine) and line.branch == branch:
            found[branch] = line
    return found
