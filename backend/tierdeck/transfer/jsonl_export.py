"""Writing a whole store as JSONL, losing nothing; what the lines say stands in `export_format`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import apsw

from tierdeck.promote.log.entries import EMPTY_HEAD, head_in
from tierdeck.store import Store
from tierdeck.store.raw_row import RawValue, raw_rows, table_columns
from tierdeck.transfer.export_format import LEFT_OUT_SETTINGS, TABLES, TableForm, header_line, row_line
from tierdeck.transfer.new_file import new_file

# (rows done, rows in all)
Progress = Callable[[int, int], None]
PROGRESS_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: rows by kind of line, and the bytes of the whole. `path` None means a stream."""

    path: Path | None
    rows: dict[str, int]
    size_bytes: int


def export_jsonl(
    store: Store, out: Path | BinaryIO, *, overwrite: bool = False, on_progress: Progress | None = None
) -> ExportReport:
    """Write every row of a store, one moment of it, as JSONL; memory stays constant at any size.

    Nothing partial ever stands at the target: the rows go to a temporary file first, which then takes the target's
    place in one step, or is copied to the stream. Vectors are not written: they can be made again.

    Args:
        out: a file (0600) or a binary stream. A stream that is read slowly does not hold the store.
        overwrite: let the file take the place of one that is there.

    Raises:
        InvalidValueError: the file exists and `overwrite` is off; it stays as it was.
        TransferError: it can't be written; nothing is left behind.
        DamagedStoreError: a row can't be read; nothing is left behind; `salvage` writes what can.
    """
    if not isinstance(out, Path):
        with tempfile.TemporaryFile(prefix="tierdeck-export-") as part:
            rows = _write_all(store, part, on_progress)
            size = part.tell()
            part.seek(0)
            shutil.copyfileobj(part, out, 1 << 20)
            out.flush()
        return ExportReport(None, rows, size)
    with new_file(out, overwrite=overwrite) as file:
        rows = _write_all(store, file, on_progress)
        size = file.tell()
    return ExportReport(out, rows, size)


def _write_all(store: Store, file: BinaryIO, on_progress: Progress | None) -> dict[str, int]:
    def look(conn: apsw.Connection) -> dict[str, int]:
        file.seek(0)  # the read is run again when the owner of an untouched store wrote meanwhile
        file.truncate()
        return write_rows(conn, file, on_progress)

    return store.read(look)


def write_rows(conn: apsw.Connection, file: BinaryIO, on_progress: Progress | None) -> dict[str, int]:
    """Write header and rows of what the connection sees; gives the rows by kind."""
    counts = {form.kind: _count(conn, form) for form in TABLES}
    total, done = sum(counts.values()), 0
    file.write(header_line(counts, _log_head(conn)))
    for form in TABLES:
        for fields in table_rows(conn, form):
            file.write(row_line(form.kind, fields))
            done += 1
            if on_progress is not None and done % PROGRESS_ROWS == 0:
                on_progress(done, total)
    if on_progress is not None and done % PROGRESS_ROWS != 0:
        on_progress(done, total)
    return counts


def _log_head(conn: apsw.Connection) -> str:
    """The end of the promotion log as the store keeps it, so that rows cut off it show."""
    return head_in(conn) if table_columns(conn, "td_setting") else EMPTY_HEAD


def table_rows(conn: apsw.Connection, form: TableForm) -> Iterator[list[tuple[str, RawValue]]]:
    """A table's rows as (field, value) pairs; columns that we don't know come last, under their own names."""
    columns = real_columns(conn, form)
    if not columns:
        return
    names = [form.field_of(column) for column in columns]
    never_null = _never_null(conn, form.table)
    filled = [at for at, column in enumerate(columns, 1) if column in never_null]
    for row in raw_rows(conn, form.table, columns, key=form.key):
        empty = next((columns[at - 1] for at in filled if row[at] is None), None)
        if empty is not None:  # a page of zeros reads as rows of nothing but NULL, and SQLite does not complain
            raise apsw.CorruptError(f"{empty} of row {row[0]!s:.60} of {form.table} is NULL, which it can't be")
        if form.kind != "setting" or row[1] not in LEFT_OUT_SETTINGS:
            yield list(zip(names, row[1:], strict=True))


def real_columns(conn: apsw.Connection, form: TableForm) -> list[str]:
    """The table's columns as this store has them, ours in our order; none when it lacks the table."""
    found = [column for column in table_columns(conn, form.table) if (form.kind, column) != ("node", "pk")]
    place = {name: at for at, name in enumerate(form.columns)}
    return sorted(found, key=lambda column: place.get(form.field_names.get(column, column), len(place)))


def _never_null(conn: apsw.Connection, table: str) -> frozenset[str]:
    """The columns that the schema declares NOT NULL; only damage makes one NULL."""
    found = conn.execute("SELECT name FROM pragma_table_info(?) WHERE [notnull]", (table,))
    return frozenset(str(row[0]) for row in found)


def _count(conn: apsw.Connection, form: TableForm) -> int:
    if not table_columns(conn, form.table):
        return 0
    if form.kind == "setting":
        return sum(1 for _ in table_rows(conn, form))
    return int(conn.execute(f"SELECT count(*) FROM {form.table}").get)
