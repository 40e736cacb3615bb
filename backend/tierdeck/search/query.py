"""What an operator typed, taken apart: filters, words, phrases, exclusions. Pure; the one parser there is."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.model import NodeFilter


@dataclass(frozen=True, slots=True)
class FilterChip:
    """One filter as typed: its key, its value, and where in the text it stands."""

    key: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` is what was typed; `words` are in their order, deduplicated.

    `words_text` is the text without its filters: what the embedder gets. `notes` say what the parser decided.
    """

    text: str
    filter: NodeFilter
    chips: tuple[FilterChip, ...] = ()
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    words_text: str = ""
    is_raw: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for, so that the newest memories are browsed."""
        return not (self.words or self.phrases or self.excluded or self.words_text.strip())
