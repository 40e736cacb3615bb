"""Calls that can be decided about, as rows and as JSON: short ids, what becomes of each, and nothing that harms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.tierdeck_tui.cli.checkpoint.conftest import HOSTILE, SECRET
from tierdeck.checkpoint.journal import Decision, Entry, StoredValue, store_value
from tierdeck.checkpoint.running import OpenOperation
from tierdeck.checkpoint.running.question import question_about
from tierdeck_tui.view.checkpoint.operation import operation_form, operation_lines, short_ids
from tierdeck_tui.view.line import text_of

ENTRY = Entry("ab" * 16, "mail", "running", 4, True, "d" * 32, "aaaaaaaa", store_value({"to": "ann"}))
ASKED = OpenOperation(ENTRY, question_about(ENTRY))


def texts(operation: OpenOperation, decision: Decision | None = None, cells: int = 80) -> list[str]:
    decisions = {} if decision is None else {operation.entry.op_id: decision}
    return [text_of(each).rstrip() for each in operation_lines([operation], decisions, cells)]


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14")
def test_a_row_names_the_call_and_below_it_stands_what_becomes_of_it() -> None:
    row, fate = texts(ASKED)
    assert row.startswith("abababab  mail  turn 4  ")
    assert "side effects" in row
    assert fate == "  asks: it was under way when the session ended: whether it was done is unknown"
    [_, planned] = texts(OpenOperation(replace(ENTRY, state="pending")))
    assert planned == "  not asked: it is made when the agent comes to it"
    [_, over] = texts(OpenOperation(replace(ENTRY, state="done")))
    assert over == "  not made again; its result is given"


def test_a_decision_takes_the_place_of_the_question_the_newer_one_that_of_the_older() -> None:
    earlier = OpenOperation(replace(ENTRY, decision=Decision("skip", by="bob")), ASKED.question)
    assert texts(earlier)[1] == "  decided by bob: skip"
    assert texts(earlier, Decision("done", store_value(7), "ann"))[1] == "  decided by ann: done with 7"
    assert (operation_form(earlier)["is_asked"], operation_form(ASKED)["is_asked"]) == (False, True)
    form = operation_form(ASKED, Decision("done", store_value((1, 2)), "ann"))
    assert form["decision"] == {"choice": "done", "value": {"$type": "tuple", "items": [1, 2]}, "by": "ann"}


@pytest.mark.parametrize("cells", [20, 40, 80, 200])
def test_no_line_is_wider_than_it_may_be_and_no_text_of_a_call_reaches_the_terminal_or_tells_a_secret(
    cells: int,
) -> None:
    hostile = replace(ENTRY, kind=HOSTILE, request=store_value(f"{HOSTILE}\n{SECRET}"))
    decision = Decision("done", store_value(f"{HOSTILE} {SECRET}"), HOSTILE)
    lines = operation_lines([OpenOperation(hostile, ASKED.question)], {hostile.op_id: decision}, cells)
    assert max(cell_len(text_of(each)) for each in lines) <= cells
    told = "".join(map(text_of, lines))
    assert "\x1b" not in told
    assert SECRET not in told


def test_a_value_that_can_t_be_read_is_said_and_ends_nothing() -> None:
    broken = OpenOperation(replace(ENTRY, request=StoredValue(b"\xc1", 0)), ASKED.question)
    assert "it can't be read" in texts(broken)[0]
    form = operation_form(broken)["request"]
    assert isinstance(form, dict)
    assert form["$type"] == "unread"


def test_short_ids_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    ids = ["a" * 32, "a" * 10 + "b" * 22, "c" * 32, "x"]
    short = short_ids(ids)
    assert [len(short[each]) for each in ids] == [11, 11, 11, 1]
    assert short_ids(["a" * 32, "b" * 32]) == {"a" * 32: "a" * 8, "b" * 32: "b" * 8}
    assert short_ids([]) == {}
