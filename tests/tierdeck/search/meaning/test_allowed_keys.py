"""What is kept of the rows that meet a condition: no longer than the store is as it was, and told by membership."""

from __future__ import annotations

import apsw
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.search.meaning.allowed_keys import is_among, known_rows
from tierdeck.search.rows.condition import Condition, condition_of
from tierdeck.store import Store


def shown(store: Store) -> Condition:
    return condition_of(store, NodeFilter())


def listed(store: Store, condition: Condition) -> set[int]:
    return store.read(lambda conn: set(known_rows(conn, condition).keys(conn).tolist()))


def test_the_rows_are_those_that_meet_the_condition_now(store: Store) -> None:
    remember(store, "a", NodeDraft("b", tier=Tier.ARCHIVE), "c")
    assert len(listed(store, shown(store))) == 2
    assert len(listed(store, condition_of(store, NodeFilter(include_archived=True)))) == 3
    assert listed(store, Condition("n.content = ?", ("no such",))) == set()
    remember(store, "d")
    assert len(listed(store, shown(store))) == 3


def test_what_is_known_is_kept_until_the_store_changes(store: Store) -> None:
    remember(store, "a")
    condition = shown(store)

    def look(share: float | None) -> tuple[float, int, bool]:
        def note(conn: apsw.Connection) -> tuple[float, int, bool]:
            known = known_rows(conn, condition)
            before = known.share, known.asked_rows, known.are_listed
            if share is not None:
                known.share, known.asked_rows = share, 7
                known.keys(conn)
            return before

        return store.read(note)

    assert look(0.25) == (1.0, 0, False)
    assert look(None) == (0.25, 7, True)
    remember(store, "b")
    assert look(None) == (1.0, 0, False)


def test_only_the_latest_conditions_are_kept(store: Store) -> None:
    remember(store, "a")
    conditions = [Condition("n.rowid > ?", (number,)) for number in range(5)]
    for condition in conditions:
        listed(store, condition)
    assert store.read(lambda c: [known_rows(c, one).are_listed for one in reversed(conditions)]) == [
        *[True] * 4,
        False,
    ]


def test_slots_are_found_once_for_each_state_of_the_index(store: Store) -> None:
    remember(store, "a")
    asked: list[int] = []

    def find() -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        asked.append(1)
        return np.arange(len(asked))

    known = store.read(lambda conn: known_rows(conn, shown(store)))
    first, second = object(), object()
    assert [len(known.slots((state, (1, "a")), find)) for state in (first, first, second, second, first)] == [
        1,
        1,
        2,
        2,
        3,
    ]


_KEYS = st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 50), max_size=30)


@given(_KEYS, _KEYS)
def test_a_key_is_among_the_allowed_or_not(keys: list[int], allowed: list[int]) -> None:
    found = is_among(np.array(keys, np.int64), np.array(allowed, np.int64))
    assert found.tolist() == [key in allowed for key in keys]
