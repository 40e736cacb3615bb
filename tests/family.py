"""The family's store as its own program makes it, for tests: its schema, its statements, some memories.

Tables, columns and triggers are facts of github.com/rand/rlm-claude-code (src/memory_store.py); the texts are ours.
"""

from __future__ import annotations

import json
import sqlite3

FAMILY_SCHEMA = """
CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL CHECK(type IN ('entity', 'fact', 'experience', 'decision', 'snippet')),
    subtype TEXT,
    content TEXT NOT NULL,
    embedding BLOB,
    tier TEXT DEFAULT 'task' CHECK(tier IN ('task', 'session', 'longterm', 'archive')),
    confidence REAL DEFAULT 0.5 CHECK(confidence >= 0.0 AND confidence <= 1.0),
    provenance TEXT,
    created_at INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    updated_at INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    last_accessed INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    access_count INTEGER DEFAULT 0,
    metadata JSON DEFAULT '{}'
);
CREATE TABLE hyperedges (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL CHECK(type IN ('relation', 'composition', 'causation', 'context')),
    label TEXT,
    weight REAL DEFAULT 1.0 CHECK(weight >= 0.0)
);
CREATE TABLE membership (
    hyperedge_id TEXT NOT NULL REFERENCES hyperedges(id) ON DELETE CASCADE,
    node_id TEXT NOT NULL REFERENCES nodes(id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    position INTEGER DEFAULT 0,
    PRIMARY KEY (hyperedge_id, node_id, role)
);
CREATE TABLE evolution_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    operation TEXT NOT NULL,
    node_ids JSON NOT NULL,
    from_tier TEXT,
    to_tier TEXT,
    reasoning TEXT
);
CREATE TABLE confidence_updates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL REFERENCES nodes(id) ON DELETE CASCADE,
    old_confidence REAL NOT NULL,
    new_confidence REAL NOT NULL,
    trigger_type TEXT NOT NULL CHECK(trigger_type IN ('outcome', 'decay', 'consolidation', 'manual')),
    trigger_id TEXT,
    timestamp INTEGER DEFAULT (strftime('%s', 'now') * 1000)
);
CREATE INDEX idx_nodes_tier ON nodes(tier);
CREATE INDEX idx_nodes_type ON nodes(type);
CREATE INDEX idx_nodes_confidence ON nodes(confidence);
CREATE INDEX idx_nodes_last_accessed ON nodes(last_accessed);
CREATE INDEX idx_membership_node ON membership(node_id);
CREATE INDEX idx_membership_edge ON membership(hyperedge_id);
CREATE INDEX idx_confidence_updates_node ON confidence_updates(node_id);
CREATE INDEX idx_confidence_updates_trigger ON confidence_updates(trigger_type);
CREATE VIRTUAL TABLE content_fts USING fts5(
    node_id UNINDEXED,
    content,
    type UNINDEXED,
    tokenize='porter'
);
CREATE TRIGGER nodes_fts_insert AFTER INSERT ON nodes BEGIN
    INSERT INTO content_fts(node_id, content, type) VALUES (NEW.id, NEW.content, NEW.type);
END;
CREATE TRIGGER nodes_fts_update AFTER UPDATE OF content ON nodes BEGIN
    DELETE FROM content_fts WHERE node_id = OLD.id;
    INSERT INTO content_fts(node_id, content, type) VALUES (NEW.id, NEW.content, NEW.type);
END;
CREATE TRIGGER nodes_fts_delete AFTER DELETE ON nodes BEGIN
    DELETE FROM content_fts WHERE node_id = OLD.id;
END;
"""

INSERT_NODE = (
    "INSERT INTO nodes (id, type, subtype, content, tier, confidence, provenance, metadata) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)

# (number, type, tier, confidence, text); the id is the number in UUID form.
FAMILY_MEMORIES = [
    (1, "fact", "task", 0.5, "The staging database runs on port 5433, not 5432"),
    (2, "decision", "longterm", 0.9, "Chose SQLite over Postgres for the local cache: one file, no server"),
    (3, "experience", "session", 0.7, "Retrying the upload with exponential backoff fixed the flaky deploy"),
    (4, "snippet", "session", 0.6, "git log --oneline --graph | head"),
    (5, "entity", "task", 0.5, "Mara owns the billing service and reviews its migrations"),
    (6, "fact", "archive", 0.2, "The old staging database ran on port 5432"),
    (7, "fact", "task", 0.5, "TODO: rotate key for user alice"),
    (8, "experience", "longterm", 0.85, "Blue green switching is how deploys are done here"),
]


def family_id(number: int) -> str:
    """The id of a test memory by its number."""
    return f"{number:08d}-0000-4000-8000-{number:012d}"


def fill_family_store(conn: sqlite3.Connection) -> None:
    """Write the test memories, an edge, a move and a confidence change with the family's own statements."""
    for number, kind, tier, confidence, text in FAMILY_MEMORIES:
        metadata = json.dumps({"session_id": f"s{number % 3}", "task_id": f"t{number}", "tags": ["demo"]})
        conn.execute(
            INSERT_NODE, (family_id(number), kind, None, text, tier, confidence, f"turn {number}", metadata)
        )
    conn.execute("INSERT INTO hyperedges (id, type, label, weight) VALUES ('edge-1', 'causation', 'informs', 1.0)")
    conn.executemany(
        "INSERT INTO membership (hyperedge_id, node_id, role, position) VALUES ('edge-1', ?, ?, ?)",
        [(family_id(6), "subject", 0), (family_id(1), "object", 1)],
    )
    conn.execute(
        "INSERT INTO evolution_log (operation, node_ids, from_tier, to_tier) VALUES (?, ?, 'task', 'session')",
        ("tier_transition", json.dumps([family_id(3)])),
    )
    conn.execute(
        "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, trigger_id) "
        "VALUES (?, 0.5, 0.7, 'outcome', 's0')",
        (family_id(3),),
    )
