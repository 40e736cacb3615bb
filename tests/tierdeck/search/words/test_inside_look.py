"""The look inside words by the index of extra terms: the same hits as a look into every text gives."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tests.tierdeck.terms.kept_terms import kept_terms
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.index.file import open_for_writing, set_setting
from tierdeck.index.path import index_path
from tierdeck.model import NodeChanges, NodeDraft, NodeFilter, Tier
from tierdeck.search import hybrid_search
from tierdeck.search.words import inside_look, inside_postings, inside_scan
from tierdeck.store import Store, edit_node
from tierdeck.terms import of_text
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.term_index import terms_of

MEMORIES = (
    "getShippingMethodIdFromCheckout is slow",
    "port C++ module",
    "use C# client",
    "设备清单在NAS上",
    "user dislikes `rm -rf`",
    "reads .env at start",
    "v1.12.3 is out",
    "checkout as a whole word",
)
QUERIES = ("checkout", "shippingMethod", "C++", "C#", "设备", "清单", "单", "NAS", "rm -rf", ".env", "1.12", "->")


def found(store: Store, text: str, node_filter: NodeFilter | None = None) -> list[tuple[str, float]]:
    answer = hybrid_search(store, text, alpha=0, limit_rows=100, node_filter=node_filter)
    return [(hit.row.excerpt, round(hit.score, 9)) for hit in answer.hits]


@pytest.mark.case("S07")
@pytest.mark.case("S08")
@pytest.mark.case("S10")
def test_the_index_finds_and_scores_what_a_look_into_the_texts_does(store: Store) -> None:
    remember(store, *MEMORIES, *(f"filler {n}" for n in range(50)))
    scanned = {text: found(store, text) for text in QUERIES}
    fill_terms(store)
    assert terms_of(store) is not None
    assert {text: found(store, text) for text in QUERIES} == scanned


def test_with_the_index_texts_are_not_read_for_pieces_that_it_knows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(store, *(f"filler {n}" for n in range(50)), *MEMORIES[:1], *("later " + "x" * 90 for _ in range(60)))
    monkeypatch.setattr(inside_scan, "MAX_SCANNED_BYTES", 500)
    monkeypatch.setattr(inside_scan, "_BATCH_ROWS", 5)
    assert found(store, "checkout") == []
    fill_terms(store)
    answer = hybrid_search(store, "checkout", alpha=0)
    assert texts(answer) == list(MEMORIES[:1])
    assert not any("newest" in note for note in answer.notes)


def test_a_whole_word_stays_above_a_part(store: Store) -> None:
    remember(store, *MEMORIES, *(f"filler {n}" for n in range(50)))
    fill_terms(store)
    assert [text for text, _ in found(store, "checkout")] == [MEMORIES[-1], MEMORIES[0]]


def test_what_another_program_wrote_since_is_found(store: Store) -> None:
    [old, gone] = remember(store, "oldCheckoutId", "goneCheckoutId")
    fill_terms(store)
    edit_node(store, old, NodeChanges(content="oldInvoiceId"), actor="t")
    remember(store, "newCheckoutId")
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    assert [text for text, _ in found(store, "checkout")] == ["newCheckoutId"]
    assert [text for text, _ in found(store, "invoice")] == ["oldInvoiceId"]


def test_more_changes_than_are_looked_into_are_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, "x" * 100)
    fill_terms(store)
    remember(store, "newCheckoutId", *("y" * 100 for _ in range(60)))
    monkeypatch.setattr(inside_look, "MAX_CHANGED_ROWS", 10)
    monkeypatch.setattr(inside_scan, "MAX_SCANNED_BYTES", 500)
    monkeypatch.setattr(inside_scan, "_BATCH_ROWS", 5)
    answer = hybrid_search(store, "checkout", alpha=0)
    assert any("newest" in note for note in answer.notes)


def test_changed_texts_too_long_for_one_look_are_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, "x" * 100)
    fill_terms(store)
    remember(store, "newCheckoutId", "oldCheckoutId " + "y" * 2_000)
    monkeypatch.setattr(inside_scan, "MAX_TEXT_BYTES", 1_000)
    answer = hybrid_search(store, "checkout", alpha=0)
    assert texts(answer) == ["newCheckoutId"]
    assert "did not look inside 1 memory that changed" in answer.notes


def test_the_filter_holds_beyond_the_rows_that_are_listed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside_postings, "MAX_LISTED_ROWS", 5)
    remember(store, NodeDraft("oldCheckoutId", tier=Tier.LONGTERM), *(f"getCheckoutId {n}" for n in range(40)))
    fill_terms(store)
    longterm = NodeFilter(tiers=frozenset({Tier.LONGTERM}))
    assert [text for text, _ in found(store, "checkout", longterm)] == ["oldCheckoutId"]


def test_terms_of_older_rules_are_not_trusted_and_are_made_anew_without_asking_for_a_vector(store: Store) -> None:
    remember(store, "后端用Go写", "filler")
    embedder = ChosenVectors({})
    embed_all(store, embedder)
    with closing(open_for_writing(store)) as conn:
        conn.execute("INSERT INTO extra_terms (extra_terms) VALUES ('delete-all')")
        set_setting(conn, "terms_rules", of_text.RULES - 1)
    assert [text for text, _ in found(store, "Go")] == ["后端用Go写"]
    run_indexer(store, embedder, EmbeddingSettings())
    assert any("<go>" in terms for _, terms in kept_terms(store).values())
    assert [text for text, _ in found(store, "Go")] == ["后端用Go写"]
    assert embedder.asked == []


def test_a_damaged_index_file_costs_no_hit(store: Store) -> None:
    remember(store, *MEMORIES)
    fill_terms(store)
    expected = found(store, "C++")
    path = index_path(store)
    data = bytearray(path.read_bytes())
    data[70_000:] = b"\xff" * (len(data) - 70_000)
    path.write_bytes(bytes(data))
    assert found(store, "C++") == expected


def test_an_index_that_was_made_anew_is_taken_up(store: Store) -> None:
    remember(store, *MEMORIES)
    fill_terms(store)
    before = terms_of(store)
    index_path(store).unlink()
    assert terms_of(store) is None
    fill_terms(store)
    assert terms_of(store) not in (None, before)
