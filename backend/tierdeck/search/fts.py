"""Words to an FTS5 expression in which nothing that was typed can act as syntax. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def quoted(text: str) -> str:
    """The text as one FTS5 string: a word, or a phrase where the tokenizer finds several."""
    return '"' + text.replace("\0", " ").replace('"', '""') + '"'


def any_of(texts: Sequence[str]) -> str:
    """Matches a memory that holds at least one of the words or phrases."""
    return " OR ".join(quoted(text) for text in texts)


def all_of(texts: Sequence[str], *, prefix: str | None = None) -> str:
    """Matches a memory that holds every one of the words, and one that begins with `prefix`."""
    parts = [quoted(text) for text in texts]
    if prefix is not None:
        parts.append(quoted(prefix) + " *")
    return " AND ".join(parts)
