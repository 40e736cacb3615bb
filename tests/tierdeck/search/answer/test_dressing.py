"""Shown hits have their matches and the flag for a secret, whatever balance brings them up; others wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tierdeck.search import hybrid_search, rerank
from tierdeck.search.rows.read_memories import MAX_KEPT_BYTES
from tierdeck.store import Store

KEY = "sk-proj-Ab3dEf6hIj9kLm2nOp5q"


def test_what_a_new_balance_brings_up_is_marked_and_flagged_when_the_store_is_closed(store: Store) -> None:
    by_word, by_meaning = f"deploy with {KEY}", f"rollout by {KEY}, see deploy in a much longer text of many words"
    remember(store, by_word, by_meaning)
    embedder = ChosenVectors({by_word: [0.2, 1], by_meaning: [1, 0.1], "deploy": [1, 0]})
    with embed_all(store, embedder) as index:
        answer = hybrid_search(store, "deploy", alpha=0.1, limit_rows=1, embedder=embedder, index=index)
    store.close()
    assert texts(answer) == [by_word]
    with ThreadPoolExecutor(1) as other_thread:
        moved = other_thread.submit(rerank, answer, 0.9).result()
    assert moved is not None
    for found, text in ((answer, by_word), (moved, by_meaning)):
        [hit] = found.hits
        assert hit.row.excerpt == text
        assert [text[start:end] for start, end in hit.matches] == ["deploy"]
        assert "secret" in hit.flags
    assert not any(hit.matches or "secret" in hit.flags for hit in answer.candidates)


def test_a_secret_is_seen_in_the_beginning_of_a_text_that_is_too_long_to_keep(store: Store) -> None:
    filler = "word " * (MAX_KEPT_BYTES // 5)
    remember(store, f"deploy {KEY} {filler}", f"deploy {filler}")
    answer = hybrid_search(store, "deploy", alpha=0)
    assert {KEY in hit.row.excerpt: "secret" in hit.flags for hit in answer.hits} == {True: True, False: False}
