"""Whatever is typed: no error, no score out of bounds, and a word that stands in a memory finds it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tierdeck.search.memories import remember
from tests.tierdeck.search.query_fuzzing import MEMORIES, PLANES, PUNCTUATION, SYNTAX, QueryFuzzer
from tierdeck.search import SearchAnswer, hybrid_search
from tierdeck.search.rows import word_counts
from tierdeck.store import Store, open_store
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.words import clean, split_words

SEED = 20_260_131


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("any") / "memory.db", create=True) as store:
        remember(store, *MEMORIES, *(f"{text} {n}" for n in range(20) for text in MEMORIES[:3]))
        yield store


def piece(rng: random.Random) -> str:
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(SYNTAX)
    if kind == 1:
        return rng.choice(" ".join(MEMORIES).split())
    if kind == 2:
        return "".join(rng.choices(PUNCTUATION, k=rng.randrange(1, 6)))
    if kind == 3:
        return "".join(chr(rng.randint(*rng.choice(PLANES))) for _ in range(rng.randrange(1, 8)))
    return "".join(rng.choices('abcXYZ09_- \0\t\n"', k=rng.randrange(1, 9)))


def check(answer: SearchAnswer) -> None:
    scores = [hit.score for hit in answer.hits]
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores == sorted(scores, reverse=True)
    for hit in answer.hits:
        assert all(0 <= start < end <= len(hit.row.excerpt) for start, end in hit.matches)


@pytest.mark.case("S22")
@pytest.mark.parametrize(
    "large_from_rows", [word_counts.LARGE_FROM_ROWS, 100], ids=["a small store", "a large one"]
)
def test_two_thousand_random_texts_are_answered_and_miss_no_word(
    store: Store, monkeypatch: pytest.MonkeyPatch, large_from_rows: int
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from_rows)
    fuzzer = QueryFuzzer(store, SEED)
    fuzzer.run(1_000)
    fill_terms(store)
    fuzzer.run(1_000)
    assert fuzzer.outcomes["a word of it stands in a memory, and is found"] > 500
    assert fuzzer.outcomes["too many words, and it said which were left out"] > 5


@pytest.mark.case("S22")
@pytest.mark.parametrize("seed", range(4))
def test_a_hundred_kilobytes_of_random_text_are_answered(filled: Store, seed: int) -> None:
    rng = random.Random(SEED + seed)
    text = rng.choice(["", " "]).join(piece(rng) for _ in range(20_000))[:100_000]
    check(hybrid_search(filled, text, alpha=0))


@pytest.mark.case("S22")
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        '"',
        "a,",
        "设",
        'tier:"',
        "-a ",
        "x -ab",
        '"a b" ',
        "(",
        "meta.a=b ",
        "C++ ",
        "fooBar",
        "\ud800",
        "👍",
        "a-",
        "1 ",
    ],
)
def test_one_thing_repeated_to_a_hundred_kilobytes_is_answered(filled: Store, unit: str) -> None:
    check(hybrid_search(filled, unit * (100_000 // len(unit)), alpha=0))


def test_a_hundred_kilobytes_of_different_words_use_the_rarest_and_say_so(filled: Store) -> None:
    answer = hybrid_search(filled, " ".join(f"w{n}" for n in range(15_000)) + " retry", alpha=0)
    assert any("64 rarest of 15,001 words" in note for note in answer.notes)
    assert [hit.row.excerpt for hit in answer.hits] == ["agents don't retry"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(st.characters(exclude_categories=("Cs", "Cn"), exclude_characters="\0"), min_size=3, max_size=60),
    st.data(),
)
def test_a_word_that_stands_in_a_memory_finds_it(filled: Store, text: str, data: st.DataObject) -> None:
    words = [word for word in split_words(clean(text)) if len(word) >= 3]
    if not words:
        return  # `0🔾` is one word to FTS5; from three letters on the look inside words makes up for that
    [node_id] = remember(filled, text)
    try:
        word = data.draw(st.sampled_from(words))
        found = hybrid_search(filled, word, alpha=0, limit_rows=200)
        assert node_id in [hit.row.id for hit in found.hits]
    finally:
        with filled.writing() as conn:
            conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))
