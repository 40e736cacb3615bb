"""Sub-runs, batches, compaction, limits and the last answer of a run that goes on."""

from __future__ import annotations

import re
from typing import Any

import openai
import pytest

from tests.tierdeck.adapters.rlms.adapter import UNCLOSED, Runs
from tests.tierdeck.adapters.rlms.chat_server import Chat, ChatServer
from tests.tierdeck.adapters.rlms.sums import CONTEXT, QUESTION, TURNS, says, sums
from tests.tierdeck.adapters.rlms.test_saved_state import breaks_at, broken_and_resumed, cells, ending, fails_at
from tierdeck.errors import ConflictError, InvalidValueError
from tierdeck.session import open_session

pytestmark = UNCLOSED


@pytest.mark.spec("SPEC-09.23")
def test_a_sub_run_that_was_under_way_is_gone_through_again_and_its_done_calls_are_not_paid_again(
    server: ChatServer, runs: Runs
) -> None:
    def script(chat: Chat) -> str:
        if chat.turn is None:
            return f"<{chat.last}>"
        is_child = "Your context is a str of 5 total characters" in chat.text
        if is_child:
            return says("x = rlm_query('deep ' + context)" if chat.turn == 1 else ending("x"))
        return says("part = rlm_query('child')" if chat.turn == 1 else ending("part"))

    server.script, server.before_answer = script, fails_at(2)
    with pytest.raises(openai.APIConnectionError):
        runs.go_on(max_depth=2, every=5)
    assert [chat.name for chat in server.chats] == ["turn 1", "turn 1", "deep child", "turn 2", "turn 2"]
    server.before_answer = lambda chat: None
    assert runs.go_on(max_depth=2, every=5).answer == "<deep child>"
    assert [chat.name for chat in server.chats[5:]] == ["turn 2", "turn 2"], "the two that had no answer"


def test_a_batch_is_not_paid_again_and_of_one_that_failed_in_part_only_that_part_is(
    server: ChatServer, runs: Runs
) -> None:
    script = cells("a = llm_query_batched(['one', 'two', 'three'])", ending("a"))
    server.script = lambda chat: script(chat) if chat.turn else f"<{chat.last}>"

    def fail(chat: Chat) -> None:
        if chat.last == "two" or chat.turn == 2:
            raise ConnectionAbortedError

    server.before_answer = fail
    with pytest.raises(openai.APIConnectionError):
        runs.go_on(every=9)
    server.before_answer = lambda chat: None
    assert runs.go_on(every=9).answer == "['<one>', '<two>', '<three>']"
    assert [server.paid[name] for name in ("one", "two", "three", "turn 1", "turn 2")] == [1, 2, 1, 1, 2]


def test_without_any_depth_the_one_call_is_journalled_too(server: ChatServer, runs: Runs) -> None:
    server.script = lambda chat: "plain"
    for _ in range(2):
        with open_session(None, "s", checkpoints=runs.folder) as session:
            assert session.resume() is None
            assert runs.rlm(session, max_depth=0).completion("hello") == "plain"
    assert server.paid == {"hello": 1}


def history_of(runs: Runs, session_id: str) -> list[object]:
    found = runs.newest(session_id).repl_state["history"]
    assert isinstance(found, list)
    return found


def test_a_run_whose_messages_are_compacted_goes_on_as_it_would_have(server: ChatServer, runs: Runs) -> None:
    def script(chat: Chat) -> str:
        if chat.last.startswith("Summarize your progress"):
            return f"total {re.findall(r'total (-?[0-9]+)', chat.text)[-1]}"
        return sums(chat)

    settings: dict[str, Any] = {"compaction": True, "compaction_threshold_pct": 0.0125, "max_iterations": TURNS}
    server.script = script
    whole = runs.go_on(CONTEXT, root_prompt=QUESTION, session_id="whole", **settings)
    breaks_at(server, runs, 7, prompt=CONTEXT, root_prompt=QUESTION, **settings)
    broken = runs.go_on(CONTEXT, root_prompt=QUESTION, **settings)
    assert broken.answer == whole.answer
    told, broken_told = history_of(runs, "whole"), history_of(runs, "s")
    assert [part for part in broken_told if isinstance(part, list)] == [p for p in told if isinstance(p, list)]
    # The note after the restore makes the messages longer, so that they are compacted sooner.
    compactions = sum(isinstance(part, dict) for part in broken_told)
    assert compactions >= sum(isinstance(part, dict) for part in told) >= 3
    assert f"Your conversation has been compacted {compactions} time" in server.chats[-1].text


@pytest.mark.parametrize("every", [1, 5])
def test_when_its_turns_are_used_up_the_last_answer_is_saved_and_not_asked_for_again(
    server: ChatServer, runs: Runs, every: int
) -> None:
    server.script = lambda chat: "enough" if chat.last.startswith("Please provide a final") else says("a = 1")
    assert runs.go_on(max_iterations=2, every=every).answer == "enough"
    assert runs.newest().turn == 3
    assert runs.go_on(max_iterations=2, every=every).answer == "enough"
    assert len(server.chats) == 3


def test_the_limit_of_tokens_counts_what_was_used_before_the_break(server: ChatServer, runs: Runs) -> None:
    from rlm import TokenLimitExceededError

    server.script = cells("a = 1", "a = 2", "a = 3", "a = 4")
    used = [10 * len_ + 5 for len_ in (3, 6, 9)]
    limit = sum(used) - 1
    breaks_at(server, runs, 3, max_tokens=limit)
    with pytest.raises(TokenLimitExceededError):
        runs.go_on(max_tokens=limit)
    assert server.paid["turn 4"] == 0


def test_a_cost_that_the_provider_does_not_tell_is_unknown_and_not_nothing(server: ChatServer, runs: Runs) -> None:
    server.cost, server.script = None, cells(ending("1"))
    ran = runs.go_on()
    assert (ran.session.spending.session, ran.session.spending.session_tokens) == (None, 35)


def test_the_package_s_logger_has_all_turns_after_a_break(server: ChatServer, runs: Runs) -> None:
    from rlm.logger import RLMLogger

    logger = RLMLogger()
    broken_and_resumed(server, runs, "a = 1", "print(a)", ending("a"), logger=logger)
    trajectory = logger.get_trajectory()
    assert trajectory is not None
    assert [each["code_blocks"][0]["code"] for each in trajectory["iterations"]] == [
        "a = 1",
        "print(a)",
        ending("a"),
    ]


def test_a_run_does_not_go_on_with_another_prompt(server: ChatServer, runs: Runs) -> None:
    server.script = cells("a = 1", ending("a"))
    breaks_at(server, runs, 2)
    with pytest.raises(ConflictError, match="is about another prompt"):
        runs.go_on("another context")
    with pytest.raises(ConflictError, match="is about another prompt"):
        runs.go_on(root_prompt="another question")
    runs.go_on()
    with pytest.raises(ConflictError, match="2 turns are done, and max_iterations is 1"):
        runs.go_on(max_iterations=1)


def test_a_run_does_not_go_on_with_what_something_else_has_saved(runs: Runs) -> None:
    with open_session(None, "s", checkpoints=runs.folder, every=1) as session:
        session.turn({"a": 1})
    with open_session(None, "s", checkpoints=runs.folder) as session:
        back = session.resume()
        with pytest.raises(ConflictError, match="is of no run of rlms"):
            runs.rlm(session, resumed=back)
        with pytest.raises(ConflictError, match="it made 1 turns"):
            runs.rlm(session)


def test_one_run_takes_one_prompt(server: ChatServer, runs: Runs) -> None:
    server.script = cells(ending("1"))
    with open_session(None, "s", checkpoints=runs.folder) as session:
        rlm = runs.rlm(session)
        rlm.completion("a context")
        with pytest.raises(ConflictError, match="this run has begun already"):
            rlm.completion("a context")


def test_without_checkpoints_it_is_just_a_run(server: ChatServer, runs: Runs) -> None:
    server.script = cells("a = 1", ending("a"))
    with open_session(None, "s") as session:
        assert runs.rlm(session).completion("a context").response == "1"
        assert session.turns == 2
    assert not runs.folder.exists()


@pytest.mark.parametrize(
    "settings", [{"environment": "docker"}, {"persistent": True}], ids=["docker", "persistent"]
)
def test_variables_that_are_kept_elsewhere_are_refused(runs: Runs, settings: dict[str, object]) -> None:
    with (
        open_session(None, "s") as session,
        pytest.raises(InvalidValueError, match="only 'local' and not persistent"),
    ):
        runs.rlm(session, **settings)
