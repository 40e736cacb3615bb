"""One search of the console: what is asked, and what the meaning side says when it can't answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tierdeck.search import Query, SearchAnswer, hybrid_search
from tierdeck_tui.reading.console import Console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierdeck.embed.embedder import Embedder

# A list is scrolled through, so it holds more than the command line prints.
LEAST_ROWS = 50
# Queries whose vectors are kept: 1,536 dimensions are 6 kB each.
MAX_KNOWN = 64


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked. `number` rises with each request; `is_typing`: the operator has not pressed Enter yet."""

    number: int
    query: Query
    alpha: float
    is_typing: bool


class SearchRunner:
    """Runs searches of one console; safe to use from several workers at once.

    A remote model is asked once for each text: when another program wrote, or a filter moved, the same query is
    searched again, and that must neither cost money nor send anything anew.
    """

    def __init__(self, deck: Console) -> None:
        self._deck = deck
        self._asked: AskedOnce | None = None

    def run(self, request: SearchRequest, should_stop: Callable[[], bool]) -> SearchAnswer:
        """Search as the request says; call it in a worker.

        A remote model gets nothing while the operator types; a model that fails leaves the words, and the answer
        says why.

        Raises:
            StoppedError: `should_stop` said so.
            TierdeckError: the store can't be read.
        """
        deck = self._deck
        embedder = index = off_reason = None
        if request.alpha > 0:  # at 0 neither numpy nor the index file is wanted
            embedder, index = self._embedder(), deck.index()
            off_reason = None if embedder is not None and index is not None else _off_reason(deck)
        return hybrid_search(
            deck.store,
            request.query,
            alpha=request.alpha,
            limit_rows=max(LEAST_ROWS, deck.settings.search.limit_rows),
            embedder=embedder,
            index=index,
            is_typing=request.is_typing,
            should_stop=should_stop,
            meaning_off_reason=off_reason,
            may_send_secrets=deck.settings.embedding.send_secrets,
        )

    def _embedder(self) -> Embedder | None:
        embedder = self._deck.embedder()
        if embedder is None or not embedder.is_remote:
            return embedder
        if self._asked is None or self._asked.model is not embedder:
            self._asked = AskedOnce(embedder)
        return self._asked


class AskedOnce:
    """A model that is asked once for each of the last texts."""

    def __init__(self, model: Embedder) -> None:
        self.model = model
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self.model.dimensions

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this machine."""
        return self.model.is_remote

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors as the model gave them, now or before; raises what the model raises."""
        import numpy as np

        known = dict(self._known)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, self.model.embed(new), strict=True))
            self._known = dict(list(known.items())[-MAX_KNOWN:])
        return np.stack([known[text] for text in texts])


def _off_reason(deck: Console) -> str:
    state = deck.meaning_state()
    if not state.is_ready:
        return f"{state.detail}; {state.hint}" if state.hint else state.detail
    embedder = deck.embedder()
    if embedder is not None and embedder.is_remote:
        return "no memory has a vector yet; `tierdeck embed` makes them"
    return "the first vectors are being made"
