-- What tierdeck keeps beside the family's tables, in its own stores and in adopted ones alike. Nothing here refers
-- to a family table by a foreign key: its tools drop and rebuild theirs as they like.
CREATE TABLE td_setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE td_session (
    id INTEGER PRIMARY KEY,
    external_id TEXT NOT NULL,
    run INTEGER NOT NULL DEFAULT 1 CHECK (run >= 1),
    root_id INTEGER NOT NULL REFERENCES td_session (id),
    parent_id INTEGER REFERENCES td_session (id),
    project TEXT,
    agent TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT CHECK (outcome IN ('success', 'failure')),
    UNIQUE (external_id, run)
);
CREATE INDEX td_session_project ON td_session (project);

CREATE TABLE td_access (
    id INTEGER PRIMARY KEY,
    node_id TEXT NOT NULL,
    session_id INTEGER NOT NULL REFERENCES td_session (id),
    kind TEXT NOT NULL CHECK (kind IN ('pull', 'push', 'shown', 'maintenance')),
    outcome TEXT CHECK (outcome IN ('success', 'failure')),
    at INTEGER NOT NULL
);
CREATE INDEX td_access_node ON td_access (node_id, at);
CREATE INDEX td_access_session ON td_access (session_id);

-- What a change replaced, whole, so that it can be taken back exactly. `before` is NULL only for a purge's trace.
CREATE TABLE td_revision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('edit', 'archive', 'restore', 'undo', 'purge')),
    actor TEXT NOT NULL,
    reason TEXT,
    before JSON,
    after_digest TEXT,
    undoes INTEGER REFERENCES td_revision (id)
);
CREATE INDEX td_revision_node ON td_revision (node_id, id);

CREATE TABLE td_no_embedding (
    node_id TEXT PRIMARY KEY
) WITHOUT ROWID;
