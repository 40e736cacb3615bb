"""A part of a name is found wherever it stands: at the end of a long log, at the end of a long name."""

from __future__ import annotations

import random

import pytest

from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.search.words.conftest import Ask
from tierdeck.search import hybrid_search
from tierdeck.search.words import partial_texts
from tierdeck.store import Store
from tierdeck.terms import of_text
from tierdeck.terms.fill import fill_terms

LOG = "12:00:01 all is well here, nothing to see\n" * 1_800 + "getInvoiceTotalFromLedger failed"


@pytest.mark.parametrize("text", ["ledger", "invoice", "invoiceTotal"])
def test_a_part_of_a_name_at_the_end_of_a_long_log_is_found(ask: Ask, text: str) -> None:
    answer = ask((LOG, "nothing of that"), text)
    assert len(LOG) > 72_000
    assert [hit.row.excerpt[:20] for hit in answer.hits] == [LOG[:20]]
    assert answer.missing == ()


CRASH = "testThatTheSystemDoesNotCrashWhenTheUserClicksOnTheBigRedButtonTwice"
_LETTERS = random.Random(1)
BASE64 = "".join(
    _LETTERS.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") for _ in range(3_000)
)


@pytest.mark.parametrize("text", ["Button", "Twice", "RedButton", "BigRedButtonTwice", "OnTheBigRedButtonTwice"])
@pytest.mark.parametrize(
    "name",
    [
        CRASH,
        "getUserIdFromHttpServerConfig" * 60 + CRASH,
        BASE64 + "0" + CRASH,
        "\u0441\u0435\u0440\u0432\u0435\u0440" + CRASH,
        "a_b_c_d_e_f_g_h_i_j_k_l_m_n_" + CRASH,
    ],
    ids=["a name", "a very long one", "behind Base64", "glued to another script", "behind underscores"],
)
def test_any_part_of_a_long_name_is_found(ask: Ask, name: str, text: str) -> None:
    answer = ask((f"{name} fails on CI", "nothing of that"), text)
    assert ["nothing" in hit.row.excerpt for hit in answer.hits] == [False]
    assert answer.missing == ()


def test_a_piece_of_more_parts_than_a_term_has_is_found_glued_to_another_script(ask: Ask) -> None:
    memory = "\u7528aBcDeFgHiJ\u5199"
    assert texts(ask((memory, "nothing of that"), "aBcDeFgHiJ")) == [memory]


def test_a_text_of_too_many_names_is_looked_into(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_text, "MAX_TEXT_TERMS", 3)
    remember(store, "setInvoiceId", "getCheckoutId setInvoiceId")
    fill_terms(store)
    for text in ("checkout", "checkoutId", "get"):
        answer = hybrid_search(store, text, alpha=0)
        assert texts(answer) == ["getCheckoutId setInvoiceId"]
        assert answer.missing == ()
        assert answer.notes == ()


def test_texts_of_too_many_names_are_looked_into_up_to_a_bound_that_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_text, "MAX_TEXT_TERMS", 1)
    monkeypatch.setattr(partial_texts, "MAX_SCANNED_BYTES", 60)
    remember(store, "oldCheckoutId setInvoiceId", "midCheckoutId setInvoiceId", "newCheckoutId setInvoiceId")
    fill_terms(store)
    answer = hybrid_search(store, "mid", alpha=0)
    assert texts(answer) == ["midCheckoutId setInvoiceId"]
    assert "of 1 very long text only a part was looked inside" in answer.notes
