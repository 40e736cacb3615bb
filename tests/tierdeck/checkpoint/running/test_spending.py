"""What a branch and its session have cost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tierdeck.checkpoint.running.spending import Spending, rewound, spending_at

cents = st.integers(0, 1_000)
turns = st.lists(cents, max_size=8)


@given(turns, turns, turns)
def test_a_rewind_takes_turns_off_the_branch_and_nothing_off_the_session(
    before: list[int], lost: list[int], after: list[int]
) -> None:
    now = Spending()
    for cost in before:
        now = now.after(float(cost), cost)
    target = now
    for cost in lost:
        now = now.after(float(cost), cost)
    now = rewound(now, target)
    beside = now.before
    for cost in after:
        now = now.after(float(cost), cost)
    assert (now.branch, now.branch_tokens) == (sum(before + after), sum(before + after))
    assert (now.session, now.session_tokens) == (sum(before + lost + after), sum(before + lost + after))
    assert beside == now.before == (sum(lost), sum(lost))
    assert spending_at(now.session, now.session_tokens, *beside) == now, "a checkpoint and its journal give it back"


def test_what_was_paid_for_is_not_added_to_the_session_again() -> None:
    now = Spending(1.0, 3.0, 10, 30).after(0.5, 5, is_paid_already=True)
    assert now == Spending(1.5, 3.0, 15, 30)


def test_the_unknown_stays_unknown() -> None:
    now = Spending().after(None, 5).after(0.5, None)
    assert now == Spending(None, None, None, None)
    assert now.before == (None, None)
    assert Spending(1.0, 2.0, None, 3).at_least(5.0, None) == Spending(1.0, 5.0, None, None)
    assert Spending(1.0, 9.0, 1, 1).at_least(5.0, 7) == Spending(1.0, 9.0, 1, 7)
    assert spending_at(None, 5, 0.0, None) == Spending(None, None, None, 5)
