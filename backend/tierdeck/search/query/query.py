"""What an operator typed, taken apart: filters, words, phrases, exclusions. Pure; the one parser there is.

A known key with a valid value is a filter, everything else is words: nothing that is typed can be a syntax error.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tierdeck.model import NodeFilter
from tierdeck.search.query.typed_filter import KEYS, UnreadableValueError, narrow
from tierdeck.terms.escapes import without_escapes
from tierdeck.terms.normal_form import normal_form
from tierdeck.terms.words import clean, distinct, split_words
from tierdeck.times import now_ms as clock_ms

MAX_QUERY_BYTES = 100_000
# FTS5 refuses expressions that are nested too deep; more phrases or exclusions are read as words.
MAX_PHRASES = 16
MAX_PHRASE_WORDS = 64
MAX_NOTES = 6

_PIECE = re.compile(
    rf"""(?P<key>{"|".join(KEYS)}|confidence|meta\.[^\s:=<>"]+)
        (?P<operator>>=|<=|[:=<>])
        (?P<value>"[^"]*"(?!\S)|(?:[^\s"]+="[^"]*")(?!\S)|[^\s"]\S*)
      | (?P<minus>-?)"(?P<phrase>[^"]*)"(?!\S)
      | (?P<piece>\S+)""",
    re.VERBOSE | re.IGNORECASE,
)
# `-r`, `-rf`, `--force`, `-O2`, `-9`: what only a command's option looks like is looked for, not kept out.
_FLAG = re.compile(r"-{2,}.*|-\w{1,2}|-\w*[\d=].*", re.IGNORECASE)
_DASH_WORD = re.compile(r"-\w")


@dataclass(frozen=True, slots=True)
class FilterChip:
    """One filter as typed: its key, its value, and where in the text it stands."""

    key: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` is what was typed; `words` are in their order, deduplicated, `repeats` how often each.

    `words_text` is the text without its filters and exclusions: what the embedder gets. `pieces` are the typed
    pieces that hold more than one plain word (`wrong-book`, `C++`), for sources that look for them as they stand.
    `maybe_options` are those of `excluded` that were typed as `-word` and may be a command's option all the same
    (`tar -xzf`): a store that holds them so can tell. `notes` say what the parser decided.
    Words, pieces and phrases are in normal form; `forms` are what was typed in another one. `excluded` stands as it
    was typed.
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
    pieces: tuple[str, ...] = ()
    maybe_options: tuple[str, ...] = ()
    repeats: tuple[int, ...] = ()
    forms: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for, so that the newest memories are browsed."""
        return not (self.words or self.phrases or self.excluded or self.words_text.strip())

    @property
    def counted_words(self) -> tuple[tuple[str, int], ...]:
        """Each word with how often it was said; once where nothing was counted."""
        repeats = self.repeats if len(self.repeats) == len(self.words) else (1,) * len(self.words)
        return tuple(zip(self.words, repeats, strict=True))


def parse_query(text: str, *, raw: bool = False, now_ms: int | None = None) -> Query:
    """Take a query apart; any text gives one, none raises.

    Args:
        text: what was typed; of more than 100,000 bytes the beginning is used, and a note says so.
        raw: the whole text is an FTS5 expression; no filters are looked for.
        now_ms: the clock that ages as in `since:7d` count back from; default: now.
    """
    used, notes = _bounded(clean(text))
    if raw:
        return Query(text=text, filter=NodeFilter(), words_text=used, is_raw=True, notes=notes)
    used = without_escapes(used)
    parse = _Parse(now_ms=clock_ms() if now_ms is None else now_ms, notes=list(notes))
    for match in _PIECE.finditer(used):
        parse.take(match)
    return parse.query(text)


def with_as_words(query: Query, excluded: Sequence[str]) -> Query:
    """The same query with some of its exclusions read as words instead."""
    texts = frozenset(map(normal_form, excluded))
    words = distinct((*query.words, *(word for text in excluded for word in split_words(normal_form(text)))))
    return replace(
        query,
        words=words,
        repeats=(*query.repeats, *[1] * (len(words) - len(query.words))),
        words_text=" ".join((query.words_text, *excluded)),
        excluded=tuple(text for text in query.excluded if normal_form(text) not in texts),
        maybe_options=tuple(text for text in query.maybe_options if normal_form(text) not in texts),
        forms=distinct((*query.forms, *(text for text in excluded if normal_form(text) != text))),
    )


def _bounded(text: str) -> tuple[str, tuple[str, ...]]:
    data = text.encode()
    if len(data) <= MAX_QUERY_BYTES:
        return text, ()
    note = f"used the first {MAX_QUERY_BYTES:,} of {len(data):,} bytes of the query"
    return data[:MAX_QUERY_BYTES].decode(errors="ignore"), (note,)


@dataclass(slots=True)
class _Parse:
    now_ms: int
    notes: list[str]
    filter: NodeFilter = field(default_factory=NodeFilter)
    chips: list[FilterChip] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    maybe_options: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)

    def take(self, match: re.Match[str]) -> None:
        if match["key"]:
            self._take_filter(match)
        elif match["phrase"] is not None:
            self._take_phrase(match["minus"], match["phrase"])
        else:
            self._take_piece(match["piece"])

    def query(self, text: str) -> Query:
        words = distinct(self.words)
        counts = Counter(word.lower() for word in self.words)
        return Query(
            text=text,
            filter=self.filter,
            chips=tuple(self.chips),
            words=words,
            phrases=distinct(self.phrases),
            excluded=distinct(self.excluded),
            words_text=" ".join(self.texts),
            notes=_bounded_notes(self.notes),
            pieces=distinct(self.pieces),
            maybe_options=distinct(self.maybe_options),
            repeats=tuple(counts[word.lower()] for word in words),
            forms=distinct(self.forms),
        )

    def _take_filter(self, match: re.Match[str]) -> None:
        key = match["key"].lower() if not match["key"].lower().startswith("meta.") else "meta" + match["key"][4:]
        key = "conf" if key == "confidence" else key
        value = match["value"].replace('"', "") if '"' in match["value"] else match["value"]
        try:
            self.filter = narrow(self.filter, key, match["operator"], value, self.now_ms)
        except UnreadableValueError as e:
            self.notes.append(f"read {_short(match[0])} as words: {key.partition('.')[0]} {e}")
            self._take_words(match[0])
            return
        self.chips.append(FilterChip(key, value, match[0]))

    def _take_phrase(self, minus: str, phrase: str) -> None:
        typed, phrase = phrase, normal_form(phrase)
        words = split_words(phrase)
        is_usable = len(words) <= MAX_PHRASE_WORDS
        if minus and words and self.words and is_usable and len(self.excluded) < MAX_PHRASES:
            self.excluded.append(typed)
            return
        if minus and words:
            self._note_kept_in(f'-"{typed}"', len(words))
        self.texts.append(typed)
        if len(words) > 1 and is_usable and len(self.phrases) < MAX_PHRASES:
            self.phrases.append(phrase)
        self.words.extend(words)
        self._note_piece(phrase.strip(), words)
        self._note_form(typed.strip(), words)

    def _take_piece(self, piece: str) -> None:
        count = len(split_words(normal_form(piece))) if piece.startswith("-") else 0
        may_exclude = self.words and count <= MAX_PHRASE_WORDS and len(self.excluded) < MAX_PHRASES
        if count and may_exclude and not _FLAG.fullmatch(piece):
            self.excluded.append(piece[1:])
            self.maybe_options.append(piece[1:])
            self._note_signs(piece[1:])
            return
        if count and may_exclude:
            self.notes.append(f'looked for {_short(piece)} as it stands; -"{_short(piece[1:])}" would keep it out')
        elif _DASH_WORD.match(piece) and not _FLAG.fullmatch(piece):
            self._note_kept_in(piece, count)
        elif self.words and piece[0] == "-" and not piece[1:2].isascii():
            self.notes.append(f"looked for {_short(piece)} as it stands; only words are kept out")
        self._take_words(piece)

    def _note_signs(self, excluded: str) -> None:
        """Say of `C++` and `.env` that more is kept out: the full-text index, which keeps out, knows no signs."""
        if unicodedata.category(excluded[0])[0] in "PS" or unicodedata.category(excluded[-1])[0] in "PS":
            words = " ".join(split_words(normal_form(excluded)))
            self.notes.append(f"-{_short(excluded)} keeps out all that holds {_short(words)}: signs don't count")

    def _note_kept_in(self, typed: str, words: int) -> None:
        """Say of what looks like an exclusion, of so many words, that it is none."""
        why = f"at most {MAX_PHRASES} are kept out"
        if not self.words:
            why = "only behind another word it is kept out"
        elif words > MAX_PHRASE_WORDS:
            why = f"nothing of more than {MAX_PHRASE_WORDS} words is kept out"
        self.notes.append(f"looked for {_short(typed)} as it stands; {why}")

    def _take_words(self, piece: str) -> None:
        normal = normal_form(piece)
        words = split_words(normal)
        self.texts.append(piece)
        self.words.extend(words)
        self._note_piece(normal, words)
        self._note_form(piece, words)

    def _note_piece(self, piece: str, words: list[str]) -> None:
        if words != [piece]:
            self.pieces.append(piece)

    def _note_form(self, typed: str, words: list[str]) -> None:
        if words and len(words) <= MAX_PHRASE_WORDS and normal_form(typed) != typed:
            self.forms.append(typed)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _bounded_notes(notes: Sequence[str]) -> tuple[str, ...]:
    """Each once, and no more than an operator reads."""
    once = tuple(dict.fromkeys(notes))
    return once if len(once) <= MAX_NOTES else (*once[:MAX_NOTES], f"and {len(once) - MAX_NOTES:,} more such")
