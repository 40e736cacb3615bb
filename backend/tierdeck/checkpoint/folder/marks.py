"""Labels and pins given after a checkpoint was written: beside the files, since those are never rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tierdeck.checkpoint.file.summary import MAX_LABEL_CHARS
from tierdeck.checkpoint.folder.disk import read_json, replace_json
from tierdeck.checkpoint.folder.names import MAX_SEQUENCE, parse_file_name
from tierdeck.errors import DamagedCheckpointError, InvalidValueError

MARKS_FILE = "marks.json"


@dataclass(frozen=True, slots=True)
class Marks:
    """By file name: labels (None takes away the one in the file) and pins.

    `highest_sequence` is the greatest sequence of what was unlinked for good, so that none is given twice.
    """

    labels: Mapping[str, str | None] = field(default_factory=dict)
    pins: frozenset[str] = frozenset()
    highest_sequence: int = 0


def read_marks(folder: Path) -> Marks:
    """The marks of a session; none when nobody made any.

    Raises:
        DamagedCheckpointError: the file is not what was written; it is left as it is.
        CheckpointError: it can't be read.
    """
    path = folder / MARKS_FILE
    found = read_json(path)
    if found is None:
        return Marks()
    labels, pins, highest = found.get("labels"), found.get("pins"), found.get("highest_sequence", 0)
    if (
        type(labels) is not dict
        or type(pins) is not list
        or type(highest) is not int
        or not 0 <= highest <= MAX_SEQUENCE
        or not all(label is None or type(label) is str for label in labels.values())
        or not all(type(pin) is str for pin in pins)
    ):
        raise DamagedCheckpointError(
            f"read {path}: it holds no labels and pins",
            hint="put it right or move it away: it is never overwritten",
        )
    return Marks({file: label for file, label in labels.items() if parse_file_name(file)}, frozenset(pins), highest)


def write_marks(folder: Path, marks: Marks) -> None:
    """Put these in the place of those there; for who holds the session's lock. Raises as `replace_json`."""
    replace_json(
        folder / MARKS_FILE,
        {
            "format": 1,
            "labels": dict(marks.labels),
            "pins": sorted(marks.pins),
            "highest_sequence": marks.highest_sequence,
        },
    )


def checked_label(label: str | None) -> str | None:
    """A label that can be shown and stored.

    Raises:
        InvalidValueError: it is blank, or longer than 200 characters.
    """
    if label is not None and not 0 < len(label.strip()) <= len(label) <= MAX_LABEL_CHARS:
        raise InvalidValueError(
            f"label checkpoint: {label[:40]!r} has {len(label)} characters, a label has 1 to {MAX_LABEL_CHARS}"
        )
    return label
