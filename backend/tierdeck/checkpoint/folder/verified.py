"""What verification found earlier, kept beside the files. Whatever is odd in it is verified again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from tierdeck.checkpoint.folder.disk import read_json, replace_json
from tierdeck.checkpoint.folder.listing import Verified
from tierdeck.checkpoint.folder.names import parse_file_name
from tierdeck.errors import DamagedCheckpointError

VERIFIED_FILE = "verified.json"
_KINDS: tuple[tuple[type, ...], ...] = ((int,), (int,), (int,), (str,), (str, type(None)), (bool,))


def read_verified(folder: Path) -> dict[str, Verified]:
    """By file name. A damaged memory is none. Raises CheckpointError when it can't be read."""
    try:
        found = read_json(folder / VERIFIED_FILE) or {}
    except DamagedCheckpointError:
        return {}
    return {file: known for file, row in found.items() if (known := _known(row)) is not None}


def write_verified(folder: Path, known: Mapping[str, Verified]) -> None:
    """Keep these; for who holds the session's lock. Raises as `replace_json`."""
    replace_json(folder / VERIFIED_FILE, {file: list(row) for file, row in known.items() if parse_file_name(file)})


def _known(row: object) -> Verified | None:
    if type(row) is not list or len(row) != len(_KINDS):
        return None
    if not all(isinstance(value, kind) for value, kind in zip(row, _KINDS, strict=True)):
        return None
    if row[3] not in ("ok", "damaged"):
        return None
    return Verified(*cast("tuple[int, int, int, str, str | None, bool]", tuple(row)))  # type: ignore[arg-type]
