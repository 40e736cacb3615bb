"""Filters taken out of and put into the text of a query. Pure.

What was typed and what a form chose are the same thing, since the form writes into the text: there is one filter,
it can be read, kept in the history and copied to the command line.
"""

from __future__ import annotations

from collections.abc import Iterable

from tierdeck.search import parse_query
from tierdeck.search.answer.hidden import ARCHIVE_RULE


def without_chip(text: str, chip_text: str) -> str:
    """The query without one of its filters, named as it was typed; unchanged when it is not there."""
    before, found, after = _parted(text, chip_text)
    return _joined(before, after) if found else text


def without_hiding(text: str, filter_text: str) -> str:
    """The query without what hides memories, named as `HiddenByFilter` names it.

    That is a filter, all filters of one key, an exclusion, or `is:archived`, which is put in: the rule that it
    lifts is not typed. Unchanged when the query does not hold it.
    """
    query = parse_query(text)
    if filter_text == ARCHIVE_RULE:
        return text if query.filter.include_archived else f"{text} {ARCHIVE_RULE}".strip()
    if filter_text.startswith("-"):
        return without_chip(without_chip(text, filter_text), f'-"{filter_text[1:]}"')
    for key in dict.fromkeys(chip.key for chip in query.chips):
        chips = [chip for chip in query.chips if chip.key == key]
        joined = " ".join(chip.text for chip in chips)
        named = [chip for chip in chips if filter_text in (joined, chip.text, f"{chip.key}={chip.value}")]
        named += [chip for chip in chips if chip.key == "meta" and filter_text == f"meta.{chip.value}"]
        for chip in named:
            text = without_chip(text, chip.text)
        if named:
            break
    return text


def without_filters(text: str) -> str:
    """The query's words only."""
    for chip in parse_query(text).chips:
        text = without_chip(text, chip.text)
    return text.strip()


def with_filters(text: str, filters: Iterable[str]) -> str:
    """The query's words, then these filters instead of those it had."""
    return " ".join([part for part in (without_filters(text), *filters) if part])


def quoted(value: str) -> str:
    """A value as a filter takes it: in quotes when it holds blanks; the quotes themselves can't be written."""
    bare = value.replace('"', "")
    return f'"{bare}"' if any(char.isspace() for char in bare) else bare


def _parted(text: str, chip_text: str) -> tuple[str, str, str]:
    """The text before, the chip, the text behind; a chip is looked for only where a piece begins and ends."""
    start = text.find(chip_text)
    while start >= 0:
        end = start + len(chip_text)
        if (start == 0 or text[start - 1].isspace()) and (end == len(text) or text[end].isspace()):
            return text[:start], chip_text, text[end:]
        start = text.find(chip_text, start + 1)
    return text, "", ""


def _joined(before: str, after: str) -> str:
    return f"{before.rstrip()} {after.lstrip()}".strip()
