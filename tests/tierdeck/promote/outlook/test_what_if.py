from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.promote.outlook.memories import START_MS
from tests.tierdeck.promote.pulls import pull
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote import what_if
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import add_nodes, open_store


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_other_numbers_show_what_they_would_move_and_no_longer_move(tmp_path: Path) -> None:
    now = START_MS + 100 * DAY_MS
    with open_store(tmp_path / "memory.db", create=True, clock=lambda: START_MS) as store:
        [task] = add_nodes(store, [NodeDraft("task")])
        old, older = add_nodes(
            store,
            [NodeDraft("m", tier=Tier.LONGTERM, last_accessed_ms=now - days * DAY_MS) for days in (70, 95)],
        )
        pull(store, [task], times=2)
        found = what_if(store, Rules(), Rules(session_pulls=3, archive_days=60), now)
    assert (found.now["task-session"], found.then["task-session"]) == (1, 0)
    assert (found.now["longterm-archive"], found.then["longterm-archive"]) == (1, 2)
    assert [row.row.id for row in found.gained] == [old]
    assert [row.row.id for row in found.lost] == [task]
    assert older not in {row.row.id for row in (*found.gained, *found.lost)}
    # Each is decided by the rules that would move it.
    assert all(row.decision.passes for row in (*found.gained, *found.lost))
