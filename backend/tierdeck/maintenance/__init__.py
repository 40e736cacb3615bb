"""Looking after a store: its health, backups, taking over another program's store and giving it back, purging.

`doctor` is imported by its own name: it looks at vectors too, and so pulls in numpy.
"""

from tierdeck.maintenance.adopt import (
    AdoptReport,
    UnadoptPreview,
    UnadoptReport,
    adopt,
    preview_unadopt,
    unadopt,
)
from tierdeck.maintenance.backup import BackupReport, RestoreReport, backup, list_backups, restore_backup
from tierdeck.maintenance.backup_check import BackupCheck, verify_backup
from tierdeck.maintenance.health import Check, CheckState, Health
from tierdeck.maintenance.purge import PurgePreview, PurgeReport, preview_purge, purge
from tierdeck.maintenance.repair import REPAIRS, RepairReport, repair

__all__ = [
    "REPAIRS",
    "AdoptReport",
    "BackupCheck",
    "BackupReport",
    "Check",
    "CheckState",
    "Health",
    "PurgePreview",
    "PurgeReport",
    "RepairReport",
    "RestoreReport",
    "UnadoptPreview",
    "UnadoptReport",
    "adopt",
    "backup",
    "list_backups",
    "preview_purge",
    "preview_unadopt",
    "purge",
    "repair",
    "restore_backup",
    "unadopt",
    "verify_backup",
]
