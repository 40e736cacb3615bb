from __future__ import annotations

import pytest

from tests.tierdeck_tui.view.rows import answer, hit
from tierdeck.errors import ProviderError
from tierdeck.search.answer.hit import HiddenByFilter, MissingWord
from tierdeck.search.query.query import parse_query
from tierdeck_tui.view.line import Line, text_of
from tierdeck_tui.view.search_status import (
    answer_status,
    browse_status,
    chips_line,
    error_status,
    missing_sentence,
    nothing_found,
    nothing_to_browse,
    searching_status,
)


def text(lines: list[Line]) -> str:
    return "\n".join(text_of(line) for line in lines)


def test_an_answer_says_how_much_was_found_and_what_is_off() -> None:
    found = hit()
    assert text_of(answer_status(answer(found, elapsed_ms=12.4))) == "1 memory · 12 ms"
    many = answer(found, candidates=(found,) * 60)
    assert text_of(answer_status(many)).startswith("1 best of 60")
    degraded = text_of(answer_status(answer(found, degraded="no model; pip install it")))
    assert "keyword only: no model; pip install it" in degraded


def test_while_one_waits_the_old_rows_are_said_to_be_old() -> None:
    assert text_of(searching_status(has_old_rows=True)) == "searching… · until then the list is as it was"
    assert text_of(searching_status(has_old_rows=False)) == "searching…"


def test_a_list_that_was_not_searched_says_its_order() -> None:
    shown = text_of(browse_status(2, archived_rows=0, is_oldest_first=False, notes=["note"]))
    assert shown == "2 memories, newest first · note"
    assert "oldest first" in text_of(browse_status(2, archived_rows=0, is_oldest_first=True, notes=[]))


def test_a_list_without_the_archive_says_how_many_it_leaves_out_and_what_shows_them() -> None:
    shown = text_of(browse_status(373, archived_rows=45, is_oldest_first=False, notes=["note"]))
    assert shown == "373 memories, newest first · 45 archived (is:archived shows them) · note"


def test_a_store_of_archived_memories_only_is_not_called_empty() -> None:
    assert "All that the store holds is archived.\n  type is:archived to see 1 memory" in text(
        nothing_to_browse((), 1)
    )
    shown = text(nothing_to_browse(parse_query("type:fact").chips, 5))
    assert "All that passes [type:fact] is archived.\n  type is:archived to see 5 memories" in shown


def test_words_that_stand_nowhere_are_named_with_what_may_have_been_meant() -> None:
    missing = (MissingWord("confgi", ("config", "confirm")), MissingWord("zzz"))
    assert missing_sentence(missing) == "in no memory: “confgi” (near: config or confirm), “zzz”"
    shown = text(nothing_found(answer(query="confgi zzz", missing=missing)))
    assert "  in no memory: “confgi”\n    near: config or confirm\n  in no memory: “zzz”" in shown


def test_above_a_list_they_are_said_in_short_and_before_all_else() -> None:
    missing = (MissingWord("confgi", ("config", "confirm")), MissingWord("zzz"))
    found = answer(hit(), missing=missing, degraded="no model", notes=("a note",))
    said = "1 memory · in no memory: confgi (config?), zzz  c takes it · keyword only: no model · a note"
    assert text_of(answer_status(found)).startswith(said), "what can be mended stands before what is only so"


def test_near_words_that_are_hidden_are_said_to_be() -> None:
    missing = (MissingWord("confgi", ("confirm",), ("config",)),)
    assert "(near: confirm; near, but filtered out or archived: config)" in missing_sentence(missing)
    shown = text(nothing_found(answer(query="confgi", missing=missing)))
    assert "    near: confirm\n    near, but filtered out or archived: config" in shown


def test_what_comes_to_nothing_at_a_balance_is_not_counted_as_found() -> None:
    assert text_of(answer_status(answer(candidates=(hit(),) * 60))).startswith("0 memories · ")


def test_a_number_that_was_not_counted_to_the_end_says_so() -> None:
    hidden = (HiddenByFilter("tier:task", 2_000, is_least=True),)
    assert "tier:task hides at least 2,000 memories" in text(
        nothing_found(answer(query="a tier:task", hidden=hidden))
    )


def test_nothing_found_says_which_filter_hides_how_many_and_what_to_press() -> None:
    hidden = (HiddenByFilter("tier:task", 3), HiddenByFilter("type:fact", 12), HiddenByFilter("is:archived", 1))
    shown = text(nothing_found(answer(query="refund tier:task type:fact", hidden=hidden)))
    assert "Nothing found for “refund”" in shown
    lines = [line.strip() for line in shown.split("\n") if "hold" in line or "hides" in line]
    assert lines == [
        "type:fact hides 12 memories  x drops it",
        "tier:task hides 3 memories",
        "the archive holds 1 match",
    ]


def test_nothing_found_says_when_no_filter_alone_hides_it() -> None:
    shown = text(nothing_found(answer(query="refund tier:task tag:x", alpha=0.0)))
    assert "also not with any one filter dropped" in shown
    assert "x drops the last filter" in shown
    assert "] looks for their meaning" not in shown


def test_nothing_found_without_meaning_says_why_it_is_off() -> None:
    assert "keyword only: no model" in text(nothing_found(answer(degraded="no model", alpha=0.0)))
    assert "] looks for their meaning" in text(nothing_found(answer(alpha=0.0)))


def test_an_empty_store_says_how_to_fill_it() -> None:
    assert "tierdeck add" in text(nothing_found(answer(store_rows=0)))
    assert "tierdeck add" in text(nothing_to_browse(()))
    assert "[tier:task]" in text(nothing_to_browse(parse_query("tier:task").chips))


@pytest.mark.case("U08", "U04")
def test_an_error_is_shown_as_it_stands() -> None:
    error = ProviderError("[Warning] denied for '[app]' \x1b[2J", is_retryable=False, hint="see [/x]")
    assert text_of(error_status(error)) == "error: [Warning] denied for '[app]' ␛[2J · see [/x]"


def test_filters_are_shown_as_they_were_typed() -> None:
    assert text_of(chips_line(parse_query("a tier:task conf>0.6").chips)) == "[tier:task] [conf>0.6] "
    assert text_of(chips_line(())) == "no filter"
