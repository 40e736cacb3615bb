"""Whether the extra terms are those that a rebuild would give.

They are written with what is noted of them in one transaction, so only a hand, a damaged file or a fault of ours
puts them out of step. The store goes on meanwhile: the index file is read in one snapshot, the store after it in
short reads, and what the store changed since is still to be taken in, and no fault.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import apsw

from tierdeck import db
from tierdeck.index.file import get_setting
from tierdeck.index.store_texts import has_changes, is_same_history
from tierdeck.store import Store
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.terms.held_sums import HeldSums
from tierdeck.terms.of_text import RULES, TextTerms, terms_of_text
from tierdeck.terms.term_table import HELD, ROWS, TERMS, read_progress, table_fault, text_hash

# So many memories are compared where nobody asked for a thorough look, in ranges drawn at random: 0.1 to 0.6 s.
SAMPLED_ROWS = 2_000
SAMPLED_CHARS = 8_000_000
EXAMPLES = 20
_RANGE_ROWS = 50
_PARTS = 1_000_000
_PAGE_ROWS = 512
_PAGE_BYTES = 4_000_000
_ASKED_TERMS = 4
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_CHANGED = "EXISTS (SELECT 1 FROM td_change c WHERE c.node_id = n.id AND c.seq > ?3)"


@dataclass(frozen=True, slots=True)
class TermLook:
    """What a look at the extra terms found.

    `faults` are the ends of sentences, none when nothing is wrong; `examples` name the first few memories, at most
    `EXAMPLES`; `waiting` counts the memories whose terms are still to be made or taken out: all of them, or with
    `is_of_looked` those among the `looked_rows`, where the store can't say what it changed.
    """

    faults: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    waiting: int = 0
    looked_rows: int = 0
    is_of_looked: bool = False


def look_at_terms(conn: apsw.Connection, store: Store, *, is_thorough: bool) -> TermLook:
    """Compare the extra terms with the texts that they are of.

    Args:
        conn: reads the index file; it has the tables of the terms, or some of them.
        is_thorough: compare every term of every memory, not only counts and `SAMPLED_ROWS` of them or
            `SAMPLED_CHARS` characters.

    Raises:
        StoreError: the store can't be read.
    """
    with db.transaction(conn):
        fault = table_fault(conn)
        if fault is not None:
            return TermLook((fault,))
        if get_setting(conn, "terms_rules") != RULES:
            return TermLook(waiting=int(conn.execute(f"SELECT count(*) FROM {ROWS}").get))
        try:
            return _Look(conn, store, is_thorough=is_thorough).go()
        except (apsw.CorruptError, apsw.SQLError) as e:
            return TermLook((f"they can't be read ({e})",))


@dataclass(frozen=True, slots=True)
class _Text:
    """A memory as the store has it now, and whether the terms have not followed it yet."""

    n: int
    node_id: str
    text: str
    is_waiting: bool


@dataclass(slots=True)
class _Found:
    """The rowids of memories that something is wrong with, by what it is, and of those that wait."""

    missing: dict[int, str] = field(default_factory=dict)
    stale: dict[int, str] = field(default_factory=dict)
    other: dict[int, str] = field(default_factory=dict)
    gone: dict[int, str] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    chars: int = 0


class _Look:
    def __init__(self, conn: apsw.Connection, store: Store, *, is_thorough: bool) -> None:
        self._conn = conn
        self._store = store
        self._is_thorough = is_thorough
        self._progress = read_progress(conn)
        self._follows = (
            has_changes(store)
            and self._progress.is_whole
            and is_same_history(store, self._progress.seen_seq, self._progress.seen_mark)
        )
        self._sums = HeldSums(conn) if is_thorough else None
        self._found = _Found()

    def go(self) -> TermLook:
        for first, limit in self._ranges():
            if self._is_thorough or self._found.chars < SAMPLED_CHARS:
                self._range(first, limit)
        found, faults = self._found, self._faults_of_counts()
        waiting = len(found.waiting)
        if self._follows:
            changed = waiting = self._changed()
            if len(found.gone) <= changed or self._progress.gone_seq:  # which of them went is not on record
                waiting, found.gone = max(waiting, len(found.gone)), {}
        else:
            waiting, found.gone = waiting + len(found.gone), {}
        named = (
            (found.missing, "without any"),
            (found.stale, "with those of an older text"),
            (found.other, "with others than the text gives"),
            (found.gone, "with some though gone"),
        )
        said = ", ".join(f"{len(rows):,} {words}" for rows, words in named if rows)
        faults += [f"of the memories looked at {said}"] if said else []
        examples = [f"{who}: {words}" for rows, words in named for who in rows.values()]
        return TermLook(tuple(faults), tuple(examples[:EXAMPLES]), waiting, len(found.seen), not self._follows)

    def _faults_of_counts(self) -> list[str]:
        faults = []
        sql = f"SELECT count(*) FROM {HELD} h LEFT JOIN {ROWS} r ON r.n = h.id WHERE r.n IS NULL"
        unknown = int(self._conn.execute(sql).get)
        if unknown:
            faults.append(f"{unknown:,} memories have some without a record of it")
        if self._sums is not None and self._sums.strays:
            faults.append(f"{self._sums.strays:,} belong to no memory")
        if not self._follows:
            return faults
        known = int(self._conn.execute(f"SELECT count(*) FROM {ROWS}").get)
        rows = int(self._store.read(lambda look: look.execute("SELECT count(*) FROM nodes").get))
        changed = self._changed()  # after it: what came between is counted among these
        if known < rows - changed:
            faults.append(f"{known:,} of {rows:,} memories were looked at")
        if known > rows + changed and not self._progress.gone_seq:
            faults.append(f"{known:,} memories are on record, of {rows:,} that are there")
        return faults

    def _changed(self) -> int:
        """How many memories the store has added, changed or lost since: each accounts for one row at most."""
        sql = "SELECT count(*) FROM td_change WHERE seq > ?"
        return int(self._store.read(lambda look: look.execute(sql, (self._progress.seen_seq,)).get))

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Where to look and at how many memories: everywhere, or of a large store here and there."""
        sql = "SELECT (SELECT min(rowid) FROM nodes), (SELECT max(rowid) FROM nodes), (SELECT count(*) FROM nodes)"
        lowest, highest, count = self._store.read(lambda look: look.execute(sql).get)
        if self._is_thorough or count <= SAMPLED_ROWS:
            yield _LOWEST, -1
            return
        yield _LOWEST, _RANGE_ROWS
        yield highest - _RANGE_ROWS + 1, _RANGE_ROWS
        for part in random.sample(range(_PARTS), SAMPLED_ROWS // _RANGE_ROWS - 2):
            yield lowest + (highest - lowest) * part // _PARTS, _RANGE_ROWS

    def _range(self, first: int, limit: int) -> None:
        """Compare the memories from one rowid on, so many of them; -1 for all."""
        start: int | None = first
        while start is not None:
            texts, end = self._store.read(partial(self._texts, first=start, limit=limit))
            self._compare(texts, start, end)
            is_enough = not self._is_thorough and self._found.chars >= SAMPLED_CHARS
            start = end + 1 if limit < 0 and end < _HIGHEST and not is_enough else None

    def _texts(self, conn: apsw.Connection, first: int, limit: int) -> tuple[list[_Text], int]:
        """The next texts, and up to which rowid they are all that the store has."""
        size = _PAGE_ROWS if limit < 0 else limit
        is_waiting = _CHANGED if self._follows else "?3 <> ?3"
        rows = conn.execute(
            f"SELECT n.rowid, {as_bytes('n.id')}, {as_bytes('n.content')}, {is_waiting}"
            " FROM nodes n WHERE n.rowid >= ?1 ORDER BY n.rowid LIMIT ?2",
            (first, size, self._progress.seen_seq),
        )
        texts: list[_Text] = []
        total = 0
        for n, node_id, content, waits in rows:
            texts.append(_Text(int(n), text_of(node_id), text_of(content), bool(waits)))
            total += len(texts[-1].text)
            if total > _PAGE_BYTES:
                return texts, texts[-1].n
        return texts, texts[-1].n if len(texts) == size else _HIGHEST

    def _compare(self, texts: list[_Text], first: int, end: int) -> None:
        notes = {
            int(n): (digest, bool(is_partial))
            for n, digest, is_partial in self._conn.execute(
                f"SELECT n, text_hash, is_partial FROM {ROWS} WHERE n BETWEEN ? AND ?", (first, end)
            )
        }
        sizes = {
            int(n): size
            for n, size in self._conn.execute(f"SELECT id, sz FROM {HELD} WHERE id BETWEEN ? AND ?", (first, end))
        }
        found = self._found
        found.chars += sum(len(text.text) for text in texts if text.n not in found.seen)
        found.seen.update(text.n for text in texts)  # ranges taken here and there may overlap
        for text in texts:
            digest, is_partial = notes.pop(text.n, (None, False))
            if text.is_waiting or (digest != text_hash(text.text) and not self._follows):
                found.waiting.add(text.n)
            elif digest is None:
                found.missing[text.n] = text.node_id
            elif digest != text_hash(text.text):
                found.stale[text.n] = text.node_id
            else:
                made = terms_of_text(text.text)
                is_of_text = is_partial == made.is_partial and _tokens(sizes.get(text.n)) == len(made.terms)
                if not (is_of_text and self._holds(text.n, made)):
                    found.other[text.n] = text.node_id
        found.gone.update((n, f"row {n}") for n in notes)

    def _holds(self, n: int, made: TextTerms) -> bool:
        """Whether the index finds a memory by its terms: by all and no others, or by some in a sample."""
        if self._sums is not None:
            return self._sums.fits(n, made.terms)
        asked = random.sample(sorted(made.terms), min(_ASKED_TERMS, len(made.terms)))
        if not asked:
            return True
        expression = " AND ".join('"' + term.replace('"', '""') + '"' for term in asked)
        sql = f"SELECT 1 FROM {TERMS} WHERE {TERMS} MATCH ? AND rowid = ?"
        return self._conn.execute(sql, (expression, n)).fetchone() is not None


def _tokens(size: object) -> int:
    """How many terms FTS5 took of a memory, as it notes it: a number of 7 bits a byte, the highest first."""
    number = 0
    for byte in size if isinstance(size, bytes) else b"":
        number = number << 7 | byte & 0x7F
    return number
