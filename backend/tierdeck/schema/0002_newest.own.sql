-- The order of every list, newest first, and what most filters look at, so that a page, its place and the count of
-- a filter are found without touching a memory's text. 0003_newest.own.sql puts another in its place, with later
-- times.
CREATE INDEX td_nodes_newest ON nodes (
    (CASE
        WHEN typeof(created_at) IN ('integer', 'real') THEN CAST(CASE
            WHEN created_at > -100000000000 AND created_at < 100000000000 THEN round(created_at * 1000)
            WHEN created_at > -100000000000000 AND created_at < 100000000000000 THEN created_at
            WHEN created_at > -100000000000000000 AND created_at < 100000000000000000 THEN created_at / 1000
            ELSE 0 END AS INTEGER)
        WHEN created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN coalesce(CAST(round((julianday(created_at) - 2440587.5) * 86400000) AS INTEGER), 0)
        ELSE 0 END),
    pk, tier, type, confidence
);
