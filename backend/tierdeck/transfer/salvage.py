"""Saving from a damaged store what can still be read, as an export that `import_jsonl` takes.

Where a memory's own row is destroyed, its text often still stands in the full-text index, which keeps a copy:
such a memory comes back with its id, its type and its text. Ids are read from their index, so that what is lost
can be named.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import apsw

from tierdeck import db
from tierdeck.errors import StoreNotFoundError
from tierdeck.model import NodeType
from tierdeck.store.raw_row import RawValue, UndecodedText, raw_rows, table_columns
from tierdeck.transfer.export_format import LEFT_OUT_SETTINGS, TABLES, TableForm, row_line, salvaged_header_line
from tierdeck.transfer.jsonl_export import real_columns
from tierdeck.transfer.new_file import new_file
from tierdeck.transfer.readable_rows import Unreadable, readable_rows

MAX_LOST = 1_000
_TYPES = frozenset(NodeType)


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """What was saved and what was not.

    `rows` counts what was written by kind; of the memories among them, `from_index_count` come from the full-text
    index with their text and type alone. `lost` names memories of which nothing but the id is left, at most
    `MAX_LOST` of `lost_count`. `gaps` are sentences on what could not be read; empty when everything could.
    """

    path: Path
    rows: Mapping[str, int]
    from_index_count: int
    lost_count: int
    lost: tuple[str, ...]
    gaps: tuple[str, ...]


def salvage(path: Path, out: Path | BinaryIO, *, overwrite: bool = False) -> SalvageReport:
    """Write every row of a store that can still be read as JSONL; the store and its folder are not touched.

    Args:
        path: the store, damaged or not.
        out: a file (0600, whole or not there at all) or a binary stream.

    Raises:
        StoreNotFoundError: no such file.
        NotAStoreError: it is no SQLite file at all.
        DamagedStoreError: not even the list of its tables can be read; the hint names the newest backup.
        InvalidValueError, TransferError: the target is taken or can't be written.
    """
    if not path.is_file():
        raise StoreNotFoundError(f"salvage {path}: there is no such file")
    conn = db.open_untouched(path)
    try:
        with db.driver_errors(path, "salvage"):
            conn.execute("SELECT name FROM sqlite_master").fetchall()
            if isinstance(out, Path):
                with new_file(out, overwrite=overwrite) as file:
                    return _Salvage(conn, path, file).run()
            with tempfile.TemporaryFile(prefix="tierdeck-salvage-") as part:
                report = _Salvage(conn, path, part).run()
                part.seek(0)
                shutil.copyfileobj(part, out, 1 << 20)
            return report
    finally:
        conn.close()


class _Salvage:
    def __init__(self, conn: apsw.Connection, path: Path, file: BinaryIO) -> None:
        self._conn = conn
        self._path = path
        self._file = file
        self._rows: dict[str, int] = {}
        self._gaps: list[str] = []
        self._saved = db.open_scratch()
        self._saved.execute("CREATE TABLE saved (id TEXT PRIMARY KEY) WITHOUT ROWID")
        self._saved.execute("BEGIN")

    def run(self) -> SalvageReport:
        """Write everything, and tell what was written."""
        from_index = 0
        self._file.write(salvaged_header_line())
        for form in TABLES:
            parts = self._write_table(form)
            if form.kind == "node":
                from_index = self._write_from_index(parts)
        lost_count, lost = self._lost()
        self._saved.close()
        return SalvageReport(self._path, self._rows, from_index, lost_count, tuple(lost), tuple(self._gaps))

    def _write_table(self, form: TableForm) -> list[dict[str, RawValue]]:
        """Write the rows of one table; gives those that could be read in part only."""
        unreadable = Unreadable()
        try:
            columns = real_columns(self._conn, form)
        except apsw.CorruptError as e:
            self._gaps.append(f"{form.table}: {e}")
            return []
        if not columns:
            return []
        names = [form.field_of(column) for column in columns]
        rows = (
            readable_rows(self._conn, form.table, columns, unreadable)
            if form.key == "rowid"
            else self._keyed_rows(form, columns)
        )
        for row in rows:
            fields = dict(zip(names, row[1:], strict=True))
            if form.kind == "node" and not self._is_memory(fields):
                continue
            if form.kind != "setting" or fields["key"] not in LEFT_OUT_SETTINGS:
                self._write(form.kind, fields)
        for first, last in unreadable.gaps:
            upto = f"to {last:,}" if last is not None else "to the end"
            self._gaps.append(f"{form.table}: rows {first:,} {upto} can't be read")
        if unreadable.parts and form.kind != "node":
            self._gaps.append(
                f"{form.table}: {len(unreadable.parts):,} rows can be read in part only and were left"
            )
        return [{form.field_of(column): value for column, value in part.items()} for part in unreadable.parts]

    def _keyed_rows(self, form: TableForm, columns: list[str]) -> Iterator[tuple[RawValue, ...]]:
        """The rows of a small table WITHOUT ROWID, up to the first that can't be read."""
        try:
            yield from raw_rows(self._conn, form.table, columns, key=form.key)
        except apsw.CorruptError as e:
            self._gaps.append(f"{form.table}: not all of it can be read ({e})")

    def _write_from_index(self, parts: list[dict[str, RawValue]]) -> int:
        """Write the memories whose own row is lost and whose text the full-text index has; how many."""
        count = 0
        known = {part["id"]: part for part in parts if isinstance(part.get("id"), str)}
        unreadable = Unreadable()
        if not table_columns(self._conn, "content_fts_content"):
            return 0
        for _, node_id, content, kind in readable_rows(
            self._conn, "content_fts_content", ["c0", "c1", "c2"], unreadable
        ):
            fields = {"id": node_id, "type": kind, **known.get(node_id, {}), "content": content}
            if self._is_memory(fields) and not self._is_saved(fields["id"]):
                self._write("node", fields, from_index=True)
                count += 1
        return count

    def _write(self, kind: str, fields: Mapping[str, RawValue], **marks: bool) -> None:
        self._file.write(row_line(kind, fields.items(), **marks))
        self._rows[kind] = self._rows.get(kind, 0) + 1
        if kind == "node":
            self._saved.execute("INSERT OR IGNORE INTO saved VALUES (?)", (str(fields["id"]),))

    def _is_memory(self, fields: Mapping[str, RawValue]) -> bool:
        """Whether a row looks like a memory; a destroyed page can look like rows of anything."""
        has_text = isinstance(fields.get("content"), str | UndecodedText)
        return isinstance(fields.get("id"), str) and has_text and fields.get("type") in _TYPES

    def _is_saved(self, node_id: RawValue) -> bool:
        return self._saved.execute("SELECT 1 FROM saved WHERE id = ?", (node_id,)).fetchone() is not None

    def _lost(self) -> tuple[int, list[str]]:
        """Memories whose id stands in the index of ids and that were not saved: how many, and the first of them."""
        count = 0
        lost: list[str] = []
        try:
            # Answered from the index of ids alone, without the table.
            for (node_id,) in self._conn.execute("SELECT id FROM nodes WHERE id > '' ORDER BY id"):
                if not self._is_saved(node_id):
                    count += 1
                    if len(lost) < MAX_LOST:
                        lost.append(str(node_id))
        except (apsw.CorruptError, UnicodeDecodeError) as e:
            self._gaps.append(f"the index of ids can't be read whole, so not every lost memory is named ({e})")
        return count, lost
