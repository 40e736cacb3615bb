"""Parts of names, pairs of characters and signs: what is looked for in the text itself, and where it may stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.terms.piece_spans import holds, spans
from tierdeck.terms.pieces import MAX_PIECES, Piece, camel_parts, is_part_boundary, pieces_of


def part(text: str) -> Piece:
    return Piece(text, "part", 0)


def sign(text: str) -> Piece:
    return Piece(text, "sign", None)


@pytest.mark.case("S07")
@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("checkout", "getShippingMethodIdFromCheckout"),
        ("shipping", "getShippingMethodIdFromCheckout"),
        ("method", "get_shippingMethod"),
        ("server", "HTTPServer2"),
        ("http", "HTTPServer2"),
        ("nas", "设备清单在NAS上"),
        ("überwachung", "startÜberwachung"),
    ],
)
def test_a_word_is_a_part_of_a_compound_name(word: str, text: str) -> None:
    assert holds(part(word), text)


@pytest.mark.parametrize(
    ("word", "text"),
    [("cat", "concatenate"), ("hip", "getShippingId"), ("art", "Cartoon"), ("ship", "getShippingId")],
)
def test_a_few_letters_in_the_middle_of_a_word_are_no_part(word: str, text: str) -> None:
    assert not holds(part(word), text)


def test_a_word_that_is_being_typed_may_go_on() -> None:
    assert holds(Piece("ship", "part", 0, is_prefix=True), "getShippingId")


@pytest.mark.case("S08")
@pytest.mark.parametrize(
    ("text", "own", "other"),
    [
        ("C++", "port C++ module", "use C# client, vitamin C"),
        ("C#", "use C# client", "port C++ module"),
        (".NET", "the ASP.NET host", "a net, .NETwork"),
        ("-rf", "rm -rf x", "perf-rfc"),
        ("#tag", "see #tag", "see #tags and tag"),
        ("->", "ptr->next", "a - b > c"),
        ("👍", "likes 👍", "likes it"),
        ("100%", "at 100%", "1100% of"),
    ],
)
def test_a_sign_stands_as_it_was_typed(text: str, own: str, other: str) -> None:
    assert holds(sign(text), own)
    assert not holds(sign(text), other)


def test_spans_are_every_place() -> None:
    assert list(spans(Piece("设备", "pair", 0), "设备和设备")) == [(0, 2), (3, 5)]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getHTTPServer2", ["get", "HTTP", "Server", "2"]),
        ("checkout", ["checkout"]),
        ("XMLHttpRequest", ["XML", "Http", "Request"]),
        ("", []),
    ],
)
def test_a_compound_name_has_parts(word: str, parts: list[str]) -> None:
    assert camel_parts(word) == parts


@given(st.text("abAB12", min_size=1, max_size=12))
def test_the_parts_of_an_ascii_name_begin_at_its_boundaries(word: str) -> None:
    begins = [at for at in range(len(word)) if is_part_boundary(word, at)]
    ends = [*begins[1:], len(word)]
    assert camel_parts(word) == [word[begin:end] for begin, end in zip(begins, ends, strict=True)]


def test_a_run_without_spaces_is_looked_for_by_pairs_that_share_its_worth() -> None:
    pieces = pieces_of(["设备清单"], [], "设备清单")
    assert [(p.text, p.kind) for p in pieces] == [("设备", "pair"), ("备清", "pair"), ("清单", "pair")]
    assert sum(p.weight for p in pieces) == pytest.approx(1.0)


def test_a_word_of_two_scripts_is_looked_for_by_both() -> None:
    assert {p.text for p in pieces_of(["NAS上的"], [], "")} == {"NAS", "上的"}


def test_signs_around_a_word_in_a_sentence_are_not_meant() -> None:
    typed = ["what?", "[x]", "(foo)", "a,b", "end.", '"quoted"', "src/", "well-known"]
    assert [p for p in pieces_of(["foo"], typed, "") if p.kind == "sign"] == []


def test_a_dash_among_words_is_punctuation_and_alone_it_is_what_is_looked_for() -> None:
    assert [p.text for p in pieces_of(["foo"], ["--", "->"], "foo -- ->") if p.kind == "sign"] == []
    assert [p.text for p in pieces_of([], ["--"], "--")] == ["--"]


def test_a_sign_belongs_to_the_word_it_is_written_around() -> None:
    [first, *_] = pieces_of(["use", "C"], ["C++"], "use C++")
    assert (first.text, first.term) == ("C++", 1)


def test_the_number_of_pieces_is_bounded() -> None:
    words = ["设备" * 50, *(f"word{n}" for n in range(60))]
    assert len(pieces_of(words, ["C++", "C#"] * 500, "x")) <= MAX_PIECES
