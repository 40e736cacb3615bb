"""Rows taken in batches, each one transaction, with what came of every line counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import apsw

from tierdeck.errors import StoreError, TransferError
from tierdeck.promote.evidence.facts_sql import has_confidence_log
from tierdeck.promote.log.rebuild import rebuild_facts
from tierdeck.store import Store
from tierdeck.transfer.export_format import FORM_OF_KIND
from tierdeck.transfer.import_report import ImportReport, Tally
from tierdeck.transfer.import_scratch import ImportScratch
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.log_intake import LogIntake
from tierdeck.transfer.promotion_intake import PromotionIntake
from tierdeck.transfer.row_intake import RowIntake, Verdict
from tierdeck.transfer.row_rules import LOG_KINDS, Row
from tierdeck.transfer.row_writer import RowWriter
from tierdeck.transfer.session_intake import take_sessions
from tierdeck.transfer.stored_values import StoredValues

BATCH_ROWS = 2_000
BATCH_BYTES = 16_000_000
# Rows of these change what the rules count of their memory.
_COUNTED_KINDS = frozenset({"access", "confidence", "confidence_change", "revision", "log"})


@dataclass(frozen=True, slots=True)
class NumberedRow:
    """One row with its line. `is_off`: its memory must not be embedded."""

    line: int
    kind: str
    row: Row
    size_bytes: int
    is_off: bool = False


class BatchIntake:
    """Collects rows and brings them in, a batch at a time; a preview decides the same and writes nothing."""

    def __init__(self, store: Store, scratch: ImportScratch, source: str, *, is_writing: bool) -> None:
        self._store = store
        self._scratch = scratch
        self._source = source
        self._writer = RowWriter(store, is_writing=is_writing)
        self._stored = StoredValues(store)
        self._keyed = RowIntake(scratch, self._writer)
        self._logs = LogIntake(store, scratch, self._writer, self._keyed)
        self._promotion = PromotionIntake(store, scratch, self._writer, self._logs)
        self._begun: set[str] = set()
        self._batch: list[NumberedRow] = []
        self._batch_bytes = 0
        self._came: dict[str, int] = {}
        self._unknown: dict[str, int] = {}
        self._tally = Tally()

    def add(self, row: NumberedRow, unknown_fields: tuple[str, ...] = ()) -> bool:
        """Take one row; True when that completed a batch, so that the caller may stop here."""
        self._tally.read += 1
        self._came[row.kind] = self._came.get(row.kind, 0) + 1
        for name in unknown_fields:
            self._unknown[name] = self._unknown.get(name, 0) + 1
        # Sessions refer to each other in any order, so all of them are one batch.
        is_full = len(self._batch) >= BATCH_ROWS or self._batch_bytes >= BATCH_BYTES
        is_session = row.kind == "session"
        was_session = bool(self._batch) and self._batch[0].kind == "session"
        is_done = (is_full and not (is_session and was_session)) or (
            bool(self._batch) and is_session != was_session
        )
        if is_done:
            self.flush()
        self._batch.append(replace(row, row=self._stored.of(FORM_OF_KIND[row.kind].table, row.row)))
        self._batch_bytes += row.size_bytes
        return is_done

    def reject(self, line: int, why: Rejected) -> None:
        """Count a line that holds no row."""
        self._tally.read += 1
        self._tally.skip(line, why)

    def flush(self) -> None:
        """Bring the batch in: all of it, or after an error none.

        Raises:
            TransferError: the store refused it; the batches before it are in the store.
        """
        batch, self._batch, self._batch_bytes = self._batch, [], 0
        if not batch:
            return
        for kind in dict.fromkeys(row.kind for row in batch if row.kind in LOG_KINDS):
            if kind not in self._begun:
                self._begun.add(kind)
                self._logs.begin(kind)
        try:
            outcomes = self._bring_in(batch)
        except StoreError as e:
            added = sum(self._tally.rows.values())
            raise TransferError(
                f"import {self._source}: stopped at line {batch[0].line:,} with {added:,} rows added: {e.message}",
                hint="what was added is whole; run it again for the rest",
            ) from e
        kinds = {row.line: row.kind for row in batch}
        for line, outcome in outcomes:
            self._count(line, kinds[line], outcome)

    def compare_counts(self, promised: Mapping[str, object]) -> None:
        """Note where the file holds other rows than its header says: then it was cut off or changed."""
        for kind, count in promised.items():
            came = self._came.get(kind, 0)
            if count != came:
                self._tally.notes.append(f"the file says that it holds {count} {kind} lines, {came} came")

    def compare_log(self, promised: str) -> None:
        """Note where the promotion log came in and ends elsewhere than the file's header says."""
        head = self._promotion.head
        if "log" in self._tally.rows and head != promised:
            came, count = (head or "").partition(":")[0], promised.partition(":")[0]
            same = "with another last row" if came == count else f"with row {came}"
            self._tally.notes.append(f"the file says that its promotion log has {count} rows; here it ends {same}")

    def count_anew(self) -> None:
        """Make the counts of the memories that rows came for anew, also of rows that an earlier import brought.

        Not batch by batch: a memory pulled in each of a thousand batches would be counted a thousand times.
        """
        if not self._writer.is_writing or not self._store.has_table("td_facts"):
            return
        logs_confidence, last = has_confidence_log(self._store), ""
        while ids := self._scratch.touched(last, BATCH_ROWS):
            with self._store.writing() as conn:
                rebuild_facts(conn, ids, logs_confidence=logs_confidence)
            last = ids[-1]

    def note(self, text: str) -> None:
        """Add a sentence on the file as a whole."""
        self._tally.notes.append(text)

    def report(self, *, is_complete: bool) -> ImportReport:
        """What came of every line so far."""
        for name, count in self._unknown.items():
            self._tally.notes.append(f"{count:,} lines have a field {name[:60]} that the store has no place for")
        self._unknown.clear()
        return self._tally.report(self._source, is_complete=is_complete)

    def _bring_in(self, batch: list[NumberedRow]) -> list[tuple[int, Verdict]]:
        if not self._writer.is_writing:
            return self._store.read(lambda conn: self._outcomes(conn, batch))
        with self._store.writing() as conn:
            return self._outcomes(conn, batch)

    def _outcomes(self, conn: apsw.Connection, batch: list[NumberedRow]) -> list[tuple[int, Verdict]]:
        if batch[0].kind == "session":
            return take_sessions(conn, [(row.line, row.row) for row in batch], self._scratch, self._writer)
        return [(row.line, self._outcome(conn, row)) for row in batch]

    def _outcome(self, conn: apsw.Connection, row: NumberedRow) -> Verdict:
        if row.kind in _COUNTED_KINDS:
            self._scratch.touch(str(row.row["node_id"]))
        if self._promotion.takes(row.kind):
            return self._promotion.take(conn, row.line, row.kind, row.row)
        if not self._keyed.takes(row.kind):
            return self._logs.take(conn, row.kind, row.row)
        outcome = self._keyed.take(conn, row.line, row.kind, row.row)
        if outcome == "added" and row.is_off:
            self._keyed.take(conn, row.line, "no_embedding", {"node_id": row.row["id"]})
        return outcome

    def _count(self, line: int, kind: str, outcome: Verdict) -> None:
        if isinstance(outcome, Rejected):
            self._tally.skip(line, outcome)
        elif outcome == "added":
            self._tally.add(kind)
        else:
            self._tally.unchanged += 1
