"""Functions that cells define: a description by default, the function itself when the host opts in."""

from __future__ import annotations

import pytest

from tests.tierdeck.adapters.rlms.adapter import UNCLOSED, Runs
from tests.tierdeck.adapters.rlms.chat_server import ChatServer
from tests.tierdeck.adapters.rlms.test_saved_state import breaks_at, broken_and_resumed, cells, ending
from tierdeck.checkpoint import Inert

pytestmark = UNCLOSED

DEFINE = '''
import re
from collections import Counter
words = ["a", "b", "a"]
def clean(text):
    return re.sub("[^a-z]", "", text.lower())
def ask(text, times=2):
    """Ask."""
    return [llm_query(clean(text)) for _ in range(times)]
if True:
    def indented():
        return """
  kept"""
double = lambda x: x * len(words)
table = {"clean": clean, "more": [double]}
'''
USE = (
    "(clean('A-b'), ask('X!', 1), indented(), double(2), "
    "table['clean']('Q'), table['more'][0](1), Counter(words)['a'])"
)
GAVE = str(("ab", ["<x>"], "\n  kept", 6, "q", 3, 2))


@pytest.mark.spec("SPEC-09.21", "SPEC-09.23")
@pytest.mark.case("K31")
@pytest.mark.case("C07")
@pytest.mark.case("K12")
def test_by_default_a_function_is_a_description_under_no_name_and_the_run_goes_on(
    server: ChatServer, runs: Runs
) -> None:
    defined = "[name in SHOW_VARS() for name in ('clean', 'double', 'words')]"
    ran = broken_and_resumed(server, runs, DEFINE, "clean('A')", ending(defined))
    assert ran.answer == "[False, False, True]"
    server.script = cells(DEFINE, "clean('A')", ending(defined))
    saved = runs.newest()
    clean = saved.repl_state["clean"]
    assert isinstance(clean, Inert)
    assert (clean.kind, clean.name) == ("function", "__main__.clean")
    assert clean.source == 'def clean(text):\n    return re.sub("[^a-z]", "", text.lower())'
    assert "Not defined now; import or define again what you need: re, Counter, clean, ask, indented, double." in (
        ran.rlm.note
    )


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K31")
def test_when_the_host_opts_in_they_work_again_with_builtins_helpers_and_each_other_also_the_second_time(
    server: ChatServer, runs: Runs
) -> None:
    script = cells(DEFINE, "x = 1", "y = 1", ending(USE))
    server.script = lambda chat: script(chat) if chat.turn else f"<{chat.last}>"
    breaks_at(server, runs, 2, rebuild_functions=True)
    breaks_at(server, runs, 4, rebuild_functions=True)
    ran = runs.go_on(rebuild_functions=True)
    assert ran.answer == GAVE
    assert "Rebuilt from their source, or imported again: table, re, Counter, clean, ask" in ran.rlm.note
    assert "Restored as a description only" not in ran.rlm.note


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C17")
def test_without_the_opt_in_nothing_of_a_function_is_run_also_not_its_defaults(
    server: ChatServer, runs: Runs
) -> None:
    ticks: list[int] = []
    tools = {"tick": lambda: ticks.append(1)}
    turns = "def f(x=tick()):\n    return 5", "y = 1", ending("1")
    broken_and_resumed(server, runs, *turns, custom_tools=tools)
    assert len(ticks) == 1
    ran = runs.go_on(session_id="t", custom_tools=tools)
    assert len(ticks) == 2, "made once in each of the two sessions"
    assert ran.answer == "1"


@pytest.mark.case("K31")
def test_a_description_is_carried_on_by_a_run_without_the_opt_in_and_rebuilt_by_one_with_it(
    server: ChatServer, runs: Runs
) -> None:
    server.script = cells("def f():\n    return 5", "y = 1", "z = 1", ending("f()"))
    breaks_at(server, runs, 2)
    breaks_at(server, runs, 4)
    assert runs.go_on(rebuild_functions=True).answer == "5"


@pytest.mark.case("K31")
def test_what_cannot_be_rebuilt_is_told_with_the_reason_and_the_rest_is_rebuilt(
    server: ChatServer, runs: Runs
) -> None:
    define = """
def make(n):
    def inner():
        return n
    return inner
closed = make(3)
limit = [1]
def late(x=limit[5:][0] if len(limit) < 3 else 0):
    return x
fine = make
"""
    server.script = cells(
        "limit = [1] * 9\n" + define.replace("limit = [1]\n", ""), "limit.clear()", ending("fine(4)()")
    )
    breaks_at(server, runs, 3, rebuild_functions=True)
    ran = runs.go_on(rebuild_functions=True)
    assert ran.answer == "4"
    assert "Not rebuilt: closed: ValueError: its text was not recorded" in ran.rlm.note
    assert "Not rebuilt: late: IndexError: list index out of range" in ran.rlm.note
