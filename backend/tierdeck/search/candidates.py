"""Everything that one answer reads from the store, in one snapshot: who could be shown, and both sides of each.

The union of both legs' best is what gets scored, and then both sides are computed exactly for every candidate: so
filled, lists of 50 do as well as lists of 1,000.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import apsw

from tierdeck.index.store_texts import has_changes
from tierdeck.model import NodeFilter, NodeRow, Tier
from tierdeck.search.answer.dressing import Dressing
from tierdeck.search.answer.hidden import MAX_COUNTED, MAX_COUNTED_OF_LARGE, hidden_by_filters
from tierdeck.search.answer.hit import Flag, HiddenByFilter, Hit, MissingWord
from tierdeck.search.query.query import Query, with_as_words
from tierdeck.search.rows.condition import Condition, condition_of
from tierdeck.search.rows.exclusion import Exclusion, without_glued
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.search.rows.row_count import store_rows
from tierdeck.search.rows.word_counts import is_large
from tierdeck.search.words.inside_look import InsideLook
from tierdeck.search.words.keyword_leg import KeywordLeg
from tierdeck.secret_scan import has_secret
from tierdeck.store import Store, embedding_off
from tierdeck.terms.term_index import TermIndex

if TYPE_CHECKING:
    from tierdeck.search.meaning.meaning_leg import MeaningLeg

NO_WORD = "holds a word of the query"
# Said after it for as long as meaning has a weight.
BY_MEANING = ": in order of meaning alone"


@dataclass(frozen=True, slots=True)
class Ask:
    """What one answer asks of the store, and of its extra terms; `pool_rows` of each leg's best are scored.

    The first `sure_rows` of the meaning side are the nearest that there are; of the others, which only their words
    can lift among those shown, the keyword side brings those that count.
    """

    store: Store
    query: Query
    node_filter: NodeFilter
    limit_rows: int
    pool_rows: int
    sure_rows: int
    has_keyword: bool
    is_typing: bool
    meaning: MeaningLeg | None
    terms: TermIndex | None

    def look(self, conn: apsw.Connection, store_rows: int) -> InsideLook:
        """A look inside the words of that snapshot."""
        return InsideLook(conn, store_rows, self.terms, keeps_changes=has_changes(self.store))


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the snapshot gave: hits without their combined score, in no order.

    `meaning_note` is to be said where meaning alone decides.
    """

    hits: tuple[Hit, ...]
    notes: tuple[str, ...]
    hidden: tuple[HiddenByFilter, ...]
    store_rows: int
    missing: tuple[MissingWord, ...] = ()
    dressing: Dressing | None = None
    meaning_note: str | None = None


def read_candidates(conn: apsw.Connection, ask: Ask) -> Candidates:
    """Gather the candidates of one query from one snapshot.

    `-word` is no exclusion where memories hold it so (`tar -xzf`), nor when it leaves nothing; a note says when.
    """
    all_rows = store_rows(conn)
    options = _options(conn, ask, all_rows)
    if options:
        ask = replace(ask, query=with_as_words(ask.query, options))
    found = _gather(conn, ask, all_rows)
    if ask.query.excluded and not _has_found(ask, found):
        literal = _gather(conn, replace(ask, query=with_as_words(ask.query, ask.query.excluded)), all_rows)
        if _has_found(ask, literal):
            note = f"nothing was left without {_listed(ask.query.excluded)}; looked for it as well instead"
            found = replace(literal, notes=(note, *literal.notes))
    if options:
        note = f"looked for {_listed([f'-{text}' for text in options])}, since memories hold it so"
        found = replace(found, notes=(note, *found.notes))
    return found


def _options(conn: apsw.Connection, ask: Ask, all_rows: int) -> tuple[str, ...]:
    """Those exclusions that stand in memories as they were typed, dash and all."""
    if not ask.query.maybe_options:
        return ()
    condition = condition_of(ask.store, ask.node_filter)
    look = ask.look(conn, all_rows)
    return tuple(text for text in ask.query.maybe_options if look.stands(f"-{text}", condition))


def _has_found(ask: Ask, found: Candidates) -> bool:
    return any(hit.keyword for hit in found.hits) if ask.has_keyword else bool(found.hits)


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(text[:40] for text in texts)


def _gather(conn: apsw.Connection, ask: Ask, all_rows: int) -> Candidates:
    memories = ReadMemories(conn)
    but_excluded = condition_of(ask.store, ask.node_filter)
    condition, exclusion = _excluding(conn, ask, but_excluded, memories, all_rows)
    keyword = KeywordLeg(
        conn,
        ask.query,
        condition,
        ask.look(conn, all_rows),
        ask.terms,
        memories=memories,
        but_excluded=but_excluded,
        exclusion=exclusion,
        store_rows=all_rows,
        is_typing=ask.is_typing,
    )
    ids = keyword.pool(ask.limit_rows, ask.pool_rows) if ask.has_keyword else []
    if ask.meaning is not None:
        nearest = ask.meaning.pool(conn, condition, ask.pool_rows, all_rows, memories, ask.sure_rows, exclusion)
        ids = list(dict.fromkeys((*ids, *nearest)))
    hits = _scored(conn, ask, keyword, memories, ids)
    hidden: tuple[HiddenByFilter, ...] = ()
    has_matches_to_count = keyword.match is not None or ask.meaning is not None
    if len(hits) < ask.limit_rows and has_matches_to_count:
        most = MAX_COUNTED_OF_LARGE if keyword.is_large else MAX_COUNTED
        hidden = hidden_by_filters(conn, ask.store, ask.node_filter, ask.query, keyword.match, max_matches=most)
    slow = () if ask.meaning is None or ask.meaning.note is None else (ask.meaning.note,)
    has_few_words = ask.has_keyword and sum(hit.keyword is not None for hit in hits) < ask.limit_rows
    missing = keyword.missing() if has_few_words else ()
    dressing = Dressing(memories, keyword.marker(), [hit.row.id for hit in hits])
    notes = (*_notes(ask, keyword, hits), *slow)
    meaning_note = _meaning_note(conn, ask, condition, hits, memories, all_rows)
    return Candidates(hits, notes, hidden, all_rows, missing, dressing, meaning_note)


def _excluding(
    conn: apsw.Connection, ask: Ask, but_excluded: Condition, memories: ReadMemories, all_rows: int
) -> tuple[Condition, Exclusion | None]:
    """What may be shown, and what is kept out of it; in a large store the condition knows whole words only."""
    words = ask.query.excluded
    if not words:
        return but_excluded, None
    condition = condition_of(ask.store, ask.node_filter, words)
    exclusion = Exclusion(conn, but_excluded, words, memories)
    return condition if is_large(all_rows) else without_glued(conn, condition, words), exclusion


def _scored(
    conn: apsw.Connection, ask: Ask, keyword: KeywordLeg, memories: ReadMemories, ids: list[str]
) -> tuple[Hit, ...]:
    rows = memories.rows(ids)
    there = list(rows)
    words = keyword.parts(there) if ask.has_keyword else {}
    meaning = ask.meaning.parts(conn, there, memories.digests) if ask.meaning else None
    silent = embedding_off(ask.store, there) if ask.meaning else frozenset()
    hits = []
    for node_id, row in rows.items():
        flags: set[Flag] = {"archived"} if row.tier is Tier.ARCHIVE else set()
        semantic = meaning.parts.get(node_id) if meaning else None
        if meaning and semantic is None:
            flags.add("stale-vector" if node_id in meaning.stale else "no-vector")
        if node_id in silent:
            flags.add("embedding-off")
        hits.append(Hit(row, 0.0, words.get(node_id), semantic, frozenset(flags)))
    return tuple(hits)


def _meaning_note(
    conn: apsw.Connection,
    ask: Ask,
    condition: Condition,
    hits: Collection[Hit],
    memories: ReadMemories,
    all_rows: int,
) -> str | None:
    """How many memories have no vector; at another balance each hit has a flag that says so."""
    if ask.meaning is None:
        return None
    has_exclusions = bool(ask.query.excluded)
    found = ask.meaning.without_vector(conn, condition, hits, memories, all_rows, has_exclusions=has_exclusions)
    return found.sentence(has_filters=has_exclusions or ask.node_filter != NodeFilter())


def head_flags(row: NodeRow) -> frozenset[Flag]:
    """What a list row alone tells."""
    flags: set[Flag] = {"archived"} if row.tier is Tier.ARCHIVE else set()
    return frozenset(flags | {"secret"} if has_secret(row.excerpt) else flags)


def _notes(ask: Ask, keyword: KeywordLeg, hits: Collection[Hit]) -> tuple[str, ...]:
    if ask.has_keyword and ask.meaning is not None and hits and not any(hit.keyword for hit in hits):
        which = "memory" if ask.node_filter == NodeFilter() else "memory that passes the filters"
        return (f"no {which} {NO_WORD}{BY_MEANING}", *keyword.notes)
    return keyword.notes if ask.has_keyword else ()
