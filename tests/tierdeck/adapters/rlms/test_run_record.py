"""What a checkpoint says of a run is checked before it is gone by: it comes from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tierdeck.adapters.rlms.adapter import UNCLOSED, Runs
from tests.tierdeck.adapters.rlms.chat_server import ChatServer
from tests.tierdeck.adapters.rlms.test_saved_state import cells, ending
from tierdeck.adapters.rlms.answer import Answer, answer_from
from tierdeck.adapters.rlms.run_record import RunRecord
from tierdeck.errors import DamagedCheckpointError
from tierdeck.session import open_session

pytestmark = UNCLOSED

Spoil = Callable[[dict[str, Any]], object]


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(lambda s: s["working_memory"]["rlms"].pop("usage"), "no 'usage' of type dict", id="no-usage"),
        pytest.param(lambda s: s["working_memory"].update(rlms=[]), "no 'prompt' of type str", id="no-record"),
        pytest.param(lambda s: s["trajectory"].append("x"), "no 'cells' of type list", id="no-turn"),
        pytest.param(lambda s: s["trajectory"][0].update(response=1), "no 'response' of type str", id="response"),
        pytest.param(lambda s: s["trajectory"][0]["cells"].append(1), "no 'code' of type str", id="no-cell"),
        pytest.param(lambda s: s["trajectory"].append({"default_answer": 1}), "no 'default_answer'", id="answer"),
        pytest.param(lambda s: s["messages"].append(1), "1 of its messages are none", id="no-message"),
    ],
)
def test_a_record_that_is_not_whole_is_refused_by_what_it_lacks(
    server: ChatServer, runs: Runs, spoil: Spoil, said: str
) -> None:
    server.script = cells(ending("1"))
    runs.go_on()
    saved = runs.newest()
    state: dict[str, Any] = {
        "variables": saved.repl_state,
        "messages": list(saved.messages),
        "working_memory": dict(saved.working_memory),
        "trajectory": list(saved.trajectory_events),
    }
    spoil(state)
    with open_session(None, "t", checkpoints=runs.folder, every=1) as session:
        session.turn(**state)
    with pytest.raises(DamagedCheckpointError, match=said):
        runs.go_on(session_id="t")


def test_a_record_is_read_as_it_was_written(server: ChatServer, runs: Runs) -> None:
    server.script = cells(["a = 1; print(a)", "1 / 0"], ending("a"))
    runs.go_on()
    record = RunRecord.read(runs.newest())
    first, second = record.turns
    assert [cell.code for cell in first.cells] == ["a = 1; print(a)", "1 / 0"]
    assert first.cells[0].stdout == "1\n"
    assert first.cells[1].stderr.endswith("ZeroDivisionError: division by zero")
    assert first.cells[0].shown == ("answer", "context_0", "context", "a")
    assert second.cells[0].final_answer == "1"
    assert record.usage == {"m": [2, 90, 10, 0.02]}
    assert record.cells == ["a = 1; print(a)", "1 / 0", ending("a")]


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ({"text": "a", "input": 1, "output": 2, "cost": 0.5}, Answer("a", 1, 2, 0.5)),
        ({"text": "a", "input": "1", "cost": None}, Answer("a", 0, 0, None)),
        ("a person's word", Answer("a person's word", cost=0.0)),
        (None, Answer("", cost=0.0)),
    ],
    ids=["whole", "odd", "decided", "skipped"],
)
def test_an_answer_from_the_journal_is_one_whatever_stands_there(result: object, answer: Answer) -> None:
    assert answer_from(result) == answer
