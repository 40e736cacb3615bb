r"""Words behind the colours of a pasted log are found as they are read: `error` in `\x1b[31merror`."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import texts
from tests.tierdeck.search.words.conftest import Ask

OTHERS = ("the wine was red", "[12monkeys] and x[3m wide", "nothing of that")
RED = "\x1b[31m"
OFF = "\x1b[0m"


@pytest.mark.parametrize(
    ("memory", "text", "mark"),
    [
        (f"{RED}error{OFF}: the build broke", "error", "error"),
        (f"{RED}error{OFF}: the build broke", f"{RED}error{OFF}", "error"),
        (f"{OFF}next came", "next", "next"),
        (f"all {RED}ok{OFF}", "ok", "ok"),
        (f"{RED}getInvoiceTotal{OFF} fails", "invoice", "Invoice"),
        (f"with {RED}C++{OFF}", "C++", "C++"),
        (f"{RED}-rf{OFF} it", "-rf", "-rf"),
        (f"{RED}v2.0{OFF} is out", "v2.0", "v2.0"),
        (f"{RED}e83c5163316f89bfbde7{OFF} broke it", "e83c516", "e83c516"),
        (f"{RED}用Go写{OFF}", "Go", "Go"),
        ("\x1b[1;38;5;196mfatal\x1b[m: no", "fatal", "fatal"),
        ("\x1b[2Kdownloading", "downloading", "downloading"),
        ("\x9b31mpanic", "panic", "panic"),
        ("\x1b(Bplain", "plain", "plain"),
        ("[31mlost[0m its escape", "lost", "lost"),
        (r'{"line": "\u001b[33mspelled\u001b[0m"}', "spelled", "spelled"),
        ("\x1b]8;;http://h.example\x1b\\link\x1b]8;;\x1b\\", "link", "link"),
        ("\x1b]0;title\x07prompt", "prompt", "prompt"),
    ],
)
def test_what_stands_behind_an_escape_sequence_is_found_and_marked(
    ask: Ask, memory: str, text: str, mark: str
) -> None:
    answer = ask((*OTHERS, memory), text)
    assert texts(answer) == [memory]
    assert mark in [memory[start:end] for start, end in answer.hits[0].matches]
    assert answer.missing == ()


def test_a_whole_word_stays_above_one_behind_a_colour(ask: Ask) -> None:
    coloured = f"{RED}error{OFF}: it broke"
    assert texts(ask((*OTHERS, coloured, "an error of mine"), "error")) == ["an error of mine", coloured]


def test_what_only_looks_like_a_colour_keeps_its_words(ask: Ask) -> None:
    assert texts(ask(OTHERS, "monkeys")) == [OTHERS[1]]
