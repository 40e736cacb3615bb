"""Log rows of an export brought into a store: tier moves, confidence, accesses, revisions, changes of confidence.

They have no key but their content, so a row is there already when the store had an equal one before the import
that no earlier line was matched with. Their numbers only count: one is kept while it is beyond all that are
there, so that a log stays in its order, and given anew otherwise.
"""

from __future__ import annotations

import apsw

from tierdeck.store import Store
from tierdeck.store.raw_row import RawValue, raw_rows, table_columns
from tierdeck.transfer.export_format import FORM_OF_KIND
from tierdeck.transfer.import_scratch import ImportScratch
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.row_intake import RowIntake, Verdict
from tierdeck.transfer.row_rules import MAX_KEPT_NUMBER, Row
from tierdeck.transfer.row_writer import RowWriter


class LogIntake:
    """The logs without a key."""

    def __init__(self, store: Store, scratch: ImportScratch, writer: RowWriter, keyed: RowIntake) -> None:
        self._store = store
        self._scratch = scratch
        self._writer = writer
        self._keyed = keyed
        self._last: dict[str, int] = {}
        self._renumbered: set[str] = set()

    @property
    def has_kept_numbers(self) -> bool:
        """Whether accesses and moves have the numbers of the file so far, and the store no accesses beside them."""
        return not self._renumbered & {"access", "move"} and not self._scratch.has_known("access")

    def begin(self, kind: str) -> None:
        """Learn what the store has of this log, in a read of its own, before the first of its rows is taken."""
        form = FORM_OF_KIND[kind]
        columns = form.columns[1:]
        owner = columns.index("node_id") if "node_id" in columns else None

        def look(conn: apsw.Connection) -> int:
            last = 0
            if table_columns(conn, form.table):
                for number, *values in raw_rows(conn, form.table, columns, key="id"):
                    last = number if isinstance(number, int) else last
                    self._scratch.know(kind, values, last, None if owner is None else str(values[owner]))
            return last

        self._last[kind] = self._store.read(look)

    def take(self, conn: apsw.Connection, kind: str, row: Row) -> Verdict:
        """Add the row, or say why not."""
        form = FORM_OF_KIND[kind]
        if not self._store.has_table(form.table):
            return Rejected("the store has no table for it", form.table)
        old = row["id"]
        moved = self._referring(conn, kind, row)
        if isinstance(moved, Rejected):
            return moved
        values = [moved[column] for column in form.columns[1:]]
        number = self._scratch.take_known(kind, values)
        if number is not None:
            self._note(kind, old, number)
            return "unchanged"
        refused = self._refused(kind, moved)
        if refused is not None:
            return refused
        return self._add(conn, kind, moved, old)

    def _add(self, conn: apsw.Connection, kind: str, row: Row, old: RawValue) -> Verdict:
        last = self._last[kind]
        number = old if isinstance(old, int) and last < old <= MAX_KEPT_NUMBER else last + 1
        done = self._writer.insert(conn, FORM_OF_KIND[kind].table, {**row, "id": number})
        if isinstance(done, Rejected):
            return done
        self._last[kind] = number
        self._note(kind, old, number)
        return "added"

    def _referring(self, conn: apsw.Connection, kind: str, row: Row) -> Row | Rejected:
        """The row with what it refers to under its number in this store."""
        if kind == "access":
            session = self._scratch.new_number("session", row["session_id"])
            if session is None:
                return Rejected("its session is not in the file", str(row["session_id"]))
            return {**row, "session_id": session}
        if kind == "revision" and row["undoes"] is not None:
            undone = self._scratch.new_number("revision", row["undoes"])
            if undone is None:
                return Rejected("the change that it undoes was not taken", str(row["undoes"]))
            return {**row, "undoes": undone}
        if kind == "confidence" and not self._keyed.is_here(conn, "node", row["node_id"]):
            return Rejected("its memory is not here", str(row["node_id"]))
        return row

    def _refused(self, kind: str, row: Row) -> Rejected | None:
        """Why a revision may not come in: undo takes the newest change back, so two histories must not be mixed."""
        node_id = str(row.get("node_id"))
        if kind == "revision" and self._scratch.is_refused("node", node_id):
            return Rejected("its memory was skipped", node_id)
        if kind == "revision" and self._scratch.has_known(kind, node_id):
            return Rejected("its memory has changes of its own here", node_id)
        return None

    def _note(self, kind: str, old: RawValue, number: int) -> None:
        if old != number:
            self._renumbered.add(kind)
        if kind == "revision" and isinstance(old, int):
            self._scratch.rename(kind, old, number)
