"""What a session has cost: on the branch it is on, and altogether. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spending:
    """In US dollars and tokens; None is unknown, and what is added to the unknown stays unknown.

    `session` and `session_tokens` are never less than `branch` and `branch_tokens`: a rewind takes back turns, not
    money.
    """

    branch: float | None = 0.0
    session: float | None = 0.0
    branch_tokens: int | None = 0
    session_tokens: int | None = 0

    def after(self, cost: float | None, tokens: int | None, *, is_paid_already: bool = False) -> Spending:
        """After a turn that cost so much.

        Args:
            is_paid_already: all its calls were replayed, and the session's account has them.
        """
        return Spending(
            _sum(self.branch, cost),
            self.session if is_paid_already else _sum(self.session, cost),
            _sum_tokens(self.branch_tokens, tokens),
            self.session_tokens if is_paid_already else _sum_tokens(self.session_tokens, tokens),
        )

    def on_branch(self, spent_before: float | None, tokens_before: int | None) -> Spending:
        """The same on a branch that has so much beside it."""
        return Spending(
            self.branch,
            _sum(self.branch, spent_before),
            self.branch_tokens,
            _sum_tokens(self.branch_tokens, tokens_before),
        )

    def at_least(self, session: float | None, session_tokens: int | None) -> Spending:
        """The same, when the session is known to have spent so much already."""
        return Spending(
            self.branch,
            None if self.session is None or session is None else max(self.session, session),
            self.branch_tokens,
            None
            if self.session_tokens is None or session_tokens is None
            else max(self.session_tokens, session_tokens),
        )

    @property
    def before(self) -> tuple[float | None, int | None]:
        """What was spent on other branches."""
        cost = None if self.branch is None or self.session is None else max(0.0, self.session - self.branch)
        if self.branch_tokens is None or self.session_tokens is None:
            return cost, None
        return cost, max(0, self.session_tokens - self.branch_tokens)


def spending_at(
    cost: float | None, tokens: int | None, spent_before: float | None, tokens_before: int | None
) -> Spending:
    """The account as a checkpoint has it: its totals of the session, less what was spent on other branches."""
    return Spending(
        None if cost is None or spent_before is None else max(0.0, cost - spent_before),
        cost,
        None if tokens is None or tokens_before is None else max(0, tokens - tokens_before),
        tokens,
    )


def rewound(now: Spending, target: Spending) -> Spending:
    """After a rewind: the branch stands where the checkpoint stood, the session where it was."""
    return Spending(target.branch, now.session, target.branch_tokens, now.session_tokens)


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _sum_tokens(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
