"""Another store brought into ours: its memories, relations, logs and confidence history, all of one moment.

The other store is only read, and its folder stays byte for byte as it was. Its rows go through the lossless
export's form, so that what comes in, what is skipped and why is decided in one place.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tierdeck.errors import ConflictError
from tierdeck.store import Store, open_store
from tierdeck.transfer.import_report import ImportReport
from tierdeck.transfer.jsonl_export import export_jsonl
from tierdeck.transfer.jsonl_import import ImportOptions, Progress, import_jsonl, preview_import


def preview_store_import(store: Store, other: Path, *, on_progress: Progress | None = None) -> ImportReport:
    """What `import_store` would bring in; nothing is written. Raises the same."""
    with _rows_of(store, other) as rows:
        return preview_import(store, rows, ImportOptions(source=str(other)), on_progress=on_progress)


def import_store(
    store: Store,
    other: Path,
    *,
    on_progress: Progress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ImportReport:
    """Bring in everything of another store that is not here yet; running it again brings in what came since.

    Args:
        other: a family store, or one of ours.

    Returns:
        n of m rows, and why the rest was skipped; a row's number is its place in the other store's export.

    Raises:
        StoreNotFoundError, NotAStoreError, DamagedStoreError, StoreBusyError: the other store can't be read.
        ReadOnlyStoreError: ours is open for reading.
        ConflictError: it is the same file.
    """
    with _rows_of(store, other) as rows:
        options = ImportOptions(source=str(other))
        return import_jsonl(store, rows, options, on_progress=on_progress, should_stop=should_stop)


@contextmanager
def _rows_of(store: Store, other: Path) -> Iterator[BinaryIO]:
    if other.exists() and other.samefile(store.path):
        raise ConflictError(f"import {other}: it is the store itself")
    with open_store(other, read_only=True) as source, tempfile.TemporaryFile(prefix="tierdeck-import-") as rows:
        export_jsonl(source, rows)
        rows.seek(0)
        yield rows
