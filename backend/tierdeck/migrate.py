"""What a store file is, which schema version it has, and the steps that bring it up to date.

A step is one `schema/000N_*.sql` file. Files named `*.own.sql` apply only to stores that we made; the others to
adopted stores too, where they add tables named `td_…` and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.errors import NotAStoreError, SchemaVersionError
from tierdeck.times import now_ms

SCHEMA_VERSION = 3
VERSION_KEY = "schema_version"
# When accesses began to be recorded in this store: before it, nobody knows what was used.
TRACKING_KEY = "tracking_since"
FAMILY_TABLES = frozenset({"nodes", "hyperedges", "membership", "evolution_log", "content_fts"})


class StoreKind(StrEnum):
    """Whose store it is: made by us, another program's with our tables beside, or another program's alone."""

    OWN = "own"
    ADOPTED = "adopted"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Migration:
    """One schema file and the version it leads to."""

    version: int
    name: str
    sql: str
    own_only: bool


def migrations() -> list[Migration]:
    """Every schema step in order; within one version by name."""
    found = []
    for file in files("tierdeck").joinpath("schema").iterdir():
        if file.name.endswith(".sql"):
            own_only = file.name.endswith(".own.sql")
            found.append(Migration(int(file.name[:4]), file.name, file.read_text("utf-8"), own_only))
    return sorted(found, key=lambda m: (m.version, m.name))


def kind_of(conn: apsw.Connection, path: Path) -> StoreKind | None:
    """What the file is; None for a database without any table.

    Raises:
        NotAStoreError: it has tables, but not a memory store's; names those that are missing.
    """
    with db.driver_errors(path, "open"):
        tables = {str(row[0]) for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        missing = FAMILY_TABLES - tables
        if missing:
            raise NotAStoreError(
                f"open {path}: not a memory store: no table {', '.join(sorted(missing))}",
                hint="give the file that your agent writes its memories to",
            )
        if "td_setting" not in tables:
            return StoreKind.FOREIGN
        columns = {str(row[1]) for row in conn.execute("PRAGMA table_info(nodes)")}
        return StoreKind.OWN if "pk" in columns else StoreKind.ADOPTED


def version_of(conn: apsw.Connection) -> int:
    """The schema version that a store with our tables says it has; 0 when it says nothing.

    Raises:
        SchemaVersionError: it says something that is no version.
    """
    row = conn.execute("SELECT value FROM td_setting WHERE key = ?", (VERSION_KEY,)).fetchone()
    if row is None:
        return 0
    if re.fullmatch(r"[0-9]{1,9}", str(row[0])) is None:
        raise SchemaVersionError(
            f"read schema version: {str(row[0])[:40]!r} is none", hint="restore a backup, or read with --read-only"
        )
    return int(str(row[0]))


def check_version(version: int, path: Path) -> None:
    """Refuse a store that a newer program made, naming both versions."""
    if version > SCHEMA_VERSION:
        raise SchemaVersionError(
            f"open {path}: its schema is version {version}, this program knows up to {SCHEMA_VERSION}",
            hint="update tierdeck, or read it with --read-only",
        )


def migrate(conn: apsw.Connection, kind: StoreKind, *, at_ms: int | None = None) -> None:
    """Apply every later step and record the version, all in one transaction: all of it or none.

    The version is read inside it, so that of two programs that come at once the second finds nothing to do.

    Args:
        conn: a writer; must not be inside a transaction.
        kind: what the store is or, without any table yet, is to be.
        at_ms: the time that is kept as the beginning of its tracking; None is now.
    """
    began_ms = now_ms() if at_ms is None else at_ms
    with conn:
        has_ours = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_setting'").fetchone() is not None
        version = version_of(conn) if has_ours else 0
        for step in migrations():
            if step.version > version and (kind is StoreKind.OWN or not step.own_only):
                conn.execute(step.sql)
        conn.execute(
            "INSERT OR REPLACE INTO td_setting (key, value) VALUES (?, ?)",
            (VERSION_KEY, str(max(version, SCHEMA_VERSION))),
        )
        conn.execute("INSERT OR IGNORE INTO td_setting (key, value) VALUES (?, ?)", (TRACKING_KEY, str(began_ms)))


def backup_path(path: Path, reason: str) -> Path:
    """A free name beside the store for a backup: `<store>.backup-<UTC time>-<reason>`."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    target = path.with_name(f"{path.name}.backup-{stamp}-{reason}")
    count = 1
    while target.exists():
        count += 1
        target = path.with_name(f"{path.name}.backup-{stamp}-{reason}-{count}")
    return target
