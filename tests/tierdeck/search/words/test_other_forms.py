"""A word is found in whichever characters it is written, there and in the query: they read the same."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from tests.tierdeck.search.memories import remember, texts
from tests.tierdeck.search.words.conftest import Ask
from tierdeck.search import hybrid_search
from tierdeck.search.rows import word_counts
from tierdeck.search.words import odd_texts
from tierdeck.store import Store

OTHERS = ("nothing of that", "另外的内容，没有。", "كتاب آخر", "еще что-то", "他のこと")


def decomposed(text: str) -> str:
    return normalize("NFD", text)


FORMS = [
    ("{} 정리", "회의록", decomposed("회의록")),
    ("{}です", "ガイドブック", decomposed("ガイドブック")),
    ("{}の設定", "カタカナ", "ｶﾀｶﾅ"),
    ("その{}は", "ガイド", "ｶﾞｲﾄﾞ"),
    ("{} cache", "Redis", "Ｒｅｄｉｓ"),
    ("room {} x", "123", "１２３"),
    ("使用{}缓存", "Redis", "Ｒｅｄｉｓ"),
    ("the {} is", "AI", "ＡＩ"),
    ("the {} is", "finch", "ﬁnch"),
    ("use {} now", "vector", "𝐯𝐞𝐜𝐭𝐨𝐫"),
    ("قال {} ذلك", "محمد", "مُحَمَّد"),
    ("قال {} ذلك", "محمد", "محـــمد"),
    ("قال {} ذلك", "سلام", "ﺳﻼﻡ"),
    ("דבר {} לך", "שלום", "שָׁלוֹם"),
    ("в {} мой", "край", decomposed("край")),
    ("nước {} nam", "Việt", decomposed("Việt")),
    ("το {} εδώ", "άλφα", decomposed("άλφα")),
    ("the {} day", "international", "inter\u00adnational"),
    ("東京の{}市", "葛城", "葛\U000e0100城"),
    ("call {} here", "getCheckoutId", "ｇｅｔＣｈｅｃｋｏｕｔＩｄ"),
]


@pytest.mark.parametrize(("text", "plain", "other"), FORMS)
@pytest.mark.parametrize("is_stored_plain", [True, False], ids=["stored plain", "stored otherwise"])
def test_a_word_is_found_and_marked_by_its_other_form(
    ask: Ask, text: str, plain: str, other: str, is_stored_plain: bool
) -> None:
    stored, typed = (plain, other) if is_stored_plain else (other, plain)
    memory = text.format(stored)
    answer = ask((*OTHERS, memory), typed)
    assert texts(answer) == [memory]
    assert answer.missing == ()
    [hit] = answer.hits
    at = memory.index(stored)
    assert any(start <= at and at + len(stored) <= end for start, end in hit.matches)


@pytest.mark.parametrize(("text", "plain", "other"), FORMS)
def test_a_word_typed_in_another_form_finds_both(ask: Ask, text: str, plain: str, other: str) -> None:
    memories = {text.format(plain), text.format(other)}
    assert set(texts(ask((*OTHERS, *sorted(memories)), other))) == memories


@pytest.mark.parametrize("typed", ["Redis", "Ｒｅｄｉｓ"])
def test_a_whole_word_stays_above_a_part_whatever_its_form(ask: Ask, typed: str) -> None:
    found = texts(ask((*OTHERS, "getＲｅｄｉｓUrl", "getRedisUrl", "a Redis", "a Ｒｅｄｉｓ"), typed))
    assert found[0] == f"a {typed}"
    if typed != "Redis":
        assert set(found[:2]) == {"a Redis", "a Ｒｅｄｉｓ"}


def test_a_part_of_a_name_in_another_form_is_found(ask: Ask) -> None:
    assert texts(ask((*OTHERS, "call ｇｅｔＣｈｅｃｋｏｕｔＩｄ"), "checkout")) == [
        "call ｇｅｔＣｈｅｃｋｏｕｔＩｄ"
    ]


@pytest.mark.parametrize("typed", ['"회의록 정리"', decomposed('"회의록 정리"')])
def test_a_phrase_is_found_in_the_form_that_the_store_has(ask: Ask, typed: str) -> None:
    memory = decomposed("이것은 회의록 정리")
    assert texts(ask((*OTHERS, memory, "정리 나중에"), typed))[0] == memory


def test_a_name_in_a_filter_stays_as_it_was_typed(store: Store) -> None:
    remember(store, "a Redis", "b Ｒｅｄｉｓ")
    answer = hybrid_search(store, "Redis meta.who=Ｂｏｂ", alpha=0)
    assert [chip.value for chip in answer.query.chips] == ["Ｂｏｂ"]


@pytest.mark.parametrize("text", ["10²", "①"])
def test_a_raised_or_circled_number_is_not_read_as_a_plain_one(ask: Ask, text: str) -> None:
    assert texts(ask((*OTHERS, "102 of 1", f"about {text}"), text)) == [f"about {text}"]


def test_a_word_left_out_is_left_out_in_the_form_typed_and_in_the_normal_one(ask: Ask) -> None:
    assert texts(ask(("parcel of Redis", "parcel of Ｒｅｄｉｓ", "parcel of mysql"), "parcel -Ｒｅｄｉｓ")) == [
        "parcel of mysql"
    ]


def test_a_left_out_word_of_another_form_is_looked_for_where_nothing_else_is_left(store: Store) -> None:
    remember(store, "cache of Redis")
    answer = hybrid_search(store, "cache -Ｒｅｄｉｓ", alpha=0)
    assert texts(answer) == ["cache of Redis"]
    assert answer.query.excluded == ("Ｒｅｄｉｓ",)


def test_more_texts_of_other_forms_than_are_looked_into_are_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(odd_texts, "MAX_ODD_BYTES", 60)
    remember(store, "old Ｒｅｄｉｓ cache", *(f"Ｒｅｄｉｓ {n}" for n in range(3)))
    answer = hybrid_search(store, "Redis", alpha=0)
    assert set(texts(answer)) == {"Ｒｅｄｉｓ 2", "Ｒｅｄｉｓ 1", "Ｒｅｄｉｓ 0"}
    assert any("other forms of letters" in note for note in answer.notes)


def test_texts_of_other_forms_take_no_place_of_those_that_hold_the_part(store: Store) -> None:
    remember(store, "getCheckoutId", *(f"Ｒｅｄｉｓ {n}" for n in range(450)))
    assert texts(hybrid_search(store, "checkout", alpha=0)) == ["getCheckoutId"]


def test_what_is_typed_in_another_form_may_grow(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, "회의록을 정리", "the Redis cache")
    for large_from in (word_counts.LARGE_FROM_ROWS, 1):
        monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", large_from)
        assert texts(hybrid_search(store, decomposed("회의록"), alpha=0, is_typing=True)) == ["회의록을 정리"]
        assert texts(hybrid_search(store, "Ｒｅｄｉ", alpha=0, is_typing=True)) == ["the Redis cache"]
