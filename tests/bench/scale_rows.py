"""A large store's rows, made quickly: they go in without triggers and indexes, which come after.

Rows come in the order of time, over two years. A tenth is archived; there are 1,000 sessions, one after the other,
of 20 projects; 200 tags fall on 1 % of the memories each; three in ten memories were looked at since.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import apsw

from tests.bench.scale_text import BLOCK_ROWS, SEED, TextSource
from tierdeck.model import NodeType, Tier
from tierdeck.promote.evidence.counts import recount
from tierdeck.store import open_store
from tierdeck.store.drafts import DRAFT_COLUMNS, DraftValues

NOW_MS = 1_790_000_000_000
SPAN_MS = 2 * 365 * 86_400_000
SESSIONS, PROJECTS, TAGS = 1_000, 20, 200
TYPES = (NodeType.FACT, NodeType.EXPERIENCE, NodeType.SNIPPET, NodeType.DECISION, NodeType.ENTITY)
TYPES_SHARE = (40, 25, 15, 10, 10)
TIERS = (Tier.TASK, Tier.SESSION, Tier.LONGTERM, Tier.ARCHIVE)
TIERS_SHARE = (40, 30, 20, 10)
LOOKED_AT = 0.3
_SCATTER = 0x9E3779B97F4A7C15F39CC0605CEDC835  # odd, so that it has an inverse
_TABLES = ("nodes", "td_access", "td_facts", "td_session", "td_change")
_FAST = ("journal_mode=off", "synchronous=off", "cache_size=-400000", "temp_store=memory")
Access = tuple[str, int, str, int]


def memory_id(number: int) -> str:
    """The id of a memory by its number; as scattered as drawn ones."""
    return str(UUID(int=(number * _SCATTER + 1) % 2**128))


def memory_number(node_id: str) -> int:
    """The number of a memory by its id."""
    return (UUID(node_id).int - 1) * pow(_SCATTER, -1, 2**128) % 2**128


def session_name(number: int) -> str:
    """The external id of a session, 1 to `SESSIONS`."""
    return f"s-{number:04}"


def project_name(session: int) -> str:
    """The project that a session is of."""
    return f"project-{session % PROJECTS:02}"


def memories(source: TextSource, rows: int) -> Iterator[list[DraftValues]]:
    """The rows of `nodes`, a block at a time."""
    for block in range(-(-rows // BLOCK_ROWS)):
        first = block * BLOCK_ROWS
        rng = random.Random(f"{SEED}/row/{block}")
        texts = source.block(block)[: rows - first]
        yield [_memory(rng, first + at, rows, text) for at, text in enumerate(texts)]


class StoreWriter:
    """An empty store that is filled in bulk; whole after `finish`."""

    def __init__(self, path: Path) -> None:
        open_store(path, create=True, clock=lambda: NOW_MS - SPAN_MS).close()
        self._conn = apsw.Connection(str(path))
        for pragma in ("journal_mode=delete", *_FAST):
            self._conn.execute(f"PRAGMA {pragma}").fetchall()
        self._later = _take_off(self._conn)

    def add(self, block: list[DraftValues]) -> None:
        """Write memories, and who looked at some of them."""
        marks = ", ".join("?" * len(DRAFT_COLUMNS))
        with self._conn:
            self._conn.executemany(f"INSERT INTO nodes ({', '.join(DRAFT_COLUMNS)}) VALUES ({marks})", block)
            self._conn.executemany(
                "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, ?, ?)", _accesses(block)
            )

    def finish(self) -> tuple[int, str]:
        """What follows from the rows: full text, the sequence of changes, sessions, counts, indexes, triggers.

        Returns:
            The newest change, as the index has to know it: its number and memory.
        """
        conn = self._conn
        with closing(conn):
            with conn:
                conn.execute("INSERT INTO td_change (node_id) SELECT id FROM nodes ORDER BY pk")
                conn.execute(
                    "INSERT INTO content_fts (rowid, node_id, content, type)"
                    " SELECT pk, id, content, type FROM nodes"
                )
                conn.executemany(
                    "INSERT INTO td_session (id, external_id, root_id, project, started_at, seen_at)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    [(n, session_name(n), n, project_name(n), *[_began_ms(n)] * 2) for n in range(1, SESSIONS + 1)],
                )
            for sql in self._later:
                conn.execute(sql)
            with conn:
                recount(conn, logs_confidence=True)
            seen = conn.execute("SELECT seq, node_id FROM td_change ORDER BY seq DESC LIMIT 1").fetchall()
            conn.execute("PRAGMA journal_mode=wal").fetchall()
        [(seq, newest)] = seen
        return int(str(seq)), str(newest)


def _memory(rng: random.Random, number: int, rows: int, text: str) -> DraftValues:
    at = NOW_MS - SPAN_MS + int(SPAN_MS * (number + rng.random()) / rows)
    session = min(1 + number * SESSIONS // rows, SESSIONS)
    tags = sorted({f"tag-{rng.randrange(TAGS):03}" for _ in range(rng.randint(1, 3))})
    metadata = {"session_id": session_name(session), "project": project_name(session), "tags": tags}
    was_used = rng.random() < LOOKED_AT
    used_at = at + int((NOW_MS - at) * rng.random() ** 3) if was_used else at
    return (
        memory_id(number),
        rng.choices(TYPES, TYPES_SHARE)[0].value,
        None,
        text,
        rng.choices(TIERS, TIERS_SHARE)[0].value,
        round(rng.random() ** 0.5, 3),  # 1 - x² of them are above x
        "agent",
        at,
        at,
        used_at,
        int(was_used),
        json.dumps(metadata),
    )


def _accesses(block: list[DraftValues]) -> Iterator[Access]:
    """One look at each memory that was used since; most in the session that it is of."""
    for values in block:
        used_at, count = int(values[9]), values[10]
        if count:
            own = int(json.loads(values[11])["session_id"][2:])
            later = 1 + min(SESSIONS - 1, int((used_at - NOW_MS + SPAN_MS) * SESSIONS / SPAN_MS))
            yield values[0], own if used_at % 3 else later, "pull" if used_at % 2 else "shown", used_at


def _began_ms(session: int) -> int:
    return NOW_MS - SPAN_MS + (session - 1) * SPAN_MS // SESSIONS


def _take_off(conn: apsw.Connection) -> list[str]:
    """Drop the tables' triggers and indexes; the SQL that brings them back, indexes first."""
    objects = conn.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name IN (SELECT value FROM json_each(?))"
        " AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type",
        (json.dumps(_TABLES),),
    ).fetchall()
    for kind, name, _ in objects:
        conn.execute(f"DROP {kind} {name}")
    return [str(sql) for _, _, sql in objects]
