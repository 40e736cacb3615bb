"""A session in a list: pulls and pushes apart, when it was, what it is part of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tierdeck.model import SessionRow
from tierdeck.store.session_uses import SessionUse
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.session_line import session_lines

AT = 1_790_000_000_000
SESSION = SessionRow(2, "s-2", 1, 1, 1, "shop", "coder", AT, AT + 60_000, "success")
USE = SessionUse(SESSION, "root", 3, 1, 4, 0, AT, "success")


def shown(use: SessionUse, cells: int = 80) -> list[str]:
    return [text_of(each).rstrip() for each in session_lines(use, cells)]


def test_a_session_that_ended_on_its_day_says_the_day_once() -> None:
    assert shown(USE) == [
        "s-2  3 pulls · 1 push · listed 4×  success",
        "   2026-09-21 14:13:20 +00:00 – 14:14:20 · coder · shop · part of root",
    ]


def test_one_that_ended_another_day_says_both_and_one_that_did_not_end_says_so() -> None:
    longer = replace(USE, session=replace(SESSION, ended_at_ms=AT + 86_400_000))
    assert "2026-09-21 14:13:20 +00:00 – 2026-09-22 14:13:20 +00:00" in shown(longer)[1]
    assert "not ended" in shown(replace(USE, session=replace(SESSION, ended_at_ms=None)))[1]


def test_a_later_run_says_which_and_a_root_is_part_of_nothing() -> None:
    root = replace(USE, session=replace(SESSION, root_id=2, parent_id=None, run=3))
    assert shown(root)[0].startswith("s-2 run 3  ")
    assert "part of" not in shown(root)[1]


@pytest.mark.case("X01")
def test_names_that_would_write_to_the_terminal_are_made_safe() -> None:
    odd = replace(USE, root="\x1b[2J", session=replace(SESSION, external_id="\x1b]0;x\x07", agent="\x9b"))
    assert not {"\x1b", "\x07", "\x9b"} & set("".join(shown(odd)))
    assert {cell_len(text_of(each)) for each in session_lines(odd, 60)} == {60}
