"""The tables that a store really has against those that its schema version promises."""

from __future__ import annotations

import re
from contextlib import closing

import apsw

from tierdeck import db, migrate
from tierdeck.maintenance.health import DETAILS, Check
from tierdeck.migrate import StoreKind
from tierdeck.store.raw_row import table_columns

Objects = dict[tuple[str, str], str]
_COMMENT = re.compile(r"--[^\n]*")
_GAP = re.compile(r"\s*([(),;=<>])\s*|\s+")
# What every version of the family's program has; a relation's type is `type` in some and `edge_type` in others.
_FAMILY_COLUMNS = {
    "nodes": {
        "id", "type", "subtype", "content", "embedding", "tier", "confidence", "provenance",
        "created_at", "updated_at", "last_accessed", "access_count", "metadata",
    },
    "hyperedges": {"id", "label", "weight"},
    "membership": {"hyperedge_id", "node_id", "role", "position"},
    "evolution_log": {"id", "timestamp", "operation", "node_ids", "from_tier", "to_tier", "reasoning"},
    "content_fts": {"node_id", "content", "type"},
}  # fmt: skip
_FAMILY_TRIGGERS = ("nodes_fts_insert", "nodes_fts_update", "nodes_fts_delete")


def check_schema(conn: apsw.Connection, kind: StoreKind) -> Check:
    """Compare what stands in the file with a store made afresh; of a family's table, its columns and triggers."""
    version = 0 if kind is StoreKind.FOREIGN else migrate.version_of(conn)
    if version > migrate.SCHEMA_VERSION:
        text = f"version {version}, made by a newer tierdeck; this one knows up to {migrate.SCHEMA_VERSION}"
        return Check("schema", "warn", text, "update tierdeck")
    found = real_objects(conn)
    theirs = [] if kind is StoreKind.OWN else _family_faults(conn, found)
    ours = [] if kind is StoreKind.FOREIGN else _differences(promised_objects(kind, version), found)
    faults = theirs + ours
    whose = "another program's tables" if kind is StoreKind.FOREIGN else f"version {version}"
    if faults:
        can_mend = any("is missing" in fault and not fault.startswith("table") for fault in ours)
        fix = "tierdeck doctor --repair schema" if can_mend else None
        return Check("schema", "bad", f"{whose}: {len(faults)} not as they should be", fix, tuple(faults[:DETAILS]))
    if kind is not StoreKind.FOREIGN and version < migrate.SCHEMA_VERSION:
        text = f"{whose}; opening it for writing brings it to {migrate.SCHEMA_VERSION}, after a backup"
        return Check("schema", "info", text)
    return Check("schema", "ok", whose)


def promised_objects(kind: StoreKind, version: int) -> Objects:
    """The SQL of every object that a store of this kind and version must have, by (type, name)."""
    with closing(db.open_scratch()) as conn:
        if kind is not StoreKind.OWN:
            conn.execute("CREATE TABLE nodes (id TEXT, tier TEXT)")  # a step counts what its program pulled
        for step in migrate.migrations():
            if step.version <= version and (kind is StoreKind.OWN or not step.own_only):
                conn.execute(step.sql)
        promised = real_objects(conn)
    if kind is not StoreKind.OWN:
        del promised["table", "nodes"]
    return promised


def real_objects(conn: apsw.Connection) -> Objects:
    """The SQL of every object in the file by (type, name), without those that SQLite makes by itself."""
    rows = conn.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
    )
    return {(str(kind), str(name)): str(sql) for kind, name, sql in rows}


def _differences(promised: Objects, found: Objects) -> list[str]:
    faults = []
    for (kind, name), sql in promised.items():
        real = found.get((kind, name))
        if real is None:
            faults.append(f"{kind} {name} is missing")
        elif _plain(real) != _plain(sql):
            faults.append(f"{kind} {name} is another than promised")
    return faults


def _family_faults(conn: apsw.Connection, found: Objects) -> list[str]:
    faults = []
    for table, wanted in _FAMILY_COLUMNS.items():
        has = set(table_columns(conn, table))
        faults += [f"table {table} has no column {column}" for column in sorted(wanted - has)]
    if not {"type", "edge_type"} & set(table_columns(conn, "hyperedges")):
        faults.append("table hyperedges has neither a column type nor edge_type")
    return faults + [f"trigger {name} is missing" for name in _FAMILY_TRIGGERS if ("trigger", name) not in found]


def _plain(sql: str) -> str:
    """SQL without comments, case and spacing, so that only its meaning is compared."""
    return _GAP.sub(lambda gap: gap.group(1) or " ", _COMMENT.sub("", sql)).strip().lower()
