-- What was recorded before there were rules counts for them. It is counted here, once; from now on each access is
-- counted with its own record. Nothing was logged yet, so a move by hand is known from its revision alone.
UPDATE td_session SET seen_at = max(
    started_at,
    coalesce(ended_at, started_at),
    coalesce((SELECT max(a.at) FROM td_access a WHERE a.session_id = td_session.id), started_at)
);

INSERT INTO td_facts (node_id, tier, tier_after, counted_after, moved_at, last_pull_id)
SELECT
    n.id,
    n.tier,
    (SELECT coalesce(max(id), 0) FROM td_access),
    coalesce((SELECT max(a.id) FROM td_access a WHERE a.node_id = n.id AND a.at <= m.at), 0),
    m.at,
    coalesce((SELECT max(a.id) FROM td_access a WHERE a.node_id = n.id AND a.kind = 'pull'), 0)
FROM nodes n
LEFT JOIN (
    SELECT node_id, max(at) AS at FROM td_revision WHERE kind IN ('archive', 'restore') GROUP BY node_id
) m ON m.node_id = n.id
WHERE m.at IS NOT NULL OR n.id IN (SELECT node_id FROM td_access WHERE kind = 'pull');

INSERT INTO td_use (node, root, pulls, first_at, last_at, ok, bad)
SELECT
    f.node, s.root_id, count(*), min(a.at), max(a.at),
    sum(coalesce(a.outcome, s.outcome, r.outcome) IS 'success'),
    sum(coalesce(a.outcome, s.outcome, r.outcome) IS 'failure')
FROM td_facts f
JOIN td_access a ON a.node_id = f.node_id
JOIN td_session s ON s.id = a.session_id
JOIN td_session r ON r.id = s.root_id
WHERE a.kind = 'pull' AND a.id > f.counted_after
GROUP BY f.node, s.root_id;

UPDATE td_facts AS f SET (roots, max_in_root, ok, bad, first_pull, last_pull) = (
    SELECT
        count(*), coalesce(max(u.pulls), 0), coalesce(sum(u.ok > 0), 0), coalesce(sum(u.bad > 0), 0),
        min(u.first_at), max(u.last_at)
    FROM td_use u WHERE u.node = f.node
);
