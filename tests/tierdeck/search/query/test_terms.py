"""Rare words pick memories, common ones only add to a score, and a long text costs no more than a short one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tierdeck.search.query.terms import MAX_MEASURED, MAX_TERMS, Terms, choose_terms, listed


def choose(words: list[str], rows: dict[str, int] | Callable[[str], int], store_rows: int = 1_000) -> Terms:
    count = rows.__getitem__ if isinstance(rows, dict) else rows
    return choose_terms(
        Counter(words).items(),
        key_of=lambda word: (word.lower().rstrip("s"),) if word.isalnum() else (),
        count_rows=lambda word, limit: min(count(word), limit),
        store_rows=store_rows,
    )


def test_words_that_the_index_makes_one_of_are_looked_for_once() -> None:
    assert [t.text for t in choose(["Deploys", "deploy", "x"], lambda _: 1).used] == ["Deploys", "x"]


def test_stop_words_are_left_out_while_others_are_there() -> None:
    terms = choose(["how", "do", "we", "do", "the", "deploy", "here"], lambda _: 5)
    assert [t.text for t in terms.used] == ["deploy"]
    assert [t.text for t in terms.left_out] == ["how", "do", "we", "the", "here"]


def test_stop_words_are_looked_for_when_there_is_nothing_else() -> None:
    assert [t.text for t in choose(["to", "be", "or", "not"], lambda _: 900).used] == ["to", "be", "or", "not"]


def test_a_word_of_every_fifth_memory_picks_none_while_a_rarer_one_is_there() -> None:
    terms = choose(["deploy", "redis"], {"deploy": 400, "redis": 3})
    assert [(t.text, t.picks) for t in terms.used] == [("deploy", False), ("redis", True)]


def test_a_common_word_picks_when_the_rarer_ones_stand_in_no_memory() -> None:
    terms = choose(["deploy", "zzz"], {"deploy": 400, "zzz": 0})
    assert all(t.picks for t in terms.used)


def test_in_a_small_store_no_word_is_common() -> None:
    terms = choose(["deploy", "redis"], {"deploy": 40, "redis": 3}, store_rows=50)
    assert all(t.picks for t in terms.used)


def test_a_word_that_is_said_again_in_any_of_its_forms_counts_again() -> None:
    assert [(t.text, t.repeats) for t in choose(["deploy", "x", "Deploys", "deploy"], lambda _: 1).used] == [
        ("deploy", 3),
        ("x", 1),
    ]


def test_of_a_long_text_a_repeated_word_is_kept_before_one_as_rare_that_is_said_once() -> None:
    words = [f"w{n}x" for n in range(200)] + ["redis"] * 5
    assert "redis" in [t.text for t in choose(words, lambda _: 50).used]


def test_with_all_brings_every_word_back() -> None:
    terms = choose(["the", "deploy", "redis"], {"the": 990, "deploy": 400, "redis": 3}).with_all()
    assert [t.text for t in terms.used] == ["deploy", "redis"]
    assert [t.text for t in terms.returned] == ["the"]
    assert all(t.picks for t in terms.used)
    assert terms.left_out == ()


def test_of_a_long_text_the_rarest_words_are_kept_in_their_order_and_it_is_said() -> None:
    words = [f"w{n}x" for n in range(300)]
    terms = choose(words, lambda word: int(word[1:-1]) + 1)
    assert [t.text for t in terms.used] == words[:MAX_TERMS]
    [note] = terms.notes
    assert note.startswith("looked for the 64 rarest of 300 words, without w64x, w65x")


def test_words_that_stand_nowhere_do_not_push_out_those_that_stand_somewhere() -> None:
    words = [f"none{n}x" for n in range(200)] + ["redis"]
    terms = choose(words, lambda word: 7 if word == "redis" else 0)
    assert "redis" in [t.text for t in terms.used]


def test_no_more_words_that_occur_than_the_bound_are_measured() -> None:
    asked: list[str] = []

    def count(word: str) -> int:
        asked.append(word)
        return 1

    choose([f"w{n}x" for n in range(20_000)], count, store_rows=10)
    assert len(asked) <= MAX_MEASURED + MAX_TERMS


def test_a_long_list_of_words_is_cut_for_a_sentence() -> None:
    assert listed(choose([f"w{n}x" for n in range(20)], lambda _: 1).used, 2) == "w0x, w1x, … (20)"
