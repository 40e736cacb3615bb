"""Texts that read the same have one normal form, and a text that is in it stays the same object."""

from __future__ import annotations

import unicodedata
from unicodedata import ucd_3_2_0  # the same in every Python

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierdeck.terms.normal_form import normal_form, normal_places

SCRIPTS = "aéệZ1 ñй̆ёΆςάＲｱｶﾞﾊﾟがパ한각ᄒㅋ中社葛ﬁﬀمحَّأـשָׁלوֹ\u0301\u0323\u00ad-_.２"
_KEPT_AS_IT_IS = ("<super>", "<sub>", "<fraction>", "<circle>", "<noBreak>")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Ｒｅｄｉｓ １２３", "Redis 123"),
        ("ｶﾞｲﾄﾞﾌﾞｯｸ", "ガイドブック"),
        ("ﬁle ﬄ", "file ffl"),
        ("مُحَمَّد محـــمد ﺳﻼﻡ", "محمد محمد سلام"),
        ("שָׁלוֹם", "שלום"),
        ("𝐯𝐞𝐜𝐭𝐨𝐫 µs ℃", "vector μs ℃"),
        ("inter\u00adnational", "international"),
        ("葛\U000e0100城", "葛城"),
        ("年 \uf98e", "年 年"),
    ],
)
def test_what_reads_the_same_has_one_form(text: str, normal: str) -> None:
    assert normal_form(text) == normal


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "设备清单在服务器上，已经更新。（",
        "Съешь же ещё этих мягких французских булок",
        "café Việt ăn",
        "회의록을 정리한다 ㅋㅋㅋ",
        "カタカナのガイドブック、です。",
        "น้ำ ทำงาน",
        "10² m³ ½ ① ⅔ xₙ",
        "done ❤️ 1️⃣ 👨‍👩‍👧",
        "می‌خواهم",
    ],
)
def test_a_text_in_normal_form_is_given_back_itself(text: str) -> None:
    assert normal_form(text) is text


@settings(max_examples=2000)
@given(st.text(SCRIPTS, max_size=20))
def test_a_normal_form_is_its_own_and_that_of_the_decomposed_text(text: str) -> None:
    normal = normal_form(text)
    assert normal_form(normal) == normal
    if "ـ" not in text and "\u00ad" not in text:  # marks may not ride on these
        assert normal_form(unicodedata.normalize("NFD", text)) == normal_form(unicodedata.normalize("NFC", text))


@settings(max_examples=1000)
@given(st.text(SCRIPTS, min_size=1, max_size=20), st.data())
def test_a_part_of_the_normal_form_is_found_in_the_text(text: str, data: st.DataObject) -> None:
    normal = normal_form(text)
    if not normal:
        return  # points on a stroke, and no letter
    start = data.draw(st.integers(0, len(normal) - 1))
    end = data.draw(st.integers(start + 1, len(normal)))
    first, last = normal_places(text)(start, end)
    assert 0 <= first < last <= len(text)
    assert normal[start:end] in normal_form(text[first:last])


def test_every_letter_of_another_form_is_known_but_for_those_that_mean_something_else() -> None:
    left = []
    for char in map(chr, range(0x80, 0x30000)):
        kind = ucd_3_2_0.decomposition(char).partition(" ")[0]
        is_other = ucd_3_2_0.category(char)[0] in "LN" and ucd_3_2_0.normalize("NFKC", char) != char
        if is_other and kind not in _KEPT_AS_IT_IS and normal_form(char) == char:
            left.append(char)
    listed = {char for char in left if not ("\u3131" <= char <= "\u318e" or "\uffa0" <= char <= "\uffdc")}
    assert listed == set("ำຳ") | {
        char for char in listed if "\u2460" <= char <= "\u249b" or "\u3200" <= char <= "\u33ff"
    }


def test_every_character_of_two_is_known_in_two() -> None:
    for char in map(chr, range(0x80, 0xFFFF)):
        parts = ucd_3_2_0.normalize("NFD", char)
        is_joined = len(parts) > 1 and ucd_3_2_0.normalize("NFC", char) == char
        if is_joined and ucd_3_2_0.category(char)[0] in "LN" and not "\u0f00" <= char <= "\u0fff":
            assert normal_form(parts) == normal_form(char), ascii(char)
