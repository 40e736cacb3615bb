"""A `-word` keeps out what a search for the word finds as a whole word, glued to another script or not."""

from __future__ import annotations

import apsw
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember, texts
from tests.tierdeck.search.words.conftest import Ask
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.search import hybrid_search, parse_query
from tierdeck.search.rows import exclusion, word_counts
from tierdeck.search.rows.condition import condition_of
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import MAX_SCORED_CHARS, ReadMemories
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.piece_spans import stands_alone


@pytest.mark.parametrize(
    ("memory", "word"),
    [
        ("服务 后端用Go写的", "Go"),
        ("服务 后端用Go写的", "go"),
        ("服务 文件存到S3上", "S3"),
        ("服务 使用Redis缓存", "Redis"),
        ("服务 done🤖 x", "done"),
        ("服务 APIключ", "ключ"),
        ("服务 \x1b[31merror\x1b[0m", "error"),
        ("服务 a Ｒｅｄｉｓ", "Redis"),
        ("服务 a Redis", "Ｒｅｄｉｓ"),
        ("服务 用Ｇｏ写", "Go"),
        ("服务 دפתר مُحَمَّد", "مُحَمَّد"),
    ],
)
def test_a_word_keeps_out_what_it_finds_whole(ask: Ask, memory: str, word: str) -> None:
    assert memory in texts(ask((memory, "服务 另外的"), f"服务 {word}"))
    assert texts(ask((), f'服务 -"{word}"')) == ["服务 另外的"]


@pytest.mark.parametrize(
    ("memory", "word"),
    [
        ("服务 letItGo", "Go"),
        ("服务 用letItGo写", "Go"),
        ("服务 getRedisUrl在", "Redis"),
        ("服务 Golang写", "Go"),
        ("服务 设备清单", "设备"),
        ("服务 canGoнет", "canG"),
    ],
)
def test_a_part_of_a_longer_name_keeps_nothing_out(ask: Ask, memory: str, word: str) -> None:
    assert set(texts(ask((memory, "服务 另外的"), f'服务 -"{word}"'))) == {memory, "服务 另外的"}


def test_where_all_are_kept_out_the_word_is_looked_for_instead_and_it_is_said(ask: Ask) -> None:
    answer = ask(("服务 用Go写",), '服务 -"Go"')
    assert texts(answer) == ["服务 用Go写"]
    assert "nothing was left without Go; looked for it as well instead" in answer.notes


@pytest.mark.parametrize("large_from", [word_counts.LARGE_FROM_ROWS, 1], ids=["small", "large"])
def test_behind_many_that_are_kept_out_the_others_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch, large_from: int
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from)
    remember(store, *(f"server {n}" for n in range(5)), *(f"server 用Go写 {n}" for n in range(700)))
    assert set(texts(hybrid_search(store, 'server -"Go"', alpha=0))) == {f"server {n}" for n in range(5)}
    longterm = NodeDraft("server of old", tier=Tier.LONGTERM)
    remember(store, longterm, NodeDraft("server 用Go写 of old", tier=Tier.LONGTERM))
    assert texts(hybrid_search(store, 'server -"Go" tier:longterm', alpha=0)) == ["server of old"]


def test_those_that_hold_it_glued_are_told_by_their_texts_long_ones_too(store: Store) -> None:
    long = "用Redis写 " + "x " * MAX_SCORED_CHARS
    glued, whole, *_, very_long = remember(store, "用Redis写", "a Redis", "getRedisUrl写", "redistribute 写", long)
    ids = [str(row[0]) for row in store.read(lambda conn: conn.execute("SELECT id FROM nodes").fetchall())]

    def held(conn: apsw.Connection) -> tuple[set[str], set[str]]:
        kept_out = Exclusion(conn, condition_of(store, NodeFilter()), ["redis"], ReadMemories(conn))
        return kept_out.holding(ids), kept_out.holding_glued(ids)

    assert store.read(held) == ({glued, whole, very_long}, {glued, very_long})


def test_a_near_word_of_memories_with_the_glued_word_is_hidden(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(store, "redis caches", "用Go写 idempotency")
    for large_from in (word_counts.LARGE_FROM_ROWS, 1):
        monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from)
        [lost] = hybrid_search(store, 'idempotncy redis -"Go"', alpha=0).missing
        assert (lost.near, lost.hidden) == ((), ("idempotency",))


def test_texts_of_plain_letters_are_not_looked_into_for_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def stands(word: str, text: str) -> bool:
        asked.append(text)
        return stands_alone(word, text)

    monkeypatch.setattr(exclusion, "stands_alone", stands)
    remember(store, "server going on", "server 用Go写")
    for large_from in (word_counts.LARGE_FROM_ROWS, 1):
        monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from)
        fill_terms(store)
        hybrid_search(store, 'server -"Go"', alpha=0)
    assert set(asked) == {"server 用Go写"}


@pytest.mark.parametrize("large_from", [word_counts.LARGE_FROM_ROWS, 1], ids=["small", "large"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_nothing_that_is_kept_out_comes_back_by_meaning(
    store: Store, monkeypatch: pytest.MonkeyPatch, large_from: int, alpha: float
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from)
    remember(store, "server 用Golang写", "server of old")
    model = ChosenVectors({key: [1.0, 0.2] for key in ("server of old", "server 用Golang写", "server")})
    with embed_all(store, model) as index:
        found = texts(hybrid_search(store, "server -Golang", alpha=alpha, embedder=model, index=index))
    assert found == ["server of old"]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("learn -C++", "-C++ keeps out all that holds C: signs don't count"),
        ("error -.env", "-.env keeps out all that holds env: signs don't count"),
        ("deploy -🚀", "looked for -🚀 as it stands; only words are kept out"),
    ],
)
def test_what_a_sign_keeps_out_is_said(query: str, note: str) -> None:
    assert note in parse_query(query).notes


@pytest.mark.parametrize(
    "query",
    [
        "learn -go",
        "learn -foo-bar",
        "learn -Müller",
        "भाषा -हिन्दी",
        "learn -cafe\u0301",
        "a -> b",
        "a — b",
        'learn -"C x"',
    ],
)
def test_where_no_sign_counts_nothing_is_said(query: str) -> None:
    assert not [note for note in parse_query(query).notes if "kept out" in note or "keeps out" in note]


def test_behind_more_than_the_pool_that_are_kept_out_the_others_are_found_by_meaning(store: Store) -> None:
    remember(store, *(f"server 用Golang写 {n}" for n in range(120)), *(f"server {n}" for n in range(5)))
    near = {f"server 用Golang写 {n}": [1.0, 0.0] for n in range(120)} | {
        f"server {n}": [0.8, 0.6] for n in range(5)
    }
    model = ChosenVectors({**near, "server -Golang": [1.0, 0.0], "server": [1.0, 0.0]})
    with embed_all(store, model) as index:
        for alpha in (0.5, 1.0):
            answer = hybrid_search(store, "server -Golang", alpha=alpha, embedder=model, index=index)
            assert set(texts(answer)) == {f"server {n}" for n in range(5)}


def test_what_is_kept_out_glued_counts_as_hidden(store: Store) -> None:
    remember(store, "server 用Golang写", "server of old", NodeDraft("server 用Golang写 x", tier=Tier.LONGTERM))
    answer = hybrid_search(store, "server -Golang tier:task", alpha=0)
    assert {(hidden.filter_text, hidden.rows) for hidden in answer.hidden} == {("-Golang", 1)}


def test_what_is_kept_out_is_named_as_it_was_typed(store: Store) -> None:
    remember(store, "cache of Redis", "cache of old")
    answer = hybrid_search(store, "cache -Ｒｅｄｉｓ", alpha=0)
    assert texts(answer) == ["cache of old"]
    assert [hidden.filter_text for hidden in answer.hidden] == ["-Ｒｅｄｉｓ"]
