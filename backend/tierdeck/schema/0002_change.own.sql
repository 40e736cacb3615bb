-- A sequence of changes, so that what is derived from a text (its vector, its extra terms) is caught up by reading
-- only what is new. AUTOINCREMENT, or deleting the newest row would let its number be given out again. DELETE and
-- INSERT rather than INSERT OR REPLACE: in a trigger the outer statement's OR IGNORE would win over the REPLACE.
CREATE TABLE td_change (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id TEXT NOT NULL UNIQUE
);
INSERT INTO td_change (node_id) SELECT id FROM nodes ORDER BY pk;

CREATE TRIGGER td_change_insert AFTER INSERT ON nodes BEGIN
    DELETE FROM td_change WHERE node_id = NEW.id;
    INSERT INTO td_change (node_id) VALUES (NEW.id);
END;
CREATE TRIGGER td_change_update AFTER UPDATE OF id, content ON nodes
WHEN OLD.id IS NOT NEW.id OR OLD.content IS NOT NEW.content
BEGIN
    DELETE FROM td_change WHERE node_id IN (OLD.id, NEW.id);
    INSERT INTO td_change (node_id) SELECT OLD.id WHERE OLD.id IS NOT NEW.id;
    INSERT INTO td_change (node_id) VALUES (NEW.id);
END;
CREATE TRIGGER td_change_delete AFTER DELETE ON nodes BEGIN
    DELETE FROM td_change WHERE node_id = OLD.id;
    INSERT INTO td_change (node_id) VALUES (OLD.id);
END;
