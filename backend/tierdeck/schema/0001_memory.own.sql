-- The family's tables (github.com/rand/rlm-claude-code, src/memory_store.py, versions to 0.6) under their own
-- names and columns, so that its tools go on working on a store made here. One thing more: `pk`, an alias of the
-- rowid that VACUUM keeps, so that a memory's full-text row can share it and a text update is one look-up.
CREATE TABLE nodes (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (typeof(id) = 'text'),
    type TEXT NOT NULL CHECK (type IN ('entity', 'fact', 'experience', 'decision', 'snippet')),
    subtype TEXT,
    content TEXT NOT NULL,
    embedding BLOB,
    tier TEXT DEFAULT 'task' CHECK (tier IN ('task', 'session', 'longterm', 'archive')),
    confidence REAL DEFAULT 0.5 CHECK (confidence >= 0.0 AND confidence <= 1.0),
    provenance TEXT,
    created_at INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    updated_at INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    last_accessed INTEGER DEFAULT (strftime('%s', 'now') * 1000),
    access_count INTEGER DEFAULT 0,
    metadata JSON DEFAULT '{}'
);
CREATE INDEX idx_nodes_tier ON nodes (tier);
CREATE INDEX idx_nodes_type ON nodes (type);
CREATE INDEX idx_nodes_confidence ON nodes (confidence);
CREATE INDEX idx_nodes_last_accessed ON nodes (last_accessed);

CREATE TABLE hyperedges (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL CHECK (type IN ('relation', 'composition', 'causation', 'context')),
    label TEXT,
    weight REAL DEFAULT 1.0 CHECK (weight >= 0.0)
);

CREATE TABLE membership (
    hyperedge_id TEXT NOT NULL REFERENCES hyperedges (id) ON DELETE CASCADE,
    node_id TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    position INTEGER DEFAULT 0,
    PRIMARY KEY (hyperedge_id, node_id, role)
);
CREATE INDEX idx_membership_node ON membership (node_id);
CREATE INDEX idx_membership_edge ON membership (hyperedge_id);

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
    node_id TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    old_confidence REAL NOT NULL,
    new_confidence REAL NOT NULL,
    trigger_type TEXT NOT NULL CHECK (trigger_type IN ('outcome', 'decay', 'consolidation', 'manual')),
    trigger_id TEXT,
    timestamp INTEGER DEFAULT (strftime('%s', 'now') * 1000)
);
CREATE INDEX idx_confidence_updates_node ON confidence_updates (node_id);
CREATE INDEX idx_confidence_updates_trigger ON confidence_updates (trigger_type);

-- Only a built-in tokenizer: another program on the same file must be able to insert.
CREATE VIRTUAL TABLE content_fts USING fts5(
    node_id UNINDEXED,
    content,
    type UNINDEXED,
    tokenize = 'porter'
);

-- A full-text row takes its memory's pk as rowid. The family's rebuild renumbers the rowids, so none is trusted:
-- a row is deleted under a rowid only when it carries the right node_id, and inserted under a free one.
CREATE TRIGGER nodes_fts_insert AFTER INSERT ON nodes BEGIN
    INSERT INTO content_fts (rowid, node_id, content, type)
    VALUES (
        CASE WHEN EXISTS (SELECT 1 FROM content_fts WHERE rowid = NEW.pk) THEN NULL ELSE NEW.pk END,
        NEW.id, NEW.content, NEW.type
    );
END;

CREATE TRIGGER nodes_fts_update AFTER UPDATE OF id, content, type ON nodes
WHEN OLD.id IS NOT NEW.id OR OLD.content IS NOT NEW.content OR OLD.type IS NOT NEW.type
BEGIN
    DELETE FROM content_fts WHERE rowid = CASE
        WHEN (SELECT node_id FROM content_fts WHERE rowid = OLD.pk) IS OLD.id THEN OLD.pk
        ELSE (SELECT rowid FROM content_fts WHERE node_id = OLD.id)
    END;
    INSERT INTO content_fts (rowid, node_id, content, type)
    VALUES (
        CASE WHEN EXISTS (SELECT 1 FROM content_fts WHERE rowid = NEW.pk) THEN NULL ELSE NEW.pk END,
        NEW.id, NEW.content, NEW.type
    );
END;

CREATE TRIGGER nodes_fts_delete AFTER DELETE ON nodes BEGIN
    DELETE FROM content_fts WHERE rowid = CASE
        WHEN (SELECT node_id FROM content_fts WHERE rowid = OLD.pk) IS OLD.id THEN OLD.pk
        ELSE (SELECT rowid FROM content_fts WHERE node_id = OLD.id)
    END;
END;
