"""What has to be decided before a call may be made, and by whom. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tierdeck.checkpoint.journal import CHOICES, Choice, Decision, Entry

Rule = Literal["ask"] | Choice


@dataclass(frozen=True, slots=True)
class Question:
    """A call whose outcome is unknown, or that was done where this branch does not remember it.

    `about` is that call; `why` says what is known, in a sentence.
    """

    about: Entry
    why: str
    choices: tuple[Choice, ...] = CHOICES


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """A call that somebody can decide about before the session goes on.

    Without a `question` it is not asked about: it is made when the agent comes to it, unless decided otherwise.
    """

    entry: Entry
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class CallRules:
    """How questions are answered without a person.

    `by_kind` names a rule for a kind of call; without one, a call with side effects asks and any other is made
    again, which costs only money. `ask` is called with a question that a rule leaves open, on the agent's thread;
    without it, or when it gives None, the call is not made and the agent gets an UndecidedOperationError.

    Spec: SPEC-09.23
    """

    by_kind: Mapping[str, Rule] | None = None
    ask: Callable[[Question], Decision | None] | None = None

    def decision(self, question: Question, *, has_side_effects: bool) -> Decision | None:
        """The answer; None when nobody gives one."""
        if question.about.decision is not None:
            return question.about.decision
        rule = (self.by_kind or {}).get(question.about.kind, "ask" if has_side_effects else "run again")
        if rule != "ask":
            return Decision(rule, by="rule")
        return None if self.ask is None else self.ask(question)


def question_about(entry: Entry) -> Question | None:
    """What is open about a call that the branch's own journal has; None when nothing is."""
    if entry.state == "running":
        return Question(entry, "it was under way when the session ended: whether it was done is unknown")
    if entry.state == "failed":
        return Question(entry, "it failed when it was made: how far it came is unknown")
    if entry.state == "done" and entry.result is not None and entry.result.why is not None:
        return Question(entry, f"it was done, and its result could not be kept ({entry.result.why})")
    return None


def question_planned(entry: Entry) -> Question:
    """What was open about a call that was not begun, and that somebody decided about."""
    return Question(entry, "it was planned, and not begun")


def open_operations(own: Iterable[Entry], before: Iterable[Entry]) -> tuple[OpenOperation, ...]:
    """The calls of a branch that can be decided about, those of branches that were left last.

    Args:
        own: the branch's own, that are planned or were made in turns it has not ended.
        before: made on branches that were left, and not made on this one since.
    """
    asked = {entry.op_id: OpenOperation(entry, question_before(entry)) for entry in before}
    found = []
    for entry in own:
        question = question_about(entry) if entry.has_side_effects else None
        # A call that was planned at the checkpoint and made on a branch that was left is one call.
        if entry.op_id not in asked and (question is not None or entry.state in ("pending", "running")):
            found.append(OpenOperation(entry, question))
    return (*found, *asked.values())


def question_before(entry: Entry) -> Question:
    """What is open about a call of a branch that was left."""
    known = {"done": "it was done", "failed": "it failed"}.get(entry.state, "it was begun")
    return Question(
        entry, f"{known} on branch {entry.branch} in turn {entry.turn}, which this one does not go on from"
    )
