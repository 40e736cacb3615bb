"""One search of the console: what is asked, and what the meaning side says when it can't answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tierdeck.search import Query, SearchAnswer, search
from tierdeck_tui.console import Console

# A list is scrolled through, so it holds more than the command line prints.
LEAST_ROWS = 50


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked. `number` rises with each request; `is_typing`: the operator has not pressed Enter yet."""

    number: int
    query: Query
    alpha: float
    is_typing: bool


def run_search(deck: Console, request: SearchRequest, should_stop: Callable[[], bool]) -> SearchAnswer:
    """Search as the request says; run it in a worker.

    A remote model gets nothing while the operator types; a model that fails leaves the words, and the answer says
    why.

    Raises:
        SearchStoppedError: `should_stop` said so.
        TierdeckError: the store can't be read.
    """
    embedder = index = off_reason = None
    if request.alpha > 0:  # at 0 neither numpy nor the index file is wanted
        embedder, index = deck.embedder(), deck.index()
        off_reason = None if embedder is not None and index is not None else _off_reason(deck)
    return search(
        deck.store,
        request.query,
        alpha=request.alpha,
        limit_rows=max(LEAST_ROWS, deck.settings.search.limit_rows),
        embedder=embedder,
        index=index,
        is_typing=request.is_typing,
        should_stop=should_stop,
        meaning_off_reason=off_reason,
    )


def _off_reason(deck: Console) -> str:
    state = deck.meaning_state()
    if not state.is_ready:
        return f"{state.detail}; {state.hint}" if state.hint else state.detail
    embedder = deck.embedder()
    if embedder is not None and embedder.is_remote:
        return "no memory has a vector yet; `tierdeck embed` makes them"
    return "the first vectors are being made"
