"""A hash, a UUID or a random id is found by its beginning, whole words above it, and by nothing from its middle."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import texts
from tests.tierdeck.search.words.conftest import Ask

SHA = "e83c5163316f89bfbde7d9ab23ca2e25604af290"
OTHERS = ("the deadline is near", "a cafe, a facade", "x e83 y 5163 z 3f2b q", "nothing of that")


@pytest.mark.parametrize(
    ("memory", "text"),
    [
        ("commit deadbeefcafe1234 broke it", "deadbeef"),
        ("commit deadbeefcafe1234 broke it", "dead"),
        (f"commit {SHA}", "e83c5163"),
        (f"commit {SHA}", "e83c516"),
        (f"commit {SHA}", "E83C"),
        (f"commit {SHA}", SHA[:24]),
        (f"提交{SHA}修复", "e83c5163"),
        ("job 3f2b8c1e-77aa-4d21-9c1e-0123456789ab", "3f2b8c"),
        ("job 3f2b8c1e-77aa-4d21-9c1e-0123456789ab", "3f2b8c1e-77"),
        ("job 3f2b8c1e-77aa-4d21-9c1e-01cdef6789ab", "01cdef67"),
        ("built v1.2-3-g3f2b8c1", "3f2b8c"),
        ("at 0xdeadbeef it died", "0xdead"),
        ("sha256:3f2b8c1e77aa of build_3f2b8c1e77aa", "3f2b8c1e"),
        ("run 01hz3k5m7p9q2r4t", "01hz3k"),
    ],
)
def test_a_hash_is_found_by_its_beginning(ask: Ask, memory: str, text: str) -> None:
    answer = ask((*OTHERS, memory), text)
    assert texts(answer)[0] == memory
    assert answer.hits[0].matches
    assert text.partition("-")[0] not in [lost.word for lost in answer.missing]


@pytest.mark.parametrize("text", ["163316", "bfbde", "9ab23ca", "8c1e77", "deadbeefcafe12345"])
def test_a_hash_is_not_found_by_what_stands_in_its_middle(ask: Ask, text: str) -> None:
    assert texts(ask((f"commit {SHA}", "job 3f2b8c1e77aa4d21", "deadbeefcafe1234"), text)) == []


def test_a_plain_word_is_no_beginning_of_a_hash_to_other_words(ask: Ask) -> None:
    assert texts(ask(("deadline", "facade decades", "cafeteria"), "dead deca cafe")) == []


def test_the_whole_word_stays_above_a_hash_that_begins_so(ask: Ask) -> None:
    assert texts(ask((*OTHERS, "cafe1234 is broken", "the cafe"), "cafe"))[-1] == "cafe1234 is broken"
