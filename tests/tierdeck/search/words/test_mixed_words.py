"""A query's word of two scripts finds what holds one of its runs as a word, and more of them first."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.search.words.conftest import Ask
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.search import hybrid_search
from tierdeck.search.words import inside_postings
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms

OTHERS = ("nothing of that", "nor here", "something else")


@pytest.mark.case("S08")
@pytest.mark.parametrize(
    ("memory", "text"),
    [
        ("Redis pool timeouts", "Redis连接池"),
        ("Redis pool timeouts", "用Redis"),
        ("redis pool timeouts", "用Redis的"),
        ("Redis pool timeouts", "redisключ"),
        ("restart the gateway", "gateway设置"),
        ("новый ключ готов", "APIключ"),
        ("the getRedisPool call", "Redis连接池"),
    ],
)
def test_a_memory_with_one_run_as_its_word_is_found(ask: Ask, memory: str, text: str) -> None:
    answer = ask((*OTHERS, memory), text)
    assert texts(answer) == [memory]
    assert answer.missing == ()


def test_what_holds_all_runs_comes_first(ask: Ask) -> None:
    memories = ("Redis pool timeouts", "用Redis连接池的服务", *OTHERS)
    assert texts(ask(memories, "Redis连接池")) == ["用Redis连接池的服务", "Redis pool timeouts"]


def test_a_whole_word_stays_above_its_runs(ask: Ask) -> None:
    memories = ("Redis pool timeouts", "the Redis连接池 is full", *OTHERS)
    assert texts(ask(memories, "Redis连接池")) == ["the Redis连接池 is full", "Redis pool timeouts"]


def test_a_letter_or_two_beside_another_script_are_no_word_of_others(ask: Ask) -> None:
    assert texts(ask(("we go on", *OTHERS), "用Go写")) == []


def test_a_filter_holds_beyond_the_words_that_are_listed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside_postings, "MAX_LISTED_ROWS", 5)
    remember(store, NodeDraft("old Redis pool", tier=Tier.LONGTERM), *(f"Redis pool {n}" for n in range(40)))
    fill_terms(store)
    longterm = NodeFilter(tiers=frozenset({Tier.LONGTERM}))
    answer = hybrid_search(store, "Redis连接池", alpha=0, node_filter=longterm)
    assert texts(answer) == ["old Redis pool"]
