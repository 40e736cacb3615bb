"""What of a LocalREPL is saved and comes back: its odd corners, each in a run against a real server."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import openai
import pytest

from tests.tierdeck.adapters.rlms.adapter import UNCLOSED, Ran, Runs
from tests.tierdeck.adapters.rlms.chat_server import Chat, ChatServer
from tests.tierdeck.adapters.rlms.sums import says
from tierdeck.checkpoint.folder import Request, open_session_folder
from tierdeck.checkpoint.running import fork
from tierdeck.session import open_session

pytestmark = UNCLOSED

END = 'answer["content"] = str({said})\nanswer["ready"] = True'


def ending(said: str) -> str:
    """A cell that ends the run with the value of an expression."""
    return END.format(said=said)


def cells(*turns: str | Sequence[str]) -> Callable[[Chat], str]:
    """A model that has one cell, or several, ready for each turn."""

    def script(chat: Chat) -> str:
        now = turns[(chat.turn or 1) - 1]
        return says(*([now] if isinstance(now, str) else now))

    return script


def fails_at(turn: int) -> Callable[[Chat], None]:
    """A connection that breaks in that turn."""

    def fail(chat: Chat) -> None:
        if chat.turn == turn:
            raise ConnectionAbortedError

    return fail


def breaks_at(server: ChatServer, runs: Runs, turn: int, **settings: Any) -> None:
    """Let the connection to the model break in a turn, which ends the process as far as a session can tell."""
    server.before_answer = fails_at(turn)
    with pytest.raises(openai.APIConnectionError):
        runs.go_on(**settings)
    server.before_answer = lambda chat: None


def broken_and_resumed(server: ChatServer, runs: Runs, *turns: str | Sequence[str], **settings: Any) -> Ran:
    """A run whose last turn is made by another process."""
    server.script = cells(*turns)
    breaks_at(server, runs, len(turns), **settings)
    return runs.go_on(**settings)


@pytest.mark.spec("SPEC-09.21")
def test_the_closed_file_that_every_repl_holds_is_listed_as_lost_and_nothing_else_is(
    server: ChatServer, runs: Runs
) -> None:
    ran = broken_and_resumed(server, runs, "a = {(1, 2): {3.5}}", ending("(a, context)"))
    assert ran.answer == "({(1, 2): {3.5}}, 'a context')"
    saved = runs.newest()
    assert [(loss.path, loss.kind) for loss in saved.losses] == [("f", "lost")]
    assert list(saved.repl_state) == ["answer", "context_0", "context", "a"]


def test_a_context_of_lists_and_dicts_comes_back_as_one_object_under_both_names(
    server: ChatServer, runs: Runs
) -> None:
    ran = broken_and_resumed(
        server, runs, "context.append(3)", ending("(context is context_0, context)"), prompt=[{"a": 1}, {"b": 2}]
    )
    assert ran.answer == "(True, [{'a': 1}, {'b': 2}, 3])"


@pytest.mark.spec("SPEC-09.21")
def test_after_a_cell_that_raised_changes_in_place_come_back_and_rebinding_does_not(
    server: ChatServer, runs: Runs
) -> None:
    ran = broken_and_resumed(
        server, runs, "seen = [1]; count = 1", "seen.append(2); count = 2; 1 / 0", ending("(seen, count)")
    )
    assert ran.answer == "([1, 2], 1)"
    assert "ZeroDivisionError" in server.chats[-1].text


def test_a_run_with_too_many_errors_in_a_row_ends_as_it_would_have_without_a_break(
    server: ChatServer, runs: Runs
) -> None:
    from rlm import ErrorThresholdExceededError

    server.script = cells("1 / 0", "1 / 0", "1 / 0")
    breaks_at(server, runs, 3, max_errors=3)
    with pytest.raises(ErrorThresholdExceededError) as error:
        runs.go_on(max_errors=3)
    assert error.value.error_count == 3


@pytest.mark.spec("SPEC-09.21")
def test_an_answer_that_was_begun_comes_back_and_still_ends_the_run_when_it_is_ready(
    server: ChatServer, runs: Runs
) -> None:
    ran = broken_and_resumed(
        server, runs, 'answer["content"] = "half"; answer["source"] = {1}', 'answer["ready"] = True'
    )
    assert ran.answer == "half"
    assert runs.newest().repl_state["answer"] == {"content": "half", "ready": True, "source": {1}}
    assert len(server.paid) == 2


def test_the_engine_s_helpers_and_the_host_s_constants_are_not_saved_and_what_was_made_of_them_is(
    server: ChatServer, runs: Runs
) -> None:
    tools = {"KEY": "secret-1", "found": {"tool": [], "description": "a list"}, "double": lambda x: 2 * x}
    server.script = cells("found.append(double(3))", ending("(KEY, found)"))
    breaks_at(server, runs, 2, custom_tools=tools)
    saved = runs.newest().repl_state
    assert {"KEY", "double", "llm_query", "SHOW_VARS"}.isdisjoint(saved)
    assert saved["found"] == [6]
    new_tools = {**tools, "KEY": "secret-2", "found": {"tool": [], "description": "a list"}}
    assert runs.go_on(custom_tools=new_tools).answer == "('secret-2', [6])"


def test_files_in_the_working_folder_are_not_saved_and_the_agent_is_told(server: ChatServer, runs: Runs) -> None:
    broken_and_resumed(server, runs, 'with open("plan.txt", "w") as out:\n    out.write("x")', ending("1"))
    assert "these files are not in it: plan.txt." in server.chats[-1].text


@pytest.mark.spec("SPEC-09.23")
def test_the_agent_gets_one_note_before_its_turn_of_what_was_restored_and_what_was_not(
    server: ChatServer, runs: Runs
) -> None:
    server.script = cells("import threading\nlock = threading.Lock()", "b = 1", "c = 1", ending("2"))
    breaks_at(server, runs, 2)
    breaks_at(server, runs, 4)
    ran = runs.go_on()
    last = server.chats[-1]
    notes = [m["content"] for m in last.messages if m["content"].startswith("This session goes on")]
    assert [re.findall(r"after turn \d", note) for note in notes] == [["after turn 1"], ["after turn 3"]]
    assert notes[-1] == ran.rlm.note
    assert "- lock: " in notes[0]
    assert "Not defined now; import or define again what you need: threading." in notes[0]
    assert notes[0].endswith("Turn 2 begins now; cells that it may have run before are run again.")
    assert [m["role"] for m in last.messages][-2:] == ["user", "user"]


def test_an_operator_s_wish_for_a_checkpoint_is_met_at_the_end_of_the_turn(server: ChatServer, runs: Runs) -> None:
    server.script = cells("a = 1", "a = 2", ending("a"))

    def ask(chat: Chat) -> None:
        if chat.turn == 2:
            folder = open_session_folder(runs.folder, "s")
            folder.ask(Request("checkpoint", None, "now", 0, "ann", folder.clock_ns(), label="look"))

    server.before_answer = ask
    runs.go_on(every=0)
    [only] = open_session_folder(runs.folder, "s").listed()
    assert only.summary is not None
    assert (only.turn, only.summary.label, only.summary.reason) == (2, "look", "manual")


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K28")
def test_a_journalled_tool_of_a_cell_that_runs_again_does_its_work_once(server: ChatServer, runs: Runs) -> None:
    server.script = cells('got = [mail("a"), mail("b"), mail("a")]', ending("got"))
    sent: list[str] = []

    def mail(to: str) -> str:
        sent.append(to)
        return f"{len(sent)}: {to}"

    def process() -> str:
        with open_session(None, "s", checkpoints=runs.folder, every=9) as session:
            tools = {"mail": session.journalled("mail")(mail)}
            rlm = runs.rlm(session, resumed=session.resume(), custom_tools=tools)
            answer: str = rlm.completion("a context").response
            return answer

    server.before_answer = fails_at(2)
    with pytest.raises(openai.APIConnectionError):
        process()
    server.before_answer = lambda chat: None
    assert process() == "['1: a', '2: b', '3: a']"
    assert sent == ["a", "b", "a"]


@dataclass
class Place:
    row: int
    tags: set[str]


@pytest.mark.spec("SPEC-09.21")
@pytest.mark.case("K11")
@pytest.mark.parametrize("knows_class", [True, False], ids=["with-the-class", "without-it"])
def test_an_instance_of_a_host_s_class_comes_back_as_one_when_the_host_hands_over_the_class(
    server: ChatServer, runs: Runs, knows_class: bool
) -> None:
    classes = {f"{Place.__module__}.Place": Place} if knows_class else None
    server.script = cells('spots = {"a": Place(3, {"x"})}', ending("(type(spots['a']).__name__, kind(spots['a']))"))
    tools = {"Place": Place, "kind": lambda value: value == Place(3, {"x"})}
    breaks_at(server, runs, 2, custom_tools=tools, classes=classes)
    ran = runs.go_on(custom_tools=tools, classes=classes)
    assert ran.answer == ("('Place', True)" if knows_class else "('Record', False)")


@pytest.mark.spec("SPEC-09.23")
def test_a_fork_goes_on_from_its_checkpoint_by_itself_and_the_first_run_is_untouched(
    server: ChatServer, runs: Runs
) -> None:
    server.script = cells("seen = [1]", "seen.append(2)", ending("seen"))
    assert runs.go_on().answer == "[1, 2]"
    first = open_session_folder(runs.folder, "s").listed()[0]
    forked = fork(runs.folder, first.path, as_="t")
    server.script = cells("", "seen.append(9)", ending("seen"))
    assert runs.go_on(session_id=forked.session_id).answer == "[1, 9]"
    assert "It was forked from session s." in server.chats[-1].text
    assert runs.go_on().answer == "[1, 2]"
    assert len(server.chats) == 3 + 2
