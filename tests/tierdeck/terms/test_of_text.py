"""Which extra terms a text has, and that every piece which a text holds is asked for by a term that it has."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierdeck.terms.of_piece import expression_of
from tierdeck.terms.of_text import MAX_TEXT_TERMS, TextTerms, terms_of_text
from tierdeck.terms.piece_spans import holds
from tierdeck.terms.pieces import Piece, camel_parts, pieces_of
from tierdeck.terms.term_table import TERMS, prepare_terms, put_rows
from tierdeck.terms.words import clean, split_words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getShippingMethodId is slow", {"shipping", "method", "shippingmethod", "getshipping", "id", "methodid"}),
        ("port C++ and C#", {"c++", "c#"}),
        ("reads .env and src/app.py", {".env", "/app", ".py"}),
        ("rm -rf --force", {"-rf", "--force"}),
        ("设备清单在NAS上", {"设备", "备清", "清单", "单在", "nas", "上"}),
        ("a -> b, std::move", {"->", "::"}),
        ("v1.12.3 of python3.12", {"1.12", "1.12.3", "3.12"}),
        ("likes 👍, done👍", {"👍", "done"}),
        ("后端用Go写, 升级到v2.0以后", {"<go>", "<v2>", "<0>", "<v2.0"}),
        ("用C++写, 在.NETで", {"c++", ".net"}),
        ("APIключ", {"api", "ключ"}),
        ("Ｒｅｄｉｓ, ｇｅｔＩｄ, ＡＩ", {"redis", "getid", "get", "<ai>"}),
        ("ｶﾞｲﾄﾞ مُحَمَّد", {"ガイ", "イド", "محمد"}),
    ],
)
def test_a_text_has_the_terms_that_the_full_text_index_lacks(text: str, terms: set[str]) -> None:
    assert terms <= terms_of_text(text).terms


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox, it is said, jumps. 'Really?' (Yes!)",
        "a value of 3.5 in a cross-flow",
        "",
        "snake_case_name",
    ],
)
def test_plain_prose_has_none(text: str) -> None:
    assert terms_of_text(text).terms == frozenset()


def test_no_term_holds_a_space_and_a_very_long_text_is_cut_and_says_so() -> None:
    text = " ".join(f"n{at:x}x fooBar{at}++" for at in range(30_000))
    made = terms_of_text(text)
    assert len(made.terms) == MAX_TEXT_TERMS
    assert made.is_partial
    assert not any(" " in term for term in made.terms)


@settings(max_examples=3000, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.data())
def test_what_a_text_holds_is_found_by_its_terms(text: str, data: st.DataObject) -> None:
    text = clean(text)
    if any(len(camel_parts(word)) > 5 for word in split_words(text)):
        return  # a digest, of whose runs no terms are kept
    typed = data.draw(st.sampled_from(text.split() or ["x"]))
    words = split_words(typed)
    for piece in pieces_of(words, [typed], typed):
        expression = expression_of(piece)
        if expression is not None and holds(piece, text) and not _is_whole_word(piece, text):
            assert _matches(text, expression), (piece, expression)


@settings(max_examples=3000, deadline=None)
@given(st.text("ab1Z 用写が한вé+#.-_\u0301🤖Ｚｂｶﾞ\u1112\u1161", max_size=16), st.data())
def test_what_stands_between_two_scripts_is_found_by_its_terms(text: str, data: st.DataObject) -> None:
    typed = data.draw(
        st.sampled_from([text[at:end] for at in range(len(text)) for end in range(at + 1, at + 5)] or ["b"])
    )
    for piece in pieces_of(split_words(typed), [typed], typed):
        expression = expression_of(piece)
        if expression is not None and holds(piece, text) and not _is_whole_word(piece, text):
            assert _matches(text, expression), (piece, expression)


@pytest.mark.parametrize(
    "text", ["C++", ".env", "->", "C#", "设备", "设", "1.2.3", "#tag", '"', "'x'", "a*b", "👍"]
)
def test_an_expression_is_never_a_syntax_error(text: str) -> None:
    for kind in ("sign", "part", "pair"):
        expression = expression_of(Piece(text, kind, None))
        assert expression is None or not _matches("nothing of that", expression)


def _is_whole_word(piece: Piece, text: str) -> bool:
    return piece.kind == "part" and piece.text.lower() in (word.lower() for word in split_words(text))


def _matches(text: str, expression: str) -> bool:
    conn = apsw.Connection(":memory:")
    conn.execute("CREATE TABLE index_setting (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    prepare_terms(conn)
    made: TextTerms = terms_of_text(text)
    put_rows(conn, [(1, b"", made)])
    found = conn.execute(f"SELECT rowid FROM {TERMS} WHERE {TERMS} MATCH ?", (expression,)).fetchall()
    conn.close()
    return bool(found)
