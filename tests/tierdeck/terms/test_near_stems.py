"""The walk through a sorted list of stems finds those that a mistyped word may have."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from random import Random

from tierdeck.terms.near_stems import PAGE_WORDS, near_stems
from tierdeck.terms.near_words import edits

Word = tuple[str, int]


def pages_of(words: Sequence[Word]) -> Callable[[str], Sequence[Word]]:
    def words_from(first: str) -> Sequence[Word]:
        at = bisect_left(words, (first,))
        return words[at : at + PAGE_WORDS]

    return words_from


def test_a_stem_is_found_though_a_wrong_letter_kept_the_ending_on_the_word() -> None:
    words = pages_of([("idem", 9), ("idempot", 2), ("idiot", 9), ("pot", 99)])
    assert near_stems("idempotncyy", words, 2, 2) == ["idempot", "idem"]


def test_of_equally_near_stems_the_more_frequent_comes_first() -> None:
    assert near_stems("cape", pages_of([("cafe", 3), ("care", 4), ("case", 4)]), 1, 9) == ["care", "case", "cafe"]


def test_no_stem_of_many_pages_is_passed_over() -> None:
    random = Random(5)
    terms = sorted({"".join(random.choices("abc", k=random.randint(1, 8))) for _ in range(3_000)})
    assert len(terms) > 10 * PAGE_WORDS
    for word in ("abcabc", "ccccccc", "bbab"):
        near = [term for term in terms if edits(word, term, 1) <= 1]
        found = near_stems(word, pages_of([(term, 1) for term in terms]), 1, 10_000)
        assert near
        assert set(near) <= set(found)


def test_most_words_of_a_long_list_are_never_read() -> None:
    terms = sorted(
        f"{a}{b}{c}{d}{e}" for a in "abcdefgh" for b in "xyz" for c in "mnop" for d in "rst" for e in "uvw"
    )
    words, read = pages_of([(term, 1) for term in terms]), 0

    def counted(first: str) -> Sequence[Word]:
        nonlocal read
        page = words(first)
        read += len(page)
        return page

    assert near_stems("axmru", counted, 1, 1) == ["axmru"]
    assert read < len(terms)


def test_an_empty_list_has_none() -> None:
    assert near_stems("redis", pages_of([]), 2, 5) == []
