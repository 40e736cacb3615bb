"""The look inside words: what it finds, what that is worth, and where it stops."""

from __future__ import annotations

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.search.query.terms import Term
from tierdeck.search.rows.condition import condition_of
from tierdeck.search.words import inside_hit, inside_scan
from tierdeck.search.words.inside_hit import Inside
from tierdeck.search.words.inside_look import InsideLook
from tierdeck.store import Store
from tierdeck.terms.pieces import Piece

CHECKOUT = Piece("checkout", "part", 0)


def find(store: Store, *pieces: Piece, rows: int = 0, node_filter: NodeFilter | None = None) -> Inside:
    condition = condition_of(store, node_filter or NodeFilter())
    terms = [Term("checkout", ("checkout",), rows)]

    def look(conn: apsw.Connection) -> Inside:
        store_rows = int(conn.execute("SELECT count(*) FROM nodes").get)
        return InsideLook(conn, store_rows, None, keeps_changes=False).find(pieces, terms, condition, 50)

    return store.read(look)


def test_a_part_is_found_and_a_whole_word_is_left_to_the_index(store: Store) -> None:
    part, _, _ = remember(store, "getCheckoutId", "checkout", "recheckouted")
    assert list(find(store, CHECKOUT).hits) == [part]


def test_the_filter_holds_for_what_is_found_inside_words(store: Store) -> None:
    [archived] = remember(store, NodeDraft("getCheckoutId", tier=Tier.ARCHIVE))
    assert find(store, CHECKOUT).hits == {}
    assert list(find(store, CHECKOUT, node_filter=NodeFilter(include_archived=True)).hits) == [archived]


@pytest.mark.parametrize("text", ["50%_off", "a\\b", "x'; DROP TABLE nodes --", '"', "[a-z]*"])
def test_signs_of_like_and_sql_are_taken_as_they_stand(store: Store, text: str) -> None:
    [own, _] = remember(store, f"see {text} there", "see 50xxoff ab c there")
    assert list(find(store, Piece(text, "sign", None)).hits) == [own]


def test_a_part_is_worth_less_than_the_whole_word_and_a_sign_more(store: Store) -> None:
    remember(store, *(f"filler {n}" for n in range(50)), "getCheckoutId", "C++")
    [(_, part)] = next(iter(find(store, CHECKOUT, rows=1).hits.values())).earned
    [(_, sign)] = next(iter(find(store, Piece("C++", "sign", 0), rows=1).hits.values())).earned
    whole = pytest.approx(3.5, abs=1.0)  # bm25 of one word in one of 52 memories of average length
    assert sign > whole.expected > part > 0


def test_a_word_that_stands_whole_in_very_many_memories_is_not_looked_for_inside_others(store: Store) -> None:
    remember(store, "getCheckoutId")
    assert find(store, CHECKOUT, rows=inside_hit.MAX_WHOLE_ROWS + 1).hits == {}


def test_it_reads_the_newest_texts_up_to_its_bound_and_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside_scan, "MAX_SCANNED_BYTES", 3_000)
    monkeypatch.setattr(inside_scan, "_BATCH_ROWS", 10)
    old, *_, new = remember(store, "oldCheckoutId", *("x" * 100 for _ in range(60)), "newCheckoutId")
    found = find(store, CHECKOUT)
    assert list(found.hits) == [new]
    assert old not in found.hits
    assert found.note is not None
    assert "newest" in found.note


def test_a_look_to_the_end_needs_no_note(store: Store) -> None:
    remember(store, "getCheckoutId")
    assert find(store, CHECKOUT).note is None


def test_a_long_log_is_looked_into_to_its_end(store: Store) -> None:
    [log] = remember(store, "x y " * 18_000 + "getCheckoutId")
    found = find(store, CHECKOUT)
    assert list(found.hits) == [log]
    assert found.note is None


def test_texts_too_long_for_one_look_are_left_out_and_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside_scan, "MAX_TEXT_BYTES", 1_000)
    own, *_ = remember(store, "getCheckoutId", *("getCheckoutId " + "x" * 1_000 for _ in range(2)))
    found = find(store, CHECKOUT)
    assert list(found.hits) == [own]
    assert found.note is not None
    assert "did not look inside 2 memories of more than" in found.note


def test_the_bytes_of_long_texts_count_in_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside_scan, "MAX_SCANNED_BYTES", 250_000)
    _, *newest = remember(store, *(f"getCheckoutId {n} " + "x" * 100_000 for n in range(3)))
    found = find(store, CHECKOUT)
    assert sorted(found.hits) == sorted(newest)
    assert found.note is not None


def test_what_changed_is_looked_into_within_the_same_bytes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside_scan, "MAX_SCANNED_BYTES", 2_500)
    monkeypatch.setattr(inside_scan, "MAX_TEXT_BYTES", 2_000)
    ids = remember(store, *("getCheckoutId " + "x" * size for size in (1_000, 3_000, 1_000, 1_000)))

    def look(conn: apsw.Connection) -> tuple[list[str], str | None]:
        scan = inside_scan.InsideScan(conn)
        return scan.among(tuple(ids), CHECKOUT, condition_of(store, NodeFilter())), scan.note_on_changed

    found, note = store.read(look)
    assert sorted(found) == sorted([ids[0], ids[2]])
    assert note == "did not look inside 2 memories that changed"


def test_an_empty_store_is_looked_into_without_an_error(store: Store) -> None:
    assert find(store, CHECKOUT).hits == {}
