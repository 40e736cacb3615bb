"""What a search read is given back when its answer is: nothing waits for the garbage collector.

A search reads the texts of some hundred memories, of up to megabytes each, and an agent asks often.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeFilter, Tier
from tierdeck.search import hybrid_search
from tierdeck.search.rows import word_counts
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms

MEMORIES = [
    "refund the order",
    "the payment gateway of shopOrderId",
    "用Go写的 refund",
    *(f"note {n}" for n in range(40)),
]


@pytest.fixture
def kept_garbage() -> Iterator[list[object]]:
    """What was bound in a circle when the collector ran; it runs when it is asked to."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.parametrize("large_from_rows", [10**9, 1], ids=["a small store", "a large one"])
@pytest.mark.parametrize("is_typing", [False, True])
@pytest.mark.parametrize(
    "text",
    ["refund order", "order -payment", "OrderId", "refnud", '"refund the"', "Go写", "tier:task refund", "", "ord"],
)
def test_a_search_leaves_no_circle(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    kept_garbage: list[object],
    text: str,
    large_from_rows: int,
    is_typing: bool,
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from_rows)
    remember(store, *MEMORIES)
    for _ in range(2):
        hybrid_search(store, text, node_filter=NodeFilter(tiers=frozenset({Tier.TASK})), is_typing=is_typing)
        hybrid_search(store, text, is_typing=is_typing)
        gc.collect()
        ours = [type(one).__name__ for one in kept_garbage if type(one).__module__.startswith("tierdeck")]
        assert ours == []
        fill_terms(store)
        kept_garbage.clear()
