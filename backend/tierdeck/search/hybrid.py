"""One search: words and meaning looked up, brought to one score, explained. Spec: SPEC-09.04, SPEC-09.05"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import apsw

from tierdeck.config import DEFAULT_ALPHA, DEFAULT_LIMIT_ROWS, MAX_LIMIT_ROWS, checked_alpha
from tierdeck.errors import IndexFileError, InvalidValueError
from tierdeck.model import NodeFilter
from tierdeck.search.answer import fusion
from tierdeck.search.answer.hidden import hidden_by_filters
from tierdeck.search.answer.hit import HiddenByFilter, Hit, SearchAnswer
from tierdeck.search.answer.stoppable import stoppable
from tierdeck.search.candidates import BY_MEANING, NO_WORD, Ask, Candidates, head_flags, read_candidates
from tierdeck.search.meaning.query_vector import Meaning, MeaningSource
from tierdeck.search.query.query import Query, parse_query
from tierdeck.search.rows.row_count import store_rows
from tierdeck.store import Store
from tierdeck.store.pages import page_at_offset
from tierdeck.terms.term_index import terms_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierdeck.embed.embedder import Embedder
    from tierdeck.vectors.vector_index import VectorIndex

# So many of each leg's best are scored: max(4 x the hits asked for, 50).
MIN_POOL_ROWS = 50
POOL_FACTOR = 4


def hybrid_search(
    store: Store,
    query: str | Query,
    *,
    alpha: float = DEFAULT_ALPHA,
    limit_rows: int = DEFAULT_LIMIT_ROWS,
    node_filter: NodeFilter | None = None,
    embedder: Embedder | None = None,
    index: VectorIndex | None = None,
    query_vector: NDArray[np.float32] | None = None,
    is_typing: bool = False,
    raw: bool = False,
    should_stop: Callable[[], bool] | None = None,
    meaning_off_reason: str | None = None,
    may_send_secrets: bool = False,
) -> SearchAnswer:
    """Find memories by word and by meaning: score = alpha x semantic + (1 - alpha) x keyword.

    Reads only, and all that the answer says of the store is of one snapshot. When meaning is unavailable, alpha
    becomes 0 and `degraded` says why; a failing provider or index file is such a reason, not an error.

    Args:
        query: what was typed, or a query parsed before; an empty one browses the newest memories.
        alpha: the weight of meaning, 0 to 1. At 0 the embedder is not called, at 1 no word is looked up.
        limit_rows: how many hits at most; above 1,000 that many come, and a note says so.
        node_filter: what the caller's own controls narrow to; typed filters are added to it.
        embedder: makes the query's vector; a remote one is not asked while `is_typing`.
        index: the store's vectors; used when they are of the embedder's model.
        query_vector: the query's vector, when the caller has it; then no embedder is needed.
        is_typing: the last word may still grow, and memories that hold all words are looked for first.
        raw: the text is an FTS5 expression.
        should_stop: asked every few thousand steps; when it says so the search ends.
        meaning_off_reason: why there is no embedder or no index, in the caller's words.
        may_send_secrets: send also a query that looks like a secret to a remote embedder.

    Returns:
        Hits best first; ties by semantic score, keyword score, confidence, last access, id.

    Raises:
        InvalidValueError: alpha, limit_rows or a raw expression is wrong.
        StoppedError: `should_stop` said so.
        StoreError: the store can't be read.
    Spec: SPEC-09.04, SPEC-09.05
    """
    begun = time.perf_counter()
    asked_alpha, limit = checked_alpha(alpha), _checked_limit(limit_rows)
    parsed = parse_query(query, raw=raw, now_ms=store.now_ms()) if isinstance(query, str) else query
    notes = (*parsed.notes, *((f"shows the best {limit:,}, not {limit_rows:,}",) if limit < limit_rows else ()))
    answer = SearchAnswer(parsed, asked_alpha, asked_alpha, (), (), limit, notes=notes)
    merged = _merged(node_filter, parsed.filter)
    if parsed.is_empty or limit == 0:
        answer = _browsed(store, answer, merged, should_stop)
    else:
        source = MeaningSource(embedder, index, query_vector, meaning_off_reason, may_send_secrets, should_stop)
        meaning = source.prepare(parsed.words_text, is_typing=is_typing) if asked_alpha > 0 else Meaning()
        try:
            answer = _searched(store, answer, merged, meaning, should_stop, is_typing=is_typing)
        except IndexFileError as e:  # it was sound when it was opened
            off = Meaning(off=f"{e.message}; {e.hint}" if e.hint else e.message)
            answer = _searched(store, answer, merged, off, should_stop, is_typing=is_typing)
    return replace(answer, elapsed_ms=(time.perf_counter() - begun) * 1000)


def rerank(answer: SearchAnswer, alpha: float) -> SearchAnswer | None:
    """The same candidates at another alpha, without a new query.

    Returns:
        The answer as `hybrid_search` would order it; None when only a new query can tell: it was begun at 0 or 1,
        where one side was never looked up, and is to leave that end.

    Raises:
        InvalidValueError: alpha is no number from 0 to 1.
    Spec: SPEC-09.05
    """
    wanted = checked_alpha(alpha)
    if answer.is_browse or answer.degraded is not None:
        return replace(answer, asked_alpha=wanted)
    if wanted == answer.alpha:
        return answer
    if not answer.has_both_sides:
        return None
    return _at(answer, wanted)


def _at(answer: SearchAnswer, alpha: float) -> SearchAnswer:
    hits = _shown(answer.candidates, alpha, answer.limit_rows, answer.dressed)
    others = (_noted(note, alpha) for note in answer.notes if note != answer.meaning_note)
    notes = (*_alone(answer.meaning_note, alpha), *others)
    return replace(answer, alpha=alpha, asked_alpha=alpha, hits=hits, notes=notes)


def _noted(note: str, alpha: float) -> str:
    """A note as it is true at this alpha."""
    plain = note.removesuffix(BY_MEANING)
    return plain + BY_MEANING if alpha > 0 and plain.endswith(NO_WORD) else plain


def _alone(note: str | None, alpha: float) -> tuple[str, ...]:
    """What is said only where meaning alone decides."""
    return () if note is None or alpha < 1 else (note,)


def _shown(
    candidates: Sequence[Hit], alpha: float, limit_rows: int, dressed: Callable[[Hit], Hit] | None
) -> tuple[Hit, ...]:
    best = fusion.ranked(candidates, alpha, limit_rows)
    return best if dressed is None else tuple(map(dressed, best))


def _searched(
    store: Store,
    blank: SearchAnswer,
    node_filter: NodeFilter,
    meaning: Meaning,
    should_stop: Callable[[], bool] | None,
    *,
    is_typing: bool,
) -> SearchAnswer:
    alpha = blank.asked_alpha if meaning.leg is not None else 0.0
    ask = Ask(
        store=store,
        query=blank.query,
        node_filter=node_filter,
        limit_rows=blank.limit_rows,
        pool_rows=max(POOL_FACTOR * blank.limit_rows, MIN_POOL_ROWS),
        sure_rows=max(blank.limit_rows, MIN_POOL_ROWS),
        has_keyword=alpha < 1,
        is_typing=is_typing,
        meaning=meaning.leg,
        terms=terms_of(store),
    )
    found = store.read(stoppable(partial(read_candidates, ask=ask), should_stop))
    return _answered(blank, found, meaning, alpha)


def _answered(blank: SearchAnswer, found: Candidates, meaning: Meaning, alpha: float) -> SearchAnswer:
    dressed = None if found.dressing is None else found.dressing.dressed
    return replace(
        blank,
        alpha=alpha,
        hits=_shown(found.hits, alpha, blank.limit_rows, dressed),
        candidates=found.hits,
        degraded=meaning.off,
        notes=(*_alone(found.meaning_note, alpha), *blank.notes, *found.notes),
        meaning_note=found.meaning_note,
        hidden=found.hidden,
        model=meaning.model,
        store_rows=found.store_rows,
        missing=found.missing,
        has_both_sides=meaning.leg is not None and 0 < alpha < 1,
        dressed=dressed,
        marks=None if found.dressing is None else found.dressing.marks,
    )


def _browsed(
    store: Store, blank: SearchAnswer, node_filter: NodeFilter, should_stop: Callable[[], bool] | None
) -> SearchAnswer:
    """The newest memories; of a limit of 0 only what is said around them."""

    def look(conn: apsw.Connection) -> tuple[tuple[Hit, ...], int, tuple[HiddenByFilter, ...]]:
        rows = page_at_offset(store, node_filter, 0, blank.limit_rows).rows if blank.limit_rows else ()
        hits = tuple(Hit(row, 0.0, None, None, flags=head_flags(row)) for row in rows)
        is_short = len(hits) < blank.limit_rows
        hidden = hidden_by_filters(conn, store, node_filter, blank.query, None) if is_short else ()
        return hits, store_rows(conn), hidden

    hits, all_rows, hidden = store.read(stoppable(look, should_stop))
    return replace(
        blank, hits=hits, candidates=hits, hidden=hidden, store_rows=all_rows, is_browse=blank.query.is_empty
    )


def _merged(given: NodeFilter | None, typed: NodeFilter) -> NodeFilter:
    """Both filters together; where both say something of a field, what was typed wins, and metadata adds up."""
    if given is None:
        return typed
    return NodeFilter(
        tiers=typed.tiers or given.tiers,
        types=typed.types or given.types,
        min_confidence=given.min_confidence if typed.min_confidence is None else typed.min_confidence,
        max_confidence=given.max_confidence if typed.max_confidence is None else typed.max_confidence,
        since_ms=given.since_ms if typed.since_ms is None else typed.since_ms,
        until_ms=given.until_ms if typed.until_ms is None else typed.until_ms,
        session=typed.session or given.session,
        project=typed.project or given.project,
        tag=typed.tag or given.tag,
        metadata=(*given.metadata, *typed.metadata),
        include_archived=given.include_archived or typed.include_archived,
    )


def _checked_limit(limit_rows: int) -> int:
    if limit_rows < 0:
        raise InvalidValueError(f"search: {limit_rows} rows can't be asked for", hint="give 0 or more")
    return min(limit_rows, MAX_LIMIT_ROWS)
