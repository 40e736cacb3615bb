"""The only place that opens SQLite: connections for each use, and the boundary where its errors become ours."""

from tierdeck.db.connections import (
    INDEX_APPLICATION_ID,
    INDEX_PAGE_BYTES,
    LOG_SUFFIXES,
    WAL_LIMIT_BYTES,
    empty_wal,
    load_vec,
    open_index,
    open_reader,
    open_scratch,
    open_writer,
    set_journal_mode,
    set_writer_cache,
)
from tierdeck.db.disk_faults import DiskFault, disk_fault
from tierdeck.db.driver_errors import BUSY_TIMEOUT_MS, damaged, driver_errors, is_recovering
from tierdeck.db.file_system import file_system_type, is_network_file_system
from tierdeck.db.journal_mode import asks_for_wal
from tierdeck.db.transaction import transaction
from tierdeck.db.untouched import (
    UntouchedConnection,
    file_state,
    open_untouched,
)
from tierdeck.db.whole_copy import copy_database, is_full_text_fault

__all__ = [
    "BUSY_TIMEOUT_MS",
    "INDEX_APPLICATION_ID",
    "INDEX_PAGE_BYTES",
    "LOG_SUFFIXES",
    "WAL_LIMIT_BYTES",
    "DiskFault",
    "UntouchedConnection",
    "asks_for_wal",
    "copy_database",
    "damaged",
    "disk_fault",
    "driver_errors",
    "empty_wal",
    "file_state",
    "file_system_type",
    "is_full_text_fault",
    "is_network_file_system",
    "is_recovering",
    "load_vec",
    "open_index",
    "open_reader",
    "open_scratch",
    "open_untouched",
    "open_writer",
    "set_journal_mode",
    "set_writer_cache",
    "transaction",
]
