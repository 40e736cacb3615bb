-- The least confidence over the latest three root sessions, as `promote.evidence.facts_sql.held_sql` works it out:
-- today's value, what each change on record since the first pull of the oldest of them replaced and set, and the
-- value that stood then.
WITH history AS (
    SELECT
        c.node_id AS node_id, c.id AS id, c.old_confidence AS old, c.new_confidence AS new,
        (CASE
            WHEN typeof(c.timestamp) IN ('integer', 'real') THEN CAST(CASE
                WHEN c.timestamp > -253402300800 AND c.timestamp < 253402300800 THEN round(c.timestamp * 1000)
                WHEN c.timestamp > -253402300800000 AND c.timestamp < 253402300800000 THEN c.timestamp
                WHEN c.timestamp > -253402300800000000 AND c.timestamp < 253402300800000000
                    THEN c.timestamp / 1000
                ELSE 0 END AS INTEGER)
            WHEN c.timestamp GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
                THEN coalesce(CAST(round((julianday(c.timestamp) - 2440587.5) * 86400000) AS INTEGER), 0)
            ELSE 0 END) AS at
    FROM confidence_updates c
)
UPDATE td_facts AS f SET conf_min = (
    SELECT min(
        n.confidence,
        coalesce(
            (SELECT min(min(h.old), min(h.new)) FROM history h WHERE h.node_id = f.node_id AND h.at > w.start),
            n.confidence
        ),
        coalesce(
            (SELECT h.new FROM history h WHERE h.node_id = f.node_id AND h.at <= w.start
                ORDER BY h.at DESC, h.id DESC LIMIT 1),
            n.confidence
        )
    )
    FROM nodes n, (
        SELECT min(first_at) AS start FROM (
            SELECT u.first_at FROM td_use u WHERE u.node = f.node ORDER BY u.last_at DESC, u.root DESC LIMIT 3
        )
    ) w
    WHERE n.id = f.node_id
) WHERE f.roots > 0;
