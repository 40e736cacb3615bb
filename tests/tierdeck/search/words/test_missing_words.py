"""A search that finds too little says which words stand nowhere, and what may have been meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, Tier
from tierdeck.search import MissingWord, hybrid_search
from tierdeck.search.answer.hit import HiddenByFilter
from tierdeck.search.rows import word_counts
from tierdeck.store import Store, open_store
from tierdeck.terms.fill import fill_terms


def missing(store: Store, text: str, *, is_typing: bool = False) -> tuple[MissingWord, ...]:
    return hybrid_search(store, text, alpha=0, is_typing=is_typing).missing


def test_a_word_that_stands_nowhere_is_named_with_the_nearest_as_it_is_written(store: Store) -> None:
    remember(store, "Configurations of the deploys", "redis caches")
    assert missing(store, "redis confgurations") == (MissingWord("confgurations", ("configurations",)),)
    fill_terms(store)
    assert missing(store, "redis confgurations") == (MissingWord("confgurations", ("configurations",)),)


def test_a_word_of_any_memory_is_not_missing_though_a_filter_hides_it(store: Store) -> None:
    remember(store, NodeDraft("redis caches", tier=Tier.ARCHIVE), "mysql")
    answer = hybrid_search(store, "redis", alpha=0)
    assert answer.hits == ()
    assert answer.missing == ()
    assert answer.hidden == (HiddenByFilter("is:archived", 1),)


def test_a_part_of_a_name_is_not_missing(store: Store) -> None:
    remember(store, "getCheckoutId")
    assert missing(store, "checkout") == ()


@pytest.mark.parametrize("has_index", [False, True])
def test_a_part_of_a_name_that_a_filter_hides_is_not_missing(store: Store, has_index: bool) -> None:
    remember(store, NodeDraft("getCheckoutId", tier=Tier.ARCHIVE), "redis")
    if has_index:
        fill_terms(store)
    assert missing(store, "checkout") == ()
    assert missing(store, "checkou", is_typing=True) == ()
    assert missing(store, "checkou") == (MissingWord("checkou", (), ("checkout",) if has_index else ()),)


def test_the_word_that_is_being_typed_is_not_called_missing(store: Store) -> None:
    remember(store, "redis caches")
    assert missing(store, "redis cach", is_typing=True) == ()
    assert missing(store, "redsi cach", is_typing=True) == (MissingWord("redsi", ("redis",)),)


def test_a_full_answer_names_no_missing_word(store: Store) -> None:
    remember(store, *(f"redis {n}" for n in range(30)))
    assert hybrid_search(store, "redis zzzz", alpha=0, limit_rows=10).missing == ()


@pytest.mark.parametrize(
    ("text", "typed", "meant"),
    [
        ("idempotency keys", "idempotncy", "idempotency"),
        ("the relational model", "relatoinal", "relational"),
        ("README is out of date", "raedme", "README"),
        ("getCheckoutId is slow", "getChekoutId", "getCheckoutId"),
        ("the file is src/payment_gateway/refnd.py", "src/paymnt_gateway", "payment"),
        ("Кэш настройка", "настрйка", "настройка"),
        ("Café Zürich", "caffe", "café"),
        ("DEC-0054 chose SQLite", "DEC-0045", "0054"),
    ],
)
def test_a_near_word_is_offered_as_somebody_wrote_it(store: Store, text: str, typed: str, meant: str) -> None:
    remember(store, text, "something else")
    assert [one.near for one in missing(store, typed)] == [(meant,)]
    fill_terms(store)
    assert [one.near for one in missing(store, typed)] == [(meant,)]


def test_a_part_of_a_name_is_offered_once_the_extra_terms_know_it(store: Store) -> None:
    remember(store, "getShippingCheckoutId")
    fill_terms(store)
    assert missing(store, "chekout") == (MissingWord("chekout", ("checkout",)),)
    assert hybrid_search(store, "checkout", alpha=0).hits


def test_the_nearest_come_first_and_of_those_the_words_of_more_memories(store: Store) -> None:
    remember(store, "caring", "tearing", "bearing", "bearing", "barking", "the bearings")
    assert missing(store, "baering") == (MissingWord("baering", ("bearing",)),)
    assert missing(store, "xearing") == (MissingWord("xearing", ("bearing", "tearing")),)


def test_a_stem_that_nobody_wrote_is_not_offered(store: Store) -> None:
    remember(store, "idempotency")
    assert missing(store, "idempott") == (MissingWord("idempott"),)


def test_a_word_of_memories_that_a_filter_hides_is_said_to_be_hidden(store: Store) -> None:
    remember(store, NodeDraft("idempotency keys", tier=Tier.ARCHIVE), "redis")
    assert missing(store, "idempotncy") == (MissingWord("idempotncy", (), ("idempotency",)),)
    assert missing(store, "idempotncy is:archived") == (MissingWord("idempotncy", ("idempotency",)),)
    remember(store, NodeDraft("idempotency", tier=Tier.TASK))
    assert missing(store, "idempotncy") == (MissingWord("idempotncy", ("idempotency",)),)
    assert missing(store, "idempotncy tier:longterm") == (MissingWord("idempotncy", (), ("idempotency",)),)


def test_a_part_of_a_secret_is_not_offered(store: Store) -> None:
    remember(store, "the password: hunter22sesame", "nothing")
    assert missing(store, "hunter22sesmae") == (MissingWord("hunter22sesmae"),)
    remember(store, "hunter22sesame is a cartoon")
    assert missing(store, "hunter22sesmae") == (MissingWord("hunter22sesmae", ("hunter22sesame",)),)


def test_a_typed_word_that_no_word_begins_with_is_missing_once_nothing_is_found(store: Store) -> None:
    remember(store, "idempotency keys", "redis")
    assert missing(store, "idempotnc", is_typing=True) == (MissingWord("idempotnc", ("idempotency",)),)
    assert missing(store, "redis idempotnc", is_typing=True) == (), "something is found, and it may still change"
    assert missing(store, "idempotnc ", is_typing=True) == missing(store, "idempotnc")


@pytest.mark.parametrize("has_index", [False, True])
def test_no_beginning_of_a_word_is_called_missing_while_it_is_typed(store: Store, has_index: bool) -> None:
    remember(store, "the generalization of getCheckoutId", NodeDraft("fluttering", tier=Tier.ARCHIVE))
    if has_index:
        fill_terms(store)
    for word in ("generalization", "getCheckoutId", "fluttering"):
        for chars in range(1, len(word) + 1):
            assert missing(store, word[:chars], is_typing=True) == ()


def test_the_store_of_another_program_has_near_words_and_stays_as_it_is(family_store_path: Path) -> None:
    before = family_store_path.read_bytes()
    with open_store(family_store_path, read_only=True) as store:
        assert missing(store, "exponentail") == (MissingWord("exponentail", ("exponential",)),)
        assert missing(store, "migratoins stagng") == (
            MissingWord("migratoins", ("migrations",)),
            MissingWord("stagng", ("staging",)),
        )
    assert family_store_path.read_bytes() == before


@pytest.fixture(params=["small", "large"])
def either(request: pytest.FixtureRequest, store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store that is searched as a small one, and as a large one."""
    if request.param == "large":
        monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 1)
    return store


@pytest.mark.parametrize("has_index", [False, True])
@pytest.mark.parametrize("hiding", ["redis -legacy", "redis tier:longterm", 'redis -"the legacy"'])
def test_a_near_word_only_of_memories_that_are_kept_out_is_said_to_be_hidden(
    either: Store, hiding: str, has_index: bool
) -> None:
    remember(
        either,
        NodeDraft("redis caches", tier=Tier.LONGTERM),
        "idempotency of the legacy",
        "getCheckoutId, the legacy",
    )
    if has_index:
        fill_terms(either)
    assert missing(either, f"idempotncy {hiding}") == (MissingWord("idempotncy", (), ("idempotency",)),)
    if has_index:
        assert missing(either, f"chekout {hiding}") == (MissingWord("chekout", (), ("checkout",)),)
    remember(either, NodeDraft("idempotency", tier=Tier.LONGTERM))
    assert missing(either, f"idempotncy {hiding}") == (MissingWord("idempotncy", ("idempotency",)),)


def test_what_is_typed_becomes_a_word_of_a_memory_that_is_not_kept_out(either: Store) -> None:
    remember(either, "redis and the generalizations of the legacy", "redis generalization")
    answer = hybrid_search(either, "redis -legacy generaliz", alpha=0, is_typing=True)
    assert [hit.row.excerpt for hit in answer.hits] == ["redis generalization"]
    assert answer.missing == ()
