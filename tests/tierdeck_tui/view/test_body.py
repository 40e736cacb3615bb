from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tierdeck.errors import StoppedError
from tierdeck_tui.view.body import body_lines
from tierdeck_tui.view.line import text_of

KEY = "sk-test-0000aaaabbbbccccdddd1111"


def shown(text: str, cells: int = 80, *, reveal: bool = False) -> list[str]:
    return [text_of(line) for line in body_lines(text, cells, reveal=reveal)]


def test_lines_and_tabs_keep_their_layout() -> None:
    assert shown("def f():\r\n\treturn 1\n\nend") == ["def f():", "    return 1", "", "end"]


@given(st.text(max_size=200) | st.sampled_from(HOSTILE_TEXTS), st.integers(2, 60))
@pytest.mark.case("U05", "T05")
def test_no_line_is_too_wide_or_drives_the_terminal(text: str, cells: int) -> None:
    for line in shown(text, cells):
        assert cell_len(line) <= cells
        assert all(c >= " " and not "\x7f" <= c <= "\x9f" for c in line)


@pytest.mark.case("X01")
@pytest.mark.parametrize("before", [0, 63_990, 64_000, 71_990, 200_000])
def test_a_key_is_masked_wherever_in_a_long_text_it_stands(before: int) -> None:
    text = ("word " * (before // 5 + 1))[:before] + f"\nOPENAI_API_KEY={KEY}\n" + "more " * 20_000
    masked = "\n".join(shown(text))
    assert KEY[8:] not in masked
    assert "OPENAI_API_KEY=[hidden:" in masked
    assert KEY in "\n".join(shown(text, reveal=True))


@pytest.mark.case("X01")
def test_a_private_key_across_the_border_of_two_parts_is_masked_whole() -> None:
    body = "\n".join("Q" * 64 for _ in range(40))
    text = "a\n" * 31_500 + f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nafter"
    lines = shown(text)
    assert not any("QQQQ" in line for line in lines)
    assert lines[-1] == "after"


def test_matches_are_set_off() -> None:
    [line] = body_lines("the refund job", 80, matches=[(4, 10)])
    assert [piece.text for piece in line if piece.role == "match"] == ["refund"]


def test_it_stops_when_it_is_no_longer_wanted() -> None:
    asked = iter([False, True])
    with pytest.raises(StoppedError):
        body_lines("a" * 300_000, 80, should_stop=lambda: next(asked))


def test_a_body_of_a_million_characters_is_laid_out() -> None:
    assert len(body_lines("a line of some words\n" * 48_000, 80)) == 48_001
