from __future__ import annotations

import pytest

from tests.other_program import other_program
from tests.tierdeck.promote.outlook.memories import START_MS, added
from tests.tierdeck.promote.pulls import pull
from tierdeck.promote import count_candidates, dismiss, hold, plan_sweep
from tierdeck.promote.evidence.facts_sql import facts_sql
from tierdeck.promote.outlook.due_sql import candidate_sources, parameters
from tierdeck.promote.outlook.tally import Tally, tally
from tierdeck.promote.rules import Rules
from tierdeck.store import Store

RULES = Rules()


def used_twice(store: Store, count: int) -> list[str]:
    ids = added(store, count)
    pull(store, ids, times=2)
    return ids


@pytest.mark.spec("SPEC-09.11")
def test_a_memory_held_and_dismissed_counts_once_as_held(store: Store) -> None:
    ids = used_twice(store, 5)
    dismiss(store, ids[:2], actor="mara", rules=RULES)
    hold(store, ids[1:3], actor="mara", reason="not yet")
    task = candidate_sources(facts_sql(store))[0]
    counted = store.read(lambda conn: tally(conn, task, parameters(RULES, START_MS)))
    assert counted == Tally(passing=5, held=2, dismissed=1)
    assert counted.free == count_candidates(store, RULES, START_MS)["task-session"] == 2
    plan = plan_sweep(store, RULES, START_MS)
    assert (plan.due["task-session"], plan.held, plan.dismissed) == (2, 2, 1)


def test_what_another_program_deletes_renames_or_replaces_is_counted_no_more(store: Store) -> None:
    gone, renamed, replaced, _ = used_twice(store, 4)
    with other_program(store.path) as program:
        program.do(f"conn.execute('DELETE FROM nodes WHERE id = ?', [{gone!r}])")
        program.do(f"conn.execute('UPDATE nodes SET id = ? WHERE id = ?', ['new', {renamed!r}])")
        program.do(
            "conn.execute(\"REPLACE INTO nodes (id, type, content, tier) VALUES (?, 'fact', 'm', 'session')\", "
            f"[{replaced!r}])"
        )
        assert count_candidates(store, RULES, START_MS)["task-session"] == 1
        # It comes back with what is known of it.
        program.do(f"conn.execute(\"INSERT INTO nodes (id, type, content) VALUES (?, 'fact', 'm')\", [{gone!r}])")
    assert count_candidates(store, RULES, START_MS)["task-session"] == 2


def test_in_a_store_of_ours_the_candidates_of_task_are_counted_in_the_index_alone(store: Store) -> None:
    task = candidate_sources(facts_sql(store))[0]
    sql = f"EXPLAIN QUERY PLAN SELECT count(*) FROM {task.counted} AND {task.where}"
    [row] = store.read(lambda conn: conn.execute(sql, parameters(RULES, START_MS)).fetchall())
    assert "COVERING INDEX td_facts_task" in str(row[3])
