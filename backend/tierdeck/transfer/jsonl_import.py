"""JSONL brought into a store: our own lossless export, and plain records `{"id": …, "text": …}`.

Nothing that is there is overwritten, one broken line never stops the rest, and running it twice changes nothing.
Rows are written in batches of one transaction each, so a run that is stopped leaves whole batches, and a second
run does the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tierdeck.errors import InvalidValueError, ReadOnlyStoreError, TransferError
from tierdeck.model import NodeType, Tier
from tierdeck.store import Store
from tierdeck.store.drafts import DRAFT_COLUMNS
from tierdeck.transfer.batch_intake import BatchIntake, NumberedRow
from tierdeck.transfer.export_format import FORMAT_NAME, FORMAT_VERSION
from tierdeck.transfer.import_report import ImportReport
from tierdeck.transfer.import_scratch import ImportScratch
from tierdeck.transfer.line_reader import Line, Rejected, read_lines
from tierdeck.transfer.plain_record import plain_values
from tierdeck.transfer.row_rules import Row, row_of

# (bytes read, bytes in all; 0 where that is not known)
Progress = Callable[[int, int], None]
_PROGRESS_LINES = 500


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is read.

    `source` is what a plain record's id is unique in; None takes the file's folder and name (`cisi/docs.jsonl`), or
    "stdin". `default_type` and `default_tier` are for plain records that don't say.
    """

    source: str | None = None
    default_type: NodeType = NodeType.FACT
    default_tier: Tier = Tier.TASK


def preview_import(
    store: Store,
    file: Path | BinaryIO,
    options: ImportOptions | None = None,
    *,
    on_progress: Progress | None = None,
) -> ImportReport:
    """What `import_jsonl` would do with the file, found out without writing; arguments and errors are the same."""
    return _Run(store, options or ImportOptions(), on_progress, lambda: False, is_writing=False).of(file)


def import_jsonl(
    store: Store,
    file: Path | BinaryIO,
    options: ImportOptions | None = None,
    *,
    on_progress: Progress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ImportReport:
    """Bring the rows of a JSONL file into a store.

    The first line decides: a header of `export_jsonl` begins a lossless export, of which every row comes back as it
    was; anything else is plain records, one memory a line.

    Args:
        file: a file, or a binary stream that is read to its end.
        should_stop: asked between batches of some 2,000 rows.

    Returns:
        n of m, and why the rest was skipped, by line.

    Raises:
        ReadOnlyStoreError: the store is open for reading.
        TransferError: the file can't be read, is UTF-16 or of a newer format, or the store refused a batch: the
            batches before it are in the store.
    """
    return _Run(store, options or ImportOptions(), on_progress, should_stop, is_writing=True).of(file)


class _Run:
    """One pass over one file."""

    def __init__(
        self,
        store: Store,
        options: ImportOptions,
        on_progress: Progress | None,
        should_stop: Callable[[], bool],
        *,
        is_writing: bool,
    ) -> None:
        if store.read_only:
            raise ReadOnlyStoreError(
                f"import into {store.path}: it is open for reading", hint="adopt it first, or open it to write"
            )
        self._store = store
        self._options = options
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._is_writing = is_writing
        self._now_ms = store.now_ms()

    def of(self, file: Path | BinaryIO) -> ImportReport:
        source = self._options.source if self._options.source is not None else _source_name(file)
        if not source.strip():
            raise InvalidValueError("import: the source's name is blank")
        with _opened(file) as (stream, size), ImportScratch() as scratch:
            batches = BatchIntake(self._store, scratch, source, is_writing=self._is_writing)
            lines = self._telling(read_lines(stream), size)
            first = next(lines, None)
            if first is None:
                batches.note("the file is empty")
                return batches.report(is_complete=True)
            counts = _header_counts(first)
            if counts is None:
                is_complete = self._take_all(chain([first], lines), batches, source)
            else:
                is_complete = self._take_all(lines, batches, None)
                batches.count_anew()
                if is_complete:
                    batches.compare_counts(counts)
                    _compare_log(first, batches)
            return batches.report(is_complete=is_complete)

    def _take_all(self, lines: Iterator[Line], batches: BatchIntake, source: str | None) -> bool:
        """Take every line, of plain records where there is a source; False when it was stopped on the way."""
        for line in lines:
            content = line.content
            if not isinstance(content, Rejected):
                is_batch_done = (
                    self._export_row(line, content, batches)
                    if source is None
                    else self._plain_record(line, content, batches, source)
                )
                if is_batch_done and self._should_stop():
                    return False
            else:
                batches.reject(line.number, content)
        batches.flush()
        return True

    def _export_row(self, line: Line, record: Mapping[str, object], batches: BatchIntake) -> bool:
        found = row_of(record)
        if isinstance(found, Rejected):
            batches.reject(line.number, found)
            return False
        kind, row, unknown = found
        return batches.add(NumberedRow(line.number, kind, row, line.size_bytes), unknown)

    def _plain_record(self, line: Line, record: Mapping[str, object], batches: BatchIntake, source: str) -> bool:
        found = plain_values(
            record,
            source,
            self._now_ms,
            default_type=self._options.default_type,
            default_tier=self._options.default_tier,
        )
        if isinstance(found, Rejected):
            batches.reject(line.number, found)
            return False
        values, may_embed = found
        row: Row = dict(zip(DRAFT_COLUMNS, values, strict=True))
        return batches.add(NumberedRow(line.number, "node", row, line.size_bytes, is_off=not may_embed))

    def _telling(self, lines: Iterator[Line], size: int) -> Iterator[Line]:
        done = 0
        for count, line in enumerate(lines, 1):
            yield line
            done += line.size_bytes
            if self._on_progress is not None and count % _PROGRESS_LINES == 0:
                self._on_progress(done, size)
        if self._on_progress is not None:
            self._on_progress(done, size)


def _header_counts(first: Line) -> Mapping[str, object] | None:
    """The counts in an export's header, empty for salvaged rows; None when the line is no header of ours."""
    head = first.content
    if isinstance(head, Rejected) or head.get("kind") != "header" or head.get("format") != FORMAT_NAME:
        return None
    version = head.get("version")
    if version != FORMAT_VERSION:
        raise TransferError(
            f"import: the file is an export of version {str(version)[:40]}, this program reads {FORMAT_VERSION}",
            hint="update tierdeck",
        )
    counts = head.get("counts")
    return counts if isinstance(counts, dict) else {}


def _compare_log(header: Line, batches: BatchIntake) -> None:
    head = {} if isinstance(header.content, Rejected) else header.content
    promised = head.get("promotion_log")
    if isinstance(promised, str):
        batches.compare_log(promised)


def _source_name(file: Path | BinaryIO) -> str:
    """Folder and name: two collections each have a `docs.jsonl` whose ids begin with 1."""
    if not isinstance(file, Path):
        return "stdin"
    path = file.resolve()
    return f"{path.parent.name}/{path.name}" if path.parent.name else path.name


@contextmanager
def _opened(file: Path | BinaryIO) -> Iterator[tuple[BinaryIO, int]]:
    if not isinstance(file, Path):
        yield file, 0
        return
    try:
        with file.open("rb") as stream:
            yield stream, os.fstat(stream.fileno()).st_size
    except OSError as e:
        raise TransferError(f"import {file}: {e.strerror or e}") from e
