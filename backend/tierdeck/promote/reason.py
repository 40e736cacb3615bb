"""The reason a person gives for a decision, checked."""

from __future__ import annotations

from tierdeck.errors import InvalidValueError
from tierdeck.store.drafts import checked_text

MIN_REASON_CHARS = 3  # visible ones


def checked_reason(reason: str | None, doing: str) -> str:
    """A reason with at least `MIN_REASON_CHARS` visible characters.

    Args:
        doing: what it is for, as the message begins: "move memories".

    Raises:
        InvalidValueError: it is too short, or may not enter a store.
    """
    text = checked_text(reason, "reason") or ""
    visible = reason_chars(text)
    noun = "character" if visible == 1 else "characters"
    if visible < MIN_REASON_CHARS:
        raise InvalidValueError(
            f"{doing}: the reason {text[:40]!r} has {visible} visible {noun}, the least is {MIN_REASON_CHARS}",
            hint="say why, for whoever reads the log later",
        )
    return text


def reason_chars(text: str) -> int:
    """How many characters of a reason can be seen: no spaces, nothing invisible."""
    return sum(character.isprintable() and not character.isspace() for character in text)
