"""One search: words and meaning looked up, brought to one score, explained. Spec: SPEC-09.04, SPEC-09.05"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from tierdeck.config import DEFAULT_ALPHA, checked_alpha
from tierdeck.errors import InvalidValueError
from tierdeck.model import NodeFilter
from tierdeck.search import fts, fusion
from tierdeck.search.hit import Hit, KeywordPart, SearchAnswer, SemanticPart
from tierdeck.search.query import Query, parse_query
from tierdeck.store import Store
from tierdeck.store.filters import filter_sql
from tierdeck.store.nodes import read_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierdeck.embed.embedder import Embedder
    from tierdeck.embed.vector_index import VectorIndex


def search(
    store: Store,
    query: str | Query,
    *,
    alpha: float = DEFAULT_ALPHA,
    limit_rows: int = 20,
    filter: NodeFilter | None = None,
    embedder: Embedder | None = None,
    index: VectorIndex | None = None,
    query_vector: NDArray[np.float32] | None = None,
    is_typing: bool = False,
    raw: bool = False,
    should_stop: Callable[[], bool] | None = None,
    meaning_off_reason: str | None = None,
) -> SearchAnswer:
    """Find memories by word and by meaning."""
    asked = checked_alpha(alpha)
    if limit_rows < 0:
        raise InvalidValueError(f"search: {limit_rows} rows can't be asked for", hint="give 0 or more")
    begun = time.perf_counter()
    parsed = parse_query(query, raw=raw) if isinstance(query, str) else query
    used = parsed.filter if filter is None else _merged(filter, parsed.filter)
    vector = query_vector
    if asked > 0 and vector is None and embedder is not None and index is not None and parsed.words_text.strip():
        vector = _unit(embedder.embed([parsed.words_text])[0])
    in_force = asked if vector is not None and index is not None else 0.0

    def look(conn: apsw.Connection) -> tuple[list[Hit], int]:
        return _candidates(store, conn, parsed, used, in_force, max(4 * limit_rows, 50), index, vector)

    candidates, store_rows = store.read(look)
    ranked = fusion.ranked(candidates, in_force)
    return SearchAnswer(
        query=parsed,
        alpha=in_force,
        asked_alpha=asked,
        hits=ranked[:limit_rows],
        candidates=tuple(candidates),
        limit_rows=limit_rows,
        degraded=(meaning_off_reason or "meaning is off: no index") if in_force != asked else None,
        notes=parsed.notes,
        model=index.model if index is not None else None,
        elapsed_ms=(time.perf_counter() - begun) * 1000,
        is_browse=parsed.is_empty,
        store_rows=store_rows,
    )


def rerank(answer: SearchAnswer, alpha: float) -> SearchAnswer | None:
    """The same candidates at another alpha; None when only a new query can tell."""
    wanted = checked_alpha(alpha)
    if answer.degraded is not None:
        return replace(answer, asked_alpha=wanted)
    if (answer.alpha in (0.0, 1.0)) and wanted != answer.alpha:
        return None
    ranked = fusion.ranked(answer.candidates, wanted)
    return replace(answer, alpha=wanted, asked_alpha=wanted, hits=ranked[: answer.limit_rows])


def _merged(base: NodeFilter, typed: NodeFilter) -> NodeFilter:
    changed = {
        name: value
        for name in NodeFilter.__dataclass_fields__
        if (value := getattr(typed, name)) not in (None, False, frozenset(), ())
    }
    return replace(base, **changed)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _candidates(
    store: Store,
    conn: apsw.Connection,
    query: Query,
    filter: NodeFilter,
    alpha: float,
    pool_rows: int,
    index: VectorIndex | None,
    vector: NDArray[np.float32] | None,
) -> tuple[list[Hit], int]:
    where, params = filter_sql(filter, has_sessions=store.has_table("td_session"))
    store_rows = int(conn.execute("SELECT count(*) FROM nodes").get)
    if query.is_empty:
        ids = [
            str(r[0])
            for r in conn.execute(
                f"SELECT n.id FROM nodes n WHERE {where} ORDER BY n.created_at DESC, n.id LIMIT ?",
                (*params, pool_rows),
            )
        ]
        rows = read_rows(conn, ids)
        return [Hit(row=rows[i], score=0.0, keyword=None, semantic=None) for i in ids if i in rows], store_rows
    bm25: dict[str, float] = {}
    match = query.words_text if query.is_raw else fts.any_of((*query.words, *query.phrases))
    if match and alpha < 1:
        try:
            for node_id, score in conn.execute(
                "SELECT f.node_id, bm25(content_fts) AS s FROM content_fts f JOIN nodes n ON n.id = f.node_id"
                f" WHERE content_fts MATCH ? AND {where} ORDER BY s LIMIT ?",
                (match, *params, pool_rows),
            ):
                bm25.setdefault(str(node_id), -float(score))
        except apsw.SQLError as e:
            raise InvalidValueError(f"search: {e}") from e
    cosines: dict[str, float] = {}
    if index is not None and vector is not None and alpha > 0:
        near = dict(index.nearest(vector, min(4096, pool_rows)))
        kept = conn.execute(
            f"SELECT n.id FROM nodes n WHERE {where} AND n.id IN (SELECT value FROM json_each(?))",
            (*params, json.dumps([*near, *bm25])),
        )
        vectors = index.vectors([str(r[0]) for r in kept])
        cosines = {key: float(v @ vector) for key, v in vectors.items()}
    best = max(bm25.values(), default=0.0)
    scores = fusion.keyword_scores(bm25, best)
    rows = read_rows(conn, list({**bm25, **cosines}))
    return [
        Hit(
            row=row,
            score=0.0,
            keyword=KeywordPart(scores[key], bm25[key], best, 1, len(query.words), None) if key in bm25 else None,
            semantic=SemanticPart(max(0.0, cosines[key]), cosines[key], cosines[key], None)
            if key in cosines
            else None,
        )
        for key, row in rows.items()
    ], store_rows
