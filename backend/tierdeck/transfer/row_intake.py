"""Rows of an export that have a key of their own, brought into a store one by one. Nothing there is overwritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import apsw

from tierdeck.embed.make import PROVIDER_KEY
from tierdeck.store.raw_row import RawValue, UndecodedText
from tierdeck.transfer.export_format import LEFT_OUT_SETTINGS
from tierdeck.transfer.import_scratch import ImportScratch
from tierdeck.transfer.line_reader import Rejected
from tierdeck.transfer.row_rules import Row
from tierdeck.transfer.row_writer import RowWriter

Verdict = Literal["added", "unchanged"] | Rejected
_HERE = {"node": "SELECT 1 FROM nodes WHERE id = ?", "edge": "SELECT 1 FROM hyperedges WHERE id = ?"}
_NAMES = {"node": "memory", "edge": "relation"}
TWICE = "its id stands on an earlier line already"


class RowIntake:
    """Settings, memories, relations and their members, and marks."""

    def __init__(self, scratch: ImportScratch, writer: RowWriter) -> None:
        self._scratch = scratch
        self._writer = writer
        self._take: dict[str, Callable[[apsw.Connection, int, Row], Verdict]] = {
            "setting": self._setting,
            "node": self._node,
            "edge": self._edge,
            "member": self._member,
            "no_embedding": self._no_embedding,
        }

    def takes(self, kind: str) -> bool:
        """Whether rows of this kind are taken here, one by one."""
        return kind in self._take

    def take(self, conn: apsw.Connection, line: int, kind: str, row: Row) -> Verdict:
        """Add the row, or say why not."""
        return self._take[kind](conn, line, row)

    def _setting(self, conn: apsw.Connection, _line: int, row: Row) -> Verdict:
        key, value = row["key"], row["value"]
        if key in LEFT_OUT_SETTINGS:
            return Rejected("a store says this of itself", str(key))
        if key == PROVIDER_KEY and value not in ("local", "off"):
            # It stands for an operator's yes to sending memories away, and that is not another store's to give.
            return Rejected(
                "leave to send memories to a remote model is not imported", "`tierdeck embed` asks for it"
            )
        same = self._writer.holds(conn, "td_setting", {"key": key}, {"value": value})
        if same is not None:
            return "unchanged" if same else Rejected("the store has its own value for it", str(key))
        return self._insert(conn, "td_setting", row)

    def _node(self, conn: apsw.Connection, line: int, row: Row) -> Verdict:
        node_id = str(row["id"])
        earlier = self._scratch.earlier_line("node", node_id, line)
        if earlier is not None:
            return Rejected(TWICE, f"line {earlier}")
        found = conn.execute("SELECT CAST(content AS BLOB) FROM nodes WHERE id = ?", (node_id,)).fetchone()
        if found is None:
            outcome = self._insert(conn, "nodes", row)
        elif found[0] == _bytes_of(row["content"]):
            return "unchanged"
        else:
            outcome = Rejected("a memory with its id is here with another text", node_id)
        if isinstance(outcome, Rejected):
            self._scratch.refuse("node", node_id)
        return outcome

    def _edge(self, conn: apsw.Connection, line: int, row: Row) -> Verdict:
        edge_id = str(row["id"])
        earlier = self._scratch.earlier_line("edge", edge_id, line)
        if earlier is not None:
            return Rejected(TWICE, f"line {earlier}")
        facts: Row = {"type": row["type"], "label": row.get("label"), "weight": row.get("weight", 1.0)}
        same = self._writer.holds(conn, "hyperedges", {"id": edge_id}, facts)
        if same is None:
            outcome = self._insert(conn, "hyperedges", row)
        elif same:
            return "unchanged"
        else:
            outcome = Rejected("a relation with its id is here and is another", edge_id)
        if isinstance(outcome, Rejected):
            self._scratch.refuse("edge", edge_id)
        return outcome

    def _member(self, conn: apsw.Connection, line: int, row: Row) -> Verdict:
        edge_id, node_id = row["hyperedge_id"], row["node_id"]
        if self._scratch.is_refused("edge", str(edge_id)):
            return Rejected("its relation was skipped", str(edge_id))
        for kind, row_id in (("edge", edge_id), ("node", node_id)):
            if not self.is_here(conn, kind, row_id):
                return Rejected(f"its {_NAMES[kind]} is not here", str(row_id))
        keys: Row = {"hyperedge_id": edge_id, "node_id": node_id, "role": row["role"]}
        same = self._writer.holds(conn, "membership", keys, {"position": row.get("position", 0)})
        if same is not None:
            return "unchanged" if same else Rejected("the memory stands elsewhere in that relation", str(edge_id))
        key = repr((edge_id, node_id, row["role"]))
        if self._scratch.earlier_line("member", key, line) is not None:
            return Rejected("the memory stands in that role already", str(edge_id))
        return self._insert(conn, "membership", row)

    def _no_embedding(self, conn: apsw.Connection, line: int, row: Row) -> Verdict:
        if conn.execute("SELECT 1 FROM td_no_embedding WHERE node_id = ?", (row["node_id"],)).fetchone():
            return "unchanged"
        if self._scratch.earlier_line("no_embedding", str(row["node_id"]), line) is not None:
            return "unchanged"
        return self._insert(conn, "td_no_embedding", row)

    def is_here(self, conn: apsw.Connection, kind: str, row_id: RawValue) -> bool:
        """Whether the memory or relation is in the store, or would be after what a preview took."""
        if conn.execute(_HERE[kind], (row_id,)).fetchone() is not None:
            return True
        return not self._writer.is_writing and self._scratch.came(kind, str(row_id))

    def _insert(self, conn: apsw.Connection, table: str, row: Row) -> Verdict:
        done = self._writer.insert(conn, table, row)
        return done if isinstance(done, Rejected) else "added"


def _bytes_of(value: RawValue) -> bytes | None:
    if isinstance(value, UndecodedText):
        return value.data
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value if isinstance(value, bytes) else None
