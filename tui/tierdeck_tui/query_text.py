"""Filters taken out of and put into the text of a query. Pure.

What was typed and what a form chose are the same thing, since the form writes into the text: there is one filter,
it can be read, kept in the history and copied to the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tierdeck.search import MissingWord, parse_query
from tierdeck.search.answer.filter_label import metadata_label
from tierdeck.search.answer.hidden import ARCHIVE_RULE
from tierdeck.search.query.query import FilterChip
from tierdeck.terms.words import word_spans


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
        named = [chip for chip in chips if filter_text in (joined, chip.text, *_metadata_texts(chip))]
        for chip in named:
            text = without_chip(text, chip.text)
        if named:
            break
    return text


def _metadata_texts(chip: FilterChip) -> tuple[str, ...]:
    """A metadata filter as it is named, however it was typed."""
    key, equals, value = chip.value.partition("=") if chip.key == "meta" else (chip.key[5:], "=", chip.value)
    is_metadata = chip.key.partition(".")[0] == "meta" and equals
    return (metadata_label(key, value),) if is_metadata else ()


def without_filters(text: str) -> str:
    """The query's words only."""
    for chip in parse_query(text).chips:
        text = without_chip(text, chip.text)
    return text.strip()


def with_filters(text: str, filters: Iterable[str]) -> str:
    """The query's words, then these filters instead of those it had."""
    return " ".join([part for part in (without_filters(text), *filters) if part])


def near_texts(text: str, missing: Sequence[MissingWord]) -> tuple[str, ...]:
    """The query with its missing words replaced: first by the nearest of each, then by the next; then as it was.

    Empty when nothing is near to any of them.
    """
    offered = {one.word: (*one.near, *one.hidden) for one in missing if one.near or one.hidden}
    most = max((len(words) for words in offered.values()), default=0)
    chosen = [{word: words[min(nth, len(words) - 1)] for word, words in offered.items()} for nth in range(most)]
    return tuple(dict.fromkeys((*(_with_words(text, words) for words in chosen), text))) if chosen else ()


def _with_words(text: str, instead: Mapping[str, str]) -> str:
    """The text with words replaced, but for those in its filters."""
    parts: list[str] = []
    end = 0
    filters = [(at, at + len(chip.text)) for chip in parse_query(text).chips if (at := text.find(chip.text)) >= 0]
    for start, stop in word_spans(text):
        if text[start:stop] in instead and not any(first <= start < last for first, last in filters):
            parts += [text[end:start], instead[text[start:stop]]]
            end = stop
    return "".join((*parts, text[end:]))


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
