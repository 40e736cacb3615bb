"""Checkpoints of the family's own program, which are JSON, taken over into files of ours.

read = read_family_checkpoint(data, "session_1700000000.json", changed_at_ns=...)   # pure
report = import_family_checkpoints(root, paths)                                     # into the sessions' folders
"""

from tierdeck.checkpoint.family.family_file import DEGRADED, FamilyCheckpoint, read_family_checkpoint
from tierdeck.checkpoint.family.taking_over import (
    FAMILY_FOLDER,
    FamilyImport,
    Refused,
    TakenOver,
    family_files,
    import_family_checkpoints,
)

__all__ = [
    "DEGRADED",
    "FAMILY_FOLDER",
    "FamilyCheckpoint",
    "FamilyImport",
    "Refused",
    "TakenOver",
    "family_files",
    "import_family_checkpoints",
    "read_family_checkpoint",
]
