-- The order of 0002_newest.own.sql again, with times to the year 9999. The expression is
-- `store.filters.time_ms_sql("created_at")`, and the planner knows it again only when both are the same.
DROP INDEX IF EXISTS td_nodes_newest;
CREATE INDEX td_nodes_by_time ON nodes (
    (CASE
        WHEN typeof(created_at) IN ('integer', 'real') THEN CAST(CASE
            WHEN created_at > -253402300800 AND created_at < 253402300800 THEN round(created_at * 1000)
            WHEN created_at > -253402300800000 AND created_at < 253402300800000 THEN created_at
            WHEN created_at > -253402300800000000 AND created_at < 253402300800000000 THEN created_at / 1000
            ELSE 0 END AS INTEGER)
        WHEN created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN coalesce(CAST(round((julianday(created_at) - 2440587.5) * 86400000) AS INTEGER), 0)
        ELSE 0 END),
    pk, tier, type, confidence
);
