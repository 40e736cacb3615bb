"""What is asked of an agent is done once and answered, wherever a crash falls."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import NOW_NS, OTHER_BRANCH, SESSION, files, filled
from tests.tierdeck.checkpoint.folder.other_process import other_process
from tierdeck.checkpoint.folder import Request, SessionFolder
from tierdeck.checkpoint.folder.requested_decision import RequestedDecision
from tierdeck.checkpoint.folder.requests import (
    CLAIM_FILE,
    EXPIRY_NS,
    REQUEST_FILE,
    Answer,
    list_answers,
    put_answer,
)
from tierdeck.errors import ConflictError, DamagedCheckpointError, InvalidValueError, NotFoundError


def rewind(folder: SessionFolder, at_ns: int = NOW_NS, **changes: object) -> Request:
    """A request to go back to the first checkpoint."""
    fields: dict[str, object] = {
        "kind": "rewind", "file": files(folder)[0], "mode": "whole", "expected_generation": 0, "by": "ops",
        "at_ns": at_ns,
    }  # fmt: skip
    return Request(**(fields | changes))  # type: ignore[arg-type]  # the fields' own names


def clock(folder: SessionFolder, now_ns: int) -> None:
    """Have another time."""
    folder.clock_ns = lambda: now_ns


def left(folder: SessionFolder) -> set[str]:
    """What of requests lies in the folder; answers without their ids."""
    names = {name.split("-")[0] for name in os.listdir(folder.path)}
    return names & {REQUEST_FILE, CLAIM_FILE, "answer"}


def take_and_drop_lease(folder: SessionFolder) -> None:
    """What the next agent does first."""
    lease = folder.try_lease()
    assert lease is not None
    lease.release()


@pytest.mark.case("K30")
def test_a_request_is_seen_claimed_done_and_answered(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    assert folder.pending_request() is None
    asked = folder.ask(rewind(folder))
    assert folder.answer_to(asked) is None
    waiting = folder.pending_request()
    assert waiting is not None
    assert (waiting.request_id, waiting.by, waiting.file) == (asked, "ops", files(folder)[0])
    claimed = folder.claim(asked)
    assert claimed == waiting
    assert folder.pending_request() is None
    assert folder.answer_to(asked) is None
    assert not folder.take_back(asked)
    folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=0, last_request=asked)
    folder.answer(asked, "applied", file=files(folder)[0])
    answer = folder.answer_to(asked)
    assert answer is not None
    assert (answer.state, answer.why, answer.file) == ("applied", None, files(folder)[0])
    assert left(folder) == {"answer"}


def test_a_refusal_says_why(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(Request("checkpoint", None, "", 0, "ops", NOW_NS, label="now"))
    assert folder.claim(asked).label == "now"
    folder.answer(asked, "refused", "the disk is full" + "!" * 5000)
    answer = folder.answer_to(asked)
    assert answer is not None
    assert answer.state == "refused"
    assert (answer.why or "").startswith("the disk is full")
    assert len(answer.why or "") == 1000


def test_a_second_request_does_not_take_the_place_of_one_that_waits(tmp_path: Path) -> None:
    folder = filled(tmp_path, 2)
    first = folder.ask(rewind(folder))
    with pytest.raises(ConflictError, match="ops asked for rewind before"):
        folder.ask(rewind(folder, by="me"))
    assert folder.take_back(first)
    assert not folder.take_back(first)
    answer = folder.answer_to(first)
    assert answer is not None
    assert answer.state == "expired"
    second = folder.ask(rewind(folder, by="me"))
    assert not folder.take_back(first)
    with pytest.raises(NotFoundError, match="not there any more"):
        folder.claim(first)
    assert folder.claim(second).by == "me"


def test_a_request_expires_after_fifteen_minutes(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(rewind(folder))
    clock(folder, NOW_NS + EXPIRY_NS)
    assert folder.answer_to(asked) is None
    clock(folder, NOW_NS + EXPIRY_NS + 1)
    answer = folder.answer_to(asked)
    assert answer is not None
    assert answer.state == "expired"
    assert left(folder) == {REQUEST_FILE}, "looking changes nothing"
    assert folder.pending_request() is None
    assert left(folder) == {"answer"}
    again = folder.answer_to(asked)
    assert again is not None
    assert again.state == "expired"
    folder.ask(rewind(folder, NOW_NS + EXPIRY_NS))


def test_an_expired_request_gives_way_to_a_new_one_and_is_answered(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    first = folder.ask(rewind(folder))
    clock(folder, NOW_NS + 2 * EXPIRY_NS)
    second = folder.ask(rewind(folder, NOW_NS + 2 * EXPIRY_NS))
    answer = folder.answer_to(first)
    assert answer is not None
    assert answer.state == "expired"
    assert folder.claim(second).request_id == second


def test_a_crash_before_the_switch_puts_the_request_back(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(rewind(folder))
    with other_process(tmp_path, SESSION) as other:
        other.do(f"lease = folder.try_lease(); folder.claim({asked!r})")
        other.kill()
    assert left(folder) == {CLAIM_FILE}
    assert folder.answer_to(asked) is None
    take_and_drop_lease(folder)
    waiting = folder.pending_request()
    assert waiting is not None
    assert waiting.request_id == asked
    assert left(folder) == {REQUEST_FILE}


def test_a_crash_after_the_switch_is_answered_as_done_and_not_done_again(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(rewind(folder))
    with other_process(tmp_path, SESSION) as other:
        other.do(
            f"lease = folder.try_lease(); folder.claim({asked!r})\n"
            f"folder.switch_head(files(folder)[0], '{OTHER_BRANCH}', expected_generation=0, last_request={asked!r})"
        )
        other.kill()
    answer = folder.answer_to(asked)
    assert answer is not None
    assert answer.state == "applied"
    take_and_drop_lease(folder)
    assert folder.pending_request() is None
    assert left(folder) == {"answer"}
    kept = folder.answer_to(asked)
    assert kept is not None
    assert (kept.state, kept.file) == ("applied", files(folder)[0])


def test_a_crash_between_answer_and_claim_leaves_the_answer(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(rewind(folder))
    folder.claim(asked)
    claim = (folder.path / CLAIM_FILE).read_bytes()
    folder.answer(asked, "refused", "no")
    (folder.path / CLAIM_FILE).write_bytes(claim)
    take_and_drop_lease(folder)
    assert left(folder) == {"answer"}
    answer = folder.answer_to(asked)
    assert answer is not None
    assert answer.why == "no"


def test_a_claim_of_a_dead_agent_expires_and_one_of_a_live_agent_does_not(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(rewind(folder))
    with folder.try_lease() or pytest.fail("the lease was free"):
        folder.claim(asked)
        clock(folder, NOW_NS + 2 * EXPIRY_NS)
        assert folder.answer_to(asked) is None, "the agent is at it"
    answer = folder.answer_to(asked)
    assert answer is not None
    assert (answer.state, answer.why) == ("expired", "the agent ended while it was doing it")
    take_and_drop_lease(folder)
    assert left(folder) == {"answer"}


def test_a_claim_does_not_push_a_newer_request_away(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    first = folder.ask(rewind(folder))
    folder.claim(first)
    second = folder.ask(rewind(folder, by="me"))
    with pytest.raises(ConflictError, match="another one is being done"):
        folder.claim(second)
    take_and_drop_lease(folder)
    answer = folder.answer_to(first)
    assert answer is not None
    assert answer.state == "refused"
    waiting = folder.pending_request()
    assert waiting is not None
    assert waiting.request_id == second


def test_left_over_answers_are_swept_after_an_hour(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    asked = folder.ask(rewind(folder))
    folder.claim(asked)
    folder.answer(asked, "refused", "no")
    take_and_drop_lease(folder)
    assert left(folder) == {"answer"}
    old = time.time() - 3700
    os.utime(folder.path / f"answer-{asked}", (old, old))
    take_and_drop_lease(folder)
    assert left(folder) == set()


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "delete"}, {"file": None}, {"file": "../../x"}, {"file": "HEAD"}, {"by": ""}, {"by": "x" * 201},
        {"mode": 5}, {"expected_generation": "0"}, {"at_ns": 1.5}, {"label": " "}, {"kind": "checkpoint"},
    ],
)  # fmt: skip
def test_a_wrong_request_is_refused_when_it_is_asked_and_when_it_is_read(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    folder = filled(tmp_path, 1)
    with pytest.raises((InvalidValueError, NotFoundError)):
        folder.ask(rewind(folder, **{"at_ns": NOW_NS, **changes}))  # type: ignore[arg-type]  # a wrong one is meant
    assert left(folder) == set()
    path = folder.path / REQUEST_FILE
    folder.ask(rewind(folder))
    good = path.read_text()
    for text in ("", "{}", "[1]", "[" * 50_000, good.replace("ops", ""), good.replace('"rewind"', '["rewind"]')):
        path.write_text(text)
        with pytest.raises(DamagedCheckpointError):
            folder.pending_request()
        assert folder.pending_request() is None, "it is met once"


def test_a_request_for_what_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    with pytest.raises(NotFoundError):
        folder.ask(rewind(folder, file="00000009-1-aaaaaaaa.rlmckpt"))
    for request_id in ("", "../../x", "x" * 16):
        with pytest.raises(InvalidValueError):
            folder.answer_to(request_id)


RIGHT = {"op_id": "a" * 32, "choice": "done", "seen": "running", "by": "ann", "value": "AAE=", "form": 0}


def test_the_decisions_of_a_request_are_read_as_they_were_asked(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    decisions = (
        RequestedDecision("a" * 32, "done", "running", "ann", b"\x00\xff" * 100, 1),
        RequestedDecision("b" * 32, "skip", None, None),
    )
    wanted = Request("rewind", files(folder)[0], "rewind", 0, "ann", NOW_NS, decisions=decisions)
    folder.ask(wanted)
    request = folder.pending_request()
    assert request is not None
    assert request.decisions == decisions
    assert folder.claim(request.request_id).decisions == decisions


@pytest.mark.parametrize(
    "decisions",
    [
        7, {}, [7], [{}], [RIGHT | {"value": "no base64!"}], [RIGHT | {"value": 7}], [RIGHT | {"op_id": ""}],
        [RIGHT | {"op_id": "a" * 201}], [RIGHT | {"choice": None}], [RIGHT | {"form": "0"}], [RIGHT] * 1_001,
        [RIGHT | {"form": True}], [RIGHT | {"by": ["ann"]}],
    ],
)  # fmt: skip
def test_a_request_with_decisions_that_are_none_is_no_request_and_is_set_aside(
    tmp_path: Path, decisions: object
) -> None:
    folder = filled(tmp_path, 1)
    folder.ask(rewind(folder))
    path = folder.path / "request"
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | {"decisions": [RIGHT]}))
    assert folder.pending_request() is not None
    path.write_text(json.dumps(found | {"decisions": decisions}))
    with pytest.raises(DamagedCheckpointError, match="decisions"):
        folder.pending_request()
    assert folder.pending_request() is None


def test_a_request_of_an_older_version_has_no_decisions_and_one_for_a_checkpoint_takes_none(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    folder.ask(rewind(folder))
    path = folder.path / "request"
    found = json.loads(path.read_text())
    del found["decisions"]
    path.write_text(json.dumps(found))
    request = folder.pending_request()
    assert request is not None
    assert request.decisions == ()
    path.unlink()
    one = (RequestedDecision("a", "skip", None, None),)
    with pytest.raises(InvalidValueError, match="decisions"):
        folder.ask(Request("checkpoint", None, "", 0, "ann", NOW_NS, decisions=one))


def test_answers_are_listed_the_newest_first_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    folder = filled(tmp_path, 1)
    for number in range(3):
        put_answer(folder.path, Answer(f"{number:016x}", "refused", f"why {number}", NOW_NS + number))
    (folder.path / "answer-zz").write_text("{}")
    (folder.path / f"answer-{9:016x}").write_text("{")
    assert [each.why for each in list_answers(folder.path)] == ["why 2", "why 1", "why 0"]
