-- In a store of ours what the rules look at is in step with the memory by itself, whichever program changes it.
CREATE TRIGGER td_facts_tier AFTER UPDATE OF tier ON nodes WHEN OLD.tier IS NOT NEW.tier BEGIN
    UPDATE td_facts SET tier = NEW.tier, tier_after = (SELECT coalesce(max(id), 0) FROM td_access)
    WHERE node_id = NEW.id;
END;

-- A memory that another program deletes and writes anew has facts already; a REPLACE fires no other trigger.
CREATE TRIGGER td_facts_again AFTER INSERT ON nodes WHEN EXISTS (SELECT 1 FROM td_facts WHERE node_id = NEW.id)
BEGIN
    UPDATE td_facts SET conf_min = min(conf_min, NEW.confidence) WHERE node_id = NEW.id;
    UPDATE td_facts SET tier = NEW.tier, tier_after = (SELECT coalesce(max(id), 0) FROM td_access)
    WHERE node_id = NEW.id AND tier IS NOT NEW.tier;
END;

-- Those of a memory that is gone are found under no tier; should it come back, they are its own again.
CREATE TRIGGER td_facts_gone AFTER DELETE ON nodes BEGIN
    UPDATE td_facts SET tier = NULL WHERE node_id = OLD.id;
END;
CREATE TRIGGER td_facts_renamed AFTER UPDATE OF id ON nodes WHEN OLD.id IS NOT NEW.id BEGIN
    UPDATE td_facts SET tier = NULL WHERE node_id = OLD.id;
END;

-- A change is as old as the memory's own `updated_at` says when it moved forward with it, else it is new.
CREATE TRIGGER td_confidence_update AFTER UPDATE OF confidence ON nodes
WHEN OLD.confidence IS NOT NEW.confidence
BEGIN
    INSERT INTO td_confidence (node_id, at, old_confidence, new_confidence)
    VALUES (
        NEW.id,
        CASE WHEN typeof(NEW.updated_at) = 'integer' AND NEW.updated_at > OLD.updated_at THEN NEW.updated_at
            ELSE CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) END,
        OLD.confidence, NEW.confidence
    );
    UPDATE td_facts SET conf_min = min(conf_min, NEW.confidence) WHERE node_id = NEW.id;
END;

-- Longterm memories by their last use, for the rule that archives. The expression is
-- `promote.evidence.facts_sql.NODE_USE`, and the planner knows it again only when both are the same.
CREATE INDEX td_nodes_idle ON nodes (
    coalesce(
        nullif(CASE
            WHEN typeof(last_accessed) IN ('integer', 'real') THEN CAST(CASE
                WHEN last_accessed > -253402300800 AND last_accessed < 253402300800 THEN round(last_accessed * 1000)
                WHEN last_accessed > -253402300800000 AND last_accessed < 253402300800000 THEN last_accessed
                WHEN last_accessed > -253402300800000000 AND last_accessed < 253402300800000000
                    THEN last_accessed / 1000
                ELSE 0 END AS INTEGER)
            WHEN last_accessed GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                THEN coalesce(CAST(round((julianday(last_accessed) - 2440587.5) * 86400000) AS INTEGER), 0)
            ELSE 0 END, 0),
        nullif(CASE
            WHEN typeof(created_at) IN ('integer', 'real') THEN CAST(CASE
                WHEN created_at > -253402300800 AND created_at < 253402300800 THEN round(created_at * 1000)
                WHEN created_at > -253402300800000 AND created_at < 253402300800000 THEN created_at
                WHEN created_at > -253402300800000000 AND created_at < 253402300800000000 THEN created_at / 1000
                ELSE 0 END AS INTEGER)
            WHEN created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                THEN coalesce(CAST(round((julianday(created_at) - 2440587.5) * 86400000) AS INTEGER), 0)
            ELSE 0 END, 0),
        0
    )
) WHERE tier = 'longterm';
