"""The mails that the demo's live agent answers, over and over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who asks what; `words` are what the agent looks up."""

    who: str
    question: str
    words: str


_TICKETS = (
    Ticket("lena", "Why was a customer charged twice?", "charged twice"),
    Ticket("park", "When does the Hanbit test system answer?", "Hanbit test system"),
    Ticket("tomas", "How long does Paylane wait for our webhook?", "Paylane webhook"),
    Ticket("priya", "How many grams may a Nordpost label have?", "Nordpost grams"),
    Ticket("li wei", "Who changes the label format?", "label format"),
    Ticket("nadia", "What do we set before a migration?", "migration lock_timeout"),
    Ticket("sven", "Until when can a TransAlpin label be voided?", "TransAlpin voided"),
)


def ticket_of(turn: int) -> Ticket:
    """The mail that is answered in a turn, counted from 1."""
    return _TICKETS[(turn - 1) % len(_TICKETS)]
