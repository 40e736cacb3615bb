"""Calls of an agent: made once, given again, asked about."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import pytest

from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.journal import Decision, Journal, store_value
from tierdeck.checkpoint.running import CallRules, Question
from tierdeck.errors import ConflictError, InvalidValueError, StoppedError, UndecidedOperationError
from tierdeck.session import Session, open_session


class World:
    """Counts what was really done."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.done: list[object] = []
        self.rules = CallRules()

    def begin(self) -> Session:
        """A session after its first turn, on disk."""
        session = open_session(None, "s", checkpoints=self.root, every=1, rules=self.rules)
        session.turn({})
        session.flush()
        return session

    def crash(self, session: Session) -> Session:
        """End it as a crash does, and take it up again."""
        session.__exit__(SystemExit, None, None)
        again = open_session(None, "s", checkpoints=self.root, every=1, rules=self.rules)
        assert again.resume() is not None
        return again

    def does(self, what: object, result: object = None) -> Callable[[], object]:
        """A call that is counted."""

        def call() -> object:
            self.done.append(what)
            return result

        return call

    def interrupted(self, what: object) -> Callable[[], object]:
        """One that is done, and cut off before its result is known."""

        def call() -> object:
            self.done.append(what)
            raise KeyboardInterrupt

        return call


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14")
def test_of_three_planned_mails_the_sent_one_is_not_repeated_the_begun_one_asks_and_the_third_is_offered(
    world: World,
) -> None:
    session = world.begin()
    mails = [session.operation("mail", name) for name in "ABC"]
    session.plan(*mails)
    mails[0].run(world.does("A", "id-A"))
    with pytest.raises(KeyboardInterrupt):
        mails[1].run(world.interrupted("B"))
    session.checkpoint()
    again = world.crash(session)
    assert [(call.entry.request.value(), call.entry.state) for call in again.unfinished()] == [
        ("B", "running"),
        ("C", "pending"),
    ]
    assert world.done == ["A", "B"], "nothing runs because somebody looks"
    calls = [again.operation("mail", name) for name in "ABC"]
    assert calls[0].run(world.does("A again")) == "id-A"
    with pytest.raises(UndecidedOperationError, match="under way when the session ended") as asked:
        calls[1].run(world.does("B again"))
    assert (asked.value.op_id, asked.value.exit_code) == (calls[1].op_id, 5)
    with pytest.raises(InvalidValueError, match="its value can't be kept"):
        again.decide(asked.value.op_id, "done", threading.Lock())
    again.decide(asked.value.op_id, "done", "id-B", by="ann")
    assert calls[1].run(world.does("B again")) == "id-B"
    assert calls[2].run(world.does("C", "id-C")) == "id-C"
    assert world.done == ["A", "B", "C"]
    again.end()


@pytest.mark.case("K28")
def test_the_questions_are_known_when_the_session_goes_on_before_anything_is_called(world: World) -> None:
    session = world.begin()
    for has_side_effects, kind in ((True, "mail"), (False, "model")):
        with pytest.raises(KeyboardInterrupt):
            session.operation(kind, 1, has_side_effects=has_side_effects).run(world.interrupted(kind))
    session.__exit__(SystemExit, None, None)
    with open_session(None, "s", checkpoints=world.root) as again:
        back = again.resume()
        assert back is not None
        [question] = back.questions
        assert question.about.kind == "mail"
        assert "To be decided before it is done again:\n- mail: it was under way" in back.note
        assert again.operation("model", 1, has_side_effects=False).run(world.does("model again", "m")) == "m"
    assert world.done == ["mail", "model", "model again"]


def test_equal_calls_of_one_turn_are_told_apart_and_given_again_in_order(world: World) -> None:
    session = world.begin()
    assert [session.operation("roll", "die").run(world.does("r", number)) for number in (3, 5, 1)] == [3, 5, 1]
    again = world.crash(session)
    assert [again.operation("roll", "die").run(world.does("r", 9)) for _ in range(4)] == [3, 5, 1, 9]
    assert len(world.done) == 4
    again.end()


def test_calls_that_run_side_by_side_are_the_same_calls_in_any_order(world: World) -> None:
    def work(session: Session, numbers: list[int], results: dict[int, object]) -> None:
        def one(number: int) -> None:
            results[number] = session.operation("model", number).run(world.does(number, number * number))

        threads = [threading.Thread(target=one, args=(number,)) for number in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    first: dict[int, object] = {}
    second: dict[int, object] = {}
    session = world.begin()
    work(session, list(range(20)), first)
    again = world.crash(session)
    work(again, list(range(19, -1, -1)), second)
    assert first == second == {number: number * number for number in range(20)}
    assert sorted(map(str, world.done)) == sorted(map(str, range(20)))
    again.end()


def test_a_call_that_failed_is_asked_about_when_it_may_have_done_something(world: World) -> None:
    def fail() -> None:
        world.done.append("tried")
        raise TimeoutError("no answer")

    session = world.begin()
    for has_side_effects in (True, False):
        with pytest.raises(TimeoutError):
            session.operation("call", has_side_effects, has_side_effects=has_side_effects).run(fail)
    again = world.crash(session)
    with pytest.raises(UndecidedOperationError, match="it failed when it was made"):
        again.operation("call", True).run(world.does("again"))
    again.operation("call", False, has_side_effects=False).run(world.does("again"))
    assert world.done == ["tried", "tried", "again"]
    [failed, _] = Journal(open_session_folder(world.root, "s").path, str(again.branch)).operations()
    assert failed.result is not None
    assert failed.result.value() == "TimeoutError: no answer"
    again.end()


def test_a_result_that_could_not_be_kept_is_not_made_up(world: World) -> None:
    session = world.begin()
    session.operation("open", "door").run(world.does("opened", {"handle": Lock()}))
    again = world.crash(session)
    with pytest.raises(UndecidedOperationError, match=r"its result could not be kept \(\.handle: _thread\.lock"):
        again.operation("open", "door").run(world.does("again"))
    assert world.done == ["opened"]
    again.end()


@pytest.mark.case("K28")
def test_another_request_of_the_same_kind_in_a_turn_that_was_begun_before_asks(world: World) -> None:
    session = world.begin()
    session.operation("mail", "it is 10:01").run(world.does("10:01"))
    again = world.crash(session)
    mail = again.operation("mail", "it is 10:07")
    with pytest.raises(UndecidedOperationError, match="this turn was begun before") as asked:
        mail.run(world.does("10:07"))
    again.decide(asked.value.op_id, "run again")
    mail.run(world.does("10:07"))
    again.operation("mail", "another").run(world.does("another"))  # asked once for each that was made
    assert world.done == ["10:01", "10:07", "another"]
    again.end()


def test_a_journal_damaged_in_the_middle_asks_about_what_it_may_have_held(world: World) -> None:
    session = world.begin()
    session.operation("mail", "A").run(world.does("A"))
    session.operation("note", "B").run(world.does("B"))
    path = Journal(open_session_folder(world.root, "s").path, str(session.branch)).path
    session.__exit__(SystemExit, None, None)
    data = bytearray(path.read_bytes())
    at = data.find(b"mail")
    data[at] ^= 1
    path.write_bytes(data)
    with open_session(None, "s", checkpoints=world.root) as again:
        back = again.resume()
        assert back is not None
        assert "in the middle are damaged" in back.note
        with pytest.raises(UndecidedOperationError, match="the journal of this turn is damaged") as asked:
            again.operation("mail", "A").run(world.does("A again"))
        assert asked.value.op_id
    assert world.done == ["A", "B"]


def test_rules_and_a_person_may_answer_at_once(world: World) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Decision | None:
        asked.append(question)
        return Decision("done", store_value("as ann says"), "ann") if question.about.kind == "mail" else None

    world.rules = CallRules({"log": "run again", "ping": "skip", "pay": "abort", "model": "ask"}, ask)
    session = world.begin()
    for kind in ("log", "ping", "pay", "mail", "post", "model"):
        with pytest.raises(KeyboardInterrupt):
            session.operation(kind, has_side_effects=kind != "model").run(world.interrupted(kind))
    world.done.clear()
    again = world.crash(session)
    assert again.operation("log").run(world.does("log", 1)) == 1
    assert again.operation("ping").run(world.does("ping", 1)) is None
    with pytest.raises(StoppedError, match="it was decided to abort"):
        again.operation("pay").run(world.does("pay"))
    assert again.operation("mail").run(world.does("mail")) == "as ann says"
    for kind in ("post", "model"):
        with pytest.raises(UndecidedOperationError):
            again.operation(kind, has_side_effects=kind != "model").run(world.does(kind))
    assert (world.done, [question.about.kind for question in asked]) == (["log"], ["mail", "post", "model"])
    again.end()


def test_a_decorated_function_is_made_once_for_its_arguments(world: World) -> None:
    def work(session: Session) -> list[object]:
        @session.journalled("double", has_side_effects=False)
        def double(number: int, *, times: int = 1) -> int:
            world.done.append(number)
            return number * 2 * times

        return [double(2), double(3, times=4), double.__name__]

    session = world.begin()
    first = work(session)
    again = world.crash(session)
    assert work(again) == first == [4, 24, "double"]
    assert world.done == [2, 3]
    again.end()


def test_a_call_around_awaited_code_is_written_down_like_any_other(world: World) -> None:
    async def ask() -> str:
        await asyncio.sleep(0)
        world.done.append("asked")
        return "answer"

    async def work(session: Session) -> object:
        with session.operation("model", 1) as call:
            if call.is_due:
                call.result = await ask()
        return call.result

    session = world.begin()
    assert asyncio.run(work(session)) == "answer"
    again = world.crash(session)
    assert asyncio.run(work(again)) == "answer"
    assert world.done == ["asked"]
    waits = ask()
    with pytest.raises(InvalidValueError, match="something to be awaited"):
        assert again.operation("model", 2).run(lambda: waits)
    waits.close()
    again.end()


def test_a_call_object_is_for_one_call(world: World) -> None:
    session = world.begin()
    call = session.operation("mail", 1)
    call.run(world.does("sent"))
    with pytest.raises(ConflictError, match="this call was made already"):
        call.run(world.does("sent"))
    assert world.done == ["sent"]
    session.end()


def test_unfinished_calls_stand_in_the_checkpoint(world: World) -> None:
    session = world.begin()
    session.plan(session.operation("mail", {"to": "x"}))
    session.turn({})
    session.flush()
    made = open_session_folder(world.root, "s").listed()[-1]
    assert made.summary is not None
    assert made.summary.pending == {"pending": 1}
    again = world.crash(session)
    [call] = again.unfinished()
    call.run(world.does("sent", "id"))
    assert (world.done, again.unfinished()) == (["sent"], ())
    again.end()


def test_the_journal_keeps_what_a_person_has_to_judge_and_of_a_long_prompt_one_line(world: World) -> None:
    text = "do not drop " * 10_000
    session = world.begin()
    for has_side_effects in (True, False):
        session.operation("call", text, has_side_effects=has_side_effects).run(world.does("made", 1))
    mail, model = Journal(open_session_folder(world.root, "s").path, str(session.branch)).operations()
    assert (mail.request.value(), mail.request.why) == (text, None)
    assert model.request.why == "120,005 bytes, of which the journal has one line"
    assert len(model.request.raw) < 200
    again = world.crash(session)
    for has_side_effects in (True, False):
        assert again.operation("call", text, has_side_effects=has_side_effects).run(world.does("again")) == 1
    assert world.done == ["made", "made"]
    again.end()
