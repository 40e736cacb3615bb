"""A name at the end of a long log is found by its parts."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.words.conftest import Ask

LOG = "12:00:01 all is well here, nothing to see\n" * 1_800 + "getInvoiceTotalFromLedger failed"


@pytest.mark.parametrize("text", ["ledger", "invoice", "invoiceTotal"])
def test_a_part_of_a_name_at_the_end_of_a_long_log_is_found(ask: Ask, text: str) -> None:
    answer = ask((LOG, "nothing of that"), text)
    assert len(LOG) > 72_000
    assert [hit.row.excerpt[:20] for hit in answer.hits] == [LOG[:20]]
    assert answer.missing == ()
