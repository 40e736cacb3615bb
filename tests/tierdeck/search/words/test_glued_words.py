"""A short word, a number or a sign is found where another script is glued to it: a reader ends the word there."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.search.words.conftest import Ask
from tierdeck.search import hybrid_search
from tierdeck.store import Store

OTHERS = ("a port is at 0", "letItGo, getDbId and s3x", "别的内容", "nothing of that")


def marked(found: str, matches: tuple[tuple[int, int], ...]) -> list[str]:
    return [found[start:end] for start, end in matches]


@pytest.mark.case("S08")
@pytest.mark.case("S10")
@pytest.mark.parametrize(
    ("memory", "text", "mark"),
    [
        ("后端用Go写的服务", "Go", "Go"),
        ("后端用Go写的服务", "go", "Go"),
        ("文件存到S3上", "S3", "S3"),
        ("模型是AI生成的", "AI", "AI"),
        ("CIで失敗した", "CI", "CI"),
        ("請重啟DB", "DB", "DB"),
        ("请看PR里", "PR", "PR"),
        ("温度是37度", "37", "37"),
        ("第7回", "7", "7"),
        ("用C写的", "C", "C"),
        ("서버를CI에서", "CI", "CI"),
        ("ใช้Goเขียน", "Go", "Go"),
        ("вGo и АPI", "Go", "Go"),
        ("ה-APIשלGo", "Go", "Go"),
        ("APIключ", "ключ", "ключ"),
        ("готово ok🤖", "ok", "ok"),
        ("用C++写的", "C++", "C++"),
        ("用C#写的", "C#", "C#"),
        ("在.NETで", ".NET", ".NET"),
        ("运行-rf删除", "-rf", "-rf"),
        ("占100%的", "100%", "100%"),
    ],
)
def test_what_is_glued_to_another_script_is_found_and_marked(ask: Ask, memory: str, text: str, mark: str) -> None:
    answer = ask((*OTHERS, memory), text)
    assert texts(answer) == [memory]
    assert mark in marked(memory, answer.hits[0].matches)
    assert answer.missing == ()


def test_a_version_is_found_before_what_holds_one_of_its_numbers(ask: Ask) -> None:
    assert texts(ask((*OTHERS, "升级到v2.0以后"), "v2.0")) == ["升级到v2.0以后", OTHERS[0]]


def test_a_whole_word_stays_above_one_that_is_glued(ask: Ask) -> None:
    assert texts(ask((*OTHERS, "后端用Go写", "we go on with Go"), "Go")) == ["we go on with Go", "后端用Go写"]


@pytest.mark.parametrize("text", ["Go", "Db", "Id", "3x"])
def test_a_letter_or_two_inside_a_name_of_one_script_are_no_word(ask: Ask, text: str) -> None:
    assert texts(ask(("letItGo, getDbId and s3x", "canGoнет", "用letItGo写"), text)) == []


def test_short_words_take_no_place_of_longer_ones(store: Store) -> None:
    remember(store, "getCheckoutId", "用Go")
    found = texts(hybrid_search(store, "a1 b2 c3 d4 checkout", alpha=0))
    assert found == ["getCheckoutId"]
