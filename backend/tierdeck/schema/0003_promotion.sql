-- Promotion: what the rules count, what a person decided, and the log of every move. As in 0001, nothing here refers
-- to a family table by a foreign key.
ALTER TABLE td_session ADD COLUMN seen_at INTEGER;  -- its latest sign of life; NULL until the session itself was met
CREATE INDEX td_session_root ON td_session (root_id);

-- One row for each memory that was pulled or moved. What it counts is made from td_use and can be made again; the
-- places in the sequence of accesses (`…_after`, ids of td_access) are kept by the log as well. Places rather than
-- times, since a clock can jump.
CREATE TABLE td_facts (
    node INTEGER PRIMARY KEY,
    node_id TEXT NOT NULL UNIQUE,
    tier TEXT,                                  -- as in nodes; see 0003_promotion.own.sql
    tier_after INTEGER NOT NULL DEFAULT 0,      -- it came to this tier after that access
    counted_after INTEGER NOT NULL DEFAULT 0,   -- only later pulls are evidence: a move by hand starts anew
    moved_at INTEGER,                           -- the latest move by hand
    roots INTEGER NOT NULL DEFAULT 0,           -- distinct root sessions that pulled it
    max_in_root INTEGER NOT NULL DEFAULT 0,     -- the most pulls within one of them
    ok INTEGER NOT NULL DEFAULT 0,              -- root sessions with a success
    bad INTEGER NOT NULL DEFAULT 0,             -- root sessions with a failure
    first_pull INTEGER,
    last_pull INTEGER,
    last_pull_id INTEGER NOT NULL DEFAULT 0,    -- the access that was its latest pull, evidence or not
    conf_min REAL                               -- the least confidence over its latest three root sessions
);
CREATE INDEX td_facts_task ON td_facts (max_in_root, roots, last_pull) WHERE tier = 'task';
CREATE INDEX td_facts_session ON td_facts (roots, ok, bad, coalesce(conf_min, -1)) WHERE tier = 'session';
-- Moved or pulled lately, whatever `nodes.last_accessed` says: not stale yet.
CREATE INDEX td_facts_longterm ON td_facts (max(coalesce(last_pull, 0), coalesce(moved_at, 0)))
WHERE tier = 'longterm';
CREATE INDEX td_facts_archive ON td_facts (last_pull_id) WHERE tier = 'archive' AND last_pull_id > tier_after;

-- The pulls that are evidence, by memory (td_facts.node) and root session.
CREATE TABLE td_use (
    node INTEGER NOT NULL,
    root INTEGER NOT NULL,
    pulls INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    ok INTEGER NOT NULL,                        -- pulls with a success
    bad INTEGER NOT NULL,
    PRIMARY KEY (node, root)
) WITHOUT ROWID;

-- Every change of a confidence in a store of ours, whoever made it: the family's update writes no log row.
CREATE TABLE td_confidence (
    id INTEGER PRIMARY KEY,
    node_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    old_confidence REAL,
    new_confidence REAL
);
CREATE INDEX td_confidence_node ON td_confidence (node_id);

-- No rule moves a held memory until the hold is released, or past `until` (looked at when read).
CREATE TABLE td_hold (
    id INTEGER PRIMARY KEY,
    node_id TEXT NOT NULL,
    tier TEXT NOT NULL,                         -- where it was held: elsewhere now means that another program moved it
    set_at INTEGER NOT NULL,
    until INTEGER,
    actor TEXT NOT NULL,
    reason TEXT,
    log_id INTEGER NOT NULL,
    released_at INTEGER
);
CREATE UNIQUE INDEX td_hold_node ON td_hold (node_id) WHERE released_at IS NULL;
CREATE INDEX td_hold_log ON td_hold (log_id);

-- A candidate that a person does not want moved; lapses when the memory is pulled or moved after it.
CREATE TABLE td_dismissal (
    node_id TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    at INTEGER NOT NULL,
    last_pull_id INTEGER NOT NULL,
    log_id INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE td_promotion_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('sweep', 'session-end', 'override', 'approve', 'undo')),
    at INTEGER NOT NULL,
    ended_at INTEGER,                           -- NULL: still going on, or killed
    actor TEXT NOT NULL,
    reason TEXT,
    rule_version TEXT,
    planned INTEGER NOT NULL,
    moved INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    rejections JSON                             -- how many memories failed each criterion
);

-- Append-only, and chained: each digest covers the row and the digest before it.
CREATE TABLE td_promotion_log (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    node_id TEXT NOT NULL,
    from_tier TEXT,
    to_tier TEXT,
    kind TEXT NOT NULL
        CHECK (kind IN ('auto', 'approve', 'override', 'undo', 'hold', 'release', 'dismiss')),
    rule TEXT,
    rule_version TEXT,
    criteria JSON,
    actor TEXT NOT NULL,
    reason TEXT,
    run_id INTEGER,
    content_digest TEXT,                        -- of text and metadata, which no move touches
    undoes INTEGER,
    evolution_id INTEGER,
    access_id INTEGER NOT NULL,                 -- the latest access when it happened
    counted_after INTEGER NOT NULL,             -- what td_facts.counted_after became by it
    prev_digest TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE INDEX td_promotion_log_node ON td_promotion_log (node_id, id);
CREATE INDEX td_promotion_log_run ON td_promotion_log (run_id) WHERE run_id IS NOT NULL;

CREATE TRIGGER td_promotion_log_update BEFORE UPDATE ON td_promotion_log BEGIN
    SELECT raise(ABORT, 'the promotion log is append-only');
END;
CREATE TRIGGER td_promotion_log_delete BEFORE DELETE ON td_promotion_log BEGIN
    SELECT raise(ABORT, 'the promotion log is append-only');
END;
-- REPLACE slips past a DELETE trigger, so a new row must be the next one. It must also follow the head kept in
-- td_setting: after the end was cut off, going on would hide the cut.
CREATE TRIGGER td_promotion_log_next BEFORE INSERT ON td_promotion_log
WHEN NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM td_promotion_log)
    OR (NEW.id - 1) || ':' || NEW.prev_digest
        IS NOT coalesce((SELECT value FROM td_setting WHERE key = 'promotion_log_head'), '0:')
    OR NEW.prev_digest IS NOT coalesce((SELECT digest FROM td_promotion_log ORDER BY id DESC LIMIT 1), '')
BEGIN
    SELECT raise(ABORT, 'the promotion log does not end where its head says');
END;
CREATE TRIGGER td_promotion_log_head AFTER INSERT ON td_promotion_log BEGIN
    DELETE FROM td_setting WHERE key = 'promotion_log_head';
    INSERT INTO td_setting (key, value) VALUES ('promotion_log_head', NEW.id || ':' || NEW.digest);
END;
