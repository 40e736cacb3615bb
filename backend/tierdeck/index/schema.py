"""The index file's own tables: those of every index. vec0's come when there is a model; the extra terms and the
list of words are made by the room that fills them.

All of it can be run over a file that has some of them: an older version of ours is taken over so, since the vectors
in it may have cost money, and a table that somebody dropped comes back empty and is filled by the next run.
"""

from __future__ import annotations

import re

import apsw

INDEX_VERSION = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS index_setting (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- A number of our own for each memory: the rowids of another program's `nodes` are not stable.
CREATE TABLE IF NOT EXISTS node_key (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
-- How far each memory is with each model. A row that is `done` says which text its vector was made from; `seq` is
-- set where there is a vector, and grows with every one written, so that what is held in memory can follow. Worked
-- through in the order of `id`: by the memories' own ids, which are random, each batch would touch every page.
CREATE TABLE IF NOT EXISTS embedding_state (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    node_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed', 'skipped')),
    is_late INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    embedded_at INTEGER,
    seq INTEGER,
    claimed_by TEXT,
    claimed_until INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS embedding_state_node ON embedding_state (node_id, model, dimensions);
CREATE INDEX IF NOT EXISTS embedding_state_open ON embedding_state (model, dimensions, status, is_late, attempts)
    WHERE status <> 'done';
CREATE INDEX IF NOT EXISTS embedding_state_text ON embedding_state (content_hash);
-- One row a model: how far the store was looked through, and what the mean vector is made of. `seen_node` holds the
-- mark of the store's history, in place of the last change's memory, which earlier versions kept there.
CREATE TABLE IF NOT EXISTS index_model (
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    seen_seq INTEGER NOT NULL DEFAULT 0,
    seen_node TEXT,
    vectors INTEGER NOT NULL DEFAULT 0,
    vector_sum BLOB,
    probe_mean BLOB,
    mean BLOB,
    mean_vectors INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (model, dimensions)
) WITHOUT ROWID;
-- How much each token counted in the vectors of a model that weighs them; `texts` is how many the store had then.
CREATE TABLE IF NOT EXISTS token_weights (model TEXT PRIMARY KEY, texts INTEGER NOT NULL, weights BLOB NOT NULL);
-- The sign bits of the current model's vectors, from a few thousand vectors on: what a search goes through first.
-- One row for each of vec0's chunks, written with it. `mean` is what the bits are taken from, float32. `build` is
-- another one after all of them were made anew, `seq` grows with every write: so a reader knows what to read again.
CREATE TABLE IF NOT EXISTS bit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    mean BLOB NOT NULL,
    build INTEGER NOT NULL,
    seq INTEGER NOT NULL
);
-- Of each slot, whether a vector is in it, the memory's rowid in the store, 0 where it is not known, and what makes
-- a cosine of bits: the vector's distance from the mean and its product with it, two float32.
CREATE TABLE IF NOT EXISTS bit_chunk (
    chunk_id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    validity BLOB NOT NULL,
    keys BLOB NOT NULL,
    scales BLOB NOT NULL
);
-- Apart from it, so that a few slots are written in place: a row of SQLite's is rewritten whole.
CREATE TABLE IF NOT EXISTS bit_rows (chunk_id INTEGER PRIMARY KEY, bits BLOB NOT NULL);
"""
_TABLES = {
    name: " ".join(f"CREATE TABLE {rest}".split())
    for rest, name in re.findall(r"^CREATE TABLE IF NOT EXISTS ((\w+) .*?);$", _SCHEMA, re.DOTALL | re.MULTILINE)
}
# Made again from the vectors at no cost, so whatever is in the way of one of them is thrown away.
BIT_TABLES = ("bit_head", "bit_chunk", "bit_rows")


def is_complete(conn: apsw.Connection) -> bool:
    """Whether every table of ours is there, and those of the bits as we make them."""
    return _TABLES.keys() <= _found(conn).keys() and has_bit_tables(conn)


def has_bit_tables(conn: apsw.Connection) -> bool:
    """Whether the tables of the bits are there, as we make them."""
    found = _found(conn)
    return all(found.get(name) == _TABLES[name] for name in BIT_TABLES)


def complete(conn: apsw.Connection) -> None:
    """Make what is not there, inside the caller's transaction."""
    if not has_bit_tables(conn):
        found = conn.execute("SELECT type, name FROM sqlite_master").fetchall()
        for kind, name in ((str(kind), str(name)) for kind, name in found):
            if name in BIT_TABLES and kind in ("table", "view"):
                conn.execute(f"DROP {kind} {name}")
    conn.execute(_SCHEMA)


def _found(conn: apsw.Connection) -> dict[str, str]:
    rows = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    return {str(name): " ".join(str(sql).split()) for name, sql in rows}
