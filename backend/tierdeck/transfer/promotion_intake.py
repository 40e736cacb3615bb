"""The promotion log of an export brought into a store, and the runs, holds and dismissals that name its rows.

A row keeps its number and its digest, which cover each other, so the log comes in as a whole or not at all: into a
store that has none yet, or that has the beginning of this one. Two logs are never mixed. A row tells of a move;
like a row of the family's log it moves nothing that is here.
"""

from __future__ import annotations

from typing import Any

import apsw

from tierdeck.promote.log.entries import head_in
from tierdeck.store import Store
from tierdeck.transfer.export_format import FORM_OF_KIND
from tierdeck.transfer.import_scratch import ImportScratch
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.log_intake import LogIntake
from tierdeck.transfer.row_intake import TWICE, Verdict
from tierdeck.transfer.row_rules import PROMOTION_KINDS, Row
from tierdeck.transfer.row_writer import RowWriter

OWN_LOG = "this store has a promotion log of its own"
_OWN_NUMBERS = "the accesses and moves that the promotion log counts have other numbers here"
_TORN = "it does not follow the row before it"
_NO_TABLE = "the store has no table for it"


class PromotionIntake:
    """Decides row by row; a preview decides the same and writes nothing."""

    def __init__(self, store: Store, scratch: ImportScratch, writer: RowWriter, logs: LogIntake) -> None:
        self._store = store
        self._scratch = scratch
        self._writer = writer
        self._logs = logs
        self._began_rows = 0
        self._matched_rows = 0
        self._head: tuple[int, str] | None = None

    @property
    def head(self) -> str | None:
        """Where the log ends now, or would after a preview, as "count:digest"; None while no row came."""
        return None if self._head is None else f"{self._head[0]}:{self._head[1]}"

    def takes(self, kind: str) -> bool:
        """Whether rows of this kind are taken here."""
        return kind in PROMOTION_KINDS

    def take(self, conn: apsw.Connection, line: int, kind: str, row: Row) -> Verdict:
        """Add the row, or say why not."""
        table = FORM_OF_KIND[kind].table
        if not self._store.has_table(table):
            return Rejected(_NO_TABLE, table)
        if self._head is None:
            self._head = self._begin(conn)
        return self._log_row(conn, row) if kind == "log" else self._other_row(conn, line, kind, row)

    def _begin(self, conn: apsw.Connection) -> tuple[int, str]:
        last: Any = conn.execute("SELECT id, digest FROM td_promotion_log ORDER BY id DESC LIMIT 1").fetchone()
        self._began_rows = 0 if last is None else last[0]
        return (0, "") if last is None else (last[0], str(last[1]))

    def _log_row(self, conn: apsw.Connection, row: Row) -> Verdict:
        number, digest = row["id"], str(row["digest"])
        count, last_digest = self._head or (0, "")
        if not isinstance(number, int) or number <= self._began_rows:
            is_same = self._writer.holds(conn, "td_promotion_log", {"id": number}, row)
            self._matched_rows += bool(is_same)
            return "unchanged" if is_same else Rejected(OWN_LOG, f"row {number!s:.40}")
        if not self._is_this_log():
            return Rejected(OWN_LOG, f"row {number!s:.40}")
        if not self._logs.has_kept_numbers:
            return Rejected(_OWN_NUMBERS, f"row {number!s:.40}")
        if number <= count:
            return Rejected(TWICE, f"row {number!s:.40}")
        if number != count + 1 or row["prev_digest"] != last_digest or not self._is_at_head(conn):
            return Rejected(_TORN, f"row {number!s:.40}")
        done = self._writer.insert(conn, "td_promotion_log", row)
        if isinstance(done, Rejected):
            return done
        self._head = (number, digest)
        return "added"

    def _other_row(self, conn: apsw.Connection, line: int, kind: str, row: Row) -> Verdict:
        table, key = FORM_OF_KIND[kind].table, "node_id" if kind == "dismissal" else "id"
        same = self._writer.holds(conn, table, {key: row[key]}, row)
        if same:
            return "unchanged"
        if not self._is_this_log():
            return Rejected(OWN_LOG, f"{kind} {row[key]!s:.40}")
        if not self._logs.has_kept_numbers:
            return Rejected(_OWN_NUMBERS, f"{kind} {row[key]!s:.40}")
        if same is False:
            return Rejected(f"the {kind} is here with other facts", str(row[key]))
        if self._scratch.earlier_line(kind, str(row[key]), line) is not None:
            return Rejected(TWICE, str(row[key]))
        if kind == "hold" and row["released_at"] is None and self._is_held(conn, line, str(row["node_id"])):
            return Rejected("its memory is held already", str(row["node_id"]))
        done = self._writer.insert(conn, table, row)
        return done if isinstance(done, Rejected) else "added"

    def _is_this_log(self) -> bool:
        """Whether all that the store's log held before is the beginning of the file's."""
        return self._matched_rows == self._began_rows

    def _is_at_head(self, conn: apsw.Connection) -> bool:
        """Whether the store's log ends where its head says; after a cut, going on would hide the cut."""
        if self._head is not None and self._head[0] > self._began_rows:
            return True  # the first row added was looked at
        return head_in(conn) == self.head

    def _is_held(self, conn: apsw.Connection, line: int, node_id: str) -> bool:
        sql = "SELECT 1 FROM td_hold WHERE node_id = ? AND released_at IS NULL"
        if conn.execute(sql, (node_id,)).fetchone() is not None:
            return True
        return self._scratch.earlier_line("held", node_id, line) is not None
