"""What a purge takes out of the promotion log, and what it must not hide."""

from __future__ import annotations

import re

import pytest

from tierdeck.errors import StoreError
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.log.breaks import breaks_in
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import entries, log_head
from tierdeck.promote.log.rewrite import rewrite_log
from tierdeck.promote.moves.holds import hold
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.records import LogFilter
from tierdeck.store import Store, add_nodes


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Three memories, each moved by hand with a reason; the second is held for another one."""
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(3)])
    for number, node_id in enumerate(ids):
        override_tier(store, [node_id], Tier.LONGTERM, actor="mara", reason=f"reason {number} hunter2", hold=False)
    hold(store, ids[1:2], actor="mara", reason="keep hunter2")
    return ids


def without(text: str) -> str:
    return re.sub("hunter2", "[gone]", text)


def rewrite(store: Store, purged: list[str]) -> int:
    with store.writing() as conn:
        return rewrite_log(
            conn, frozenset(purged), without, removed="[gone]", actor="ole", reason="purge: leaked", at_ms=7
        )


def reasons(store: Store) -> list[str | None]:
    return [entry.reason for entry in reversed(entries(store, LogFilter()))]


def test_reasons_of_purged_memories_go_whole_and_the_secret_from_all_others(store: Store, ids: list[str]) -> None:
    assert rewrite(store, ids[1:2]) == 4
    assert reasons(store) == ["reason 0 [gone]", "[gone]", "reason 2 [gone]", "[gone]"]
    digests = [entry.content_digest for entry in reversed(entries(store, LogFilter()))]
    assert [digest is None for digest in digests] == [False, True, False, True]


def test_the_rewritten_log_is_whole_and_says_who_rewrote_it(store: Store, ids: list[str]) -> None:
    before = log_head(store)
    rewrite(store, ids[2:])
    check = verify_log(store)
    assert (check.problem, check.rows, check.head) == (None, 4, log_head(store))
    [record] = store.read(breaks_in)
    assert (record.actor, record.reason, record.at_ms) == ("ole", "purge: leaked", 7)
    assert (record.old_head, record.new_head) == (before, log_head(store))
    older = verify_log(store, head=before)
    assert (older.first_bad, older.breaks) == (4, (record,)), (
        "what differs from an older head is told with its cause"
    )


def test_nothing_to_take_out_leaves_the_log_as_it_is(store: Store, ids: list[str]) -> None:
    rewrite(store, ids)
    before = log_head(store)
    assert rewrite(store, ids) == 0
    assert log_head(store) == before
    assert len(store.read(breaks_in)) == 1


def test_the_log_takes_rows_afterwards_and_no_change_of_one(store: Store, ids: list[str]) -> None:
    rewrite(store, ids[:1])
    override_tier(store, ids[:1], Tier.TASK, actor="mara", reason="once more", hold=False)
    assert verify_log(store).problem is None
    with pytest.raises(StoreError, match="append-only"), store.writing() as conn:
        conn.execute("UPDATE td_promotion_log SET actor = 'nobody'")


@pytest.mark.parametrize("changed", [1, 2, 3, 4])
def test_a_row_that_somebody_changed_before_is_still_the_first_that_does_not_fit(
    store: Store, ids: list[str], changed: int
) -> None:
    with store.writing() as conn:
        conn.execute("DROP TRIGGER td_promotion_log_update")
        conn.execute("UPDATE td_promotion_log SET actor = 'nobody' WHERE id = ?", (changed,))
    rewrite(store, ids[1:2])
    check = verify_log(store)
    assert (check.first_bad, check.problem is None) == (changed, False)
    assert "hunter2" not in str(reasons(store))


def test_a_log_whose_end_was_cut_off_is_not_made_whole(store: Store, ids: list[str]) -> None:
    with store.writing() as conn:
        conn.execute("DROP TRIGGER td_promotion_log_delete")
        conn.execute("DELETE FROM td_promotion_log WHERE id = 4")
    rewrite(store, ids)
    assert verify_log(store).first_bad == 4
