"""Calls on the command line: listed with what is asked, decided about in a restore or as a session stands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tierdeck_tui.cli.checkpoint.conftest import SECRET, SESSION, Command
from tierdeck.checkpoint.folder import SessionFolder, open_session_folder
from tierdeck.checkpoint.running import questions_of
from tierdeck.errors import UndecidedOperationError
from tierdeck.session import Session, open_session
from tierdeck_tui.cli import cli


class Post:
    """Letters that really went out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sent: list[str] = []

    def open(self, session: str = "post") -> Session:
        return open_session(None, session, checkpoints=self.root, every=1)

    def send(self, session: Session, letter: str, *, is_cut: bool = False) -> object:
        def go() -> str:
            self.sent.append(letter)
            if is_cut:
                raise KeyboardInterrupt
            return f"receipt {letter}"

        return session.operation("letter", letter).run(go)


@pytest.fixture
def post(root: Path) -> Post:
    """A session that ended in its third turn: letters A and B are out after its first checkpoint, perhaps C."""
    post = Post(root)
    session = post.open()
    session.turn({})
    post.send(session, "A")
    session.turn({})
    post.send(session, "B")
    with pytest.raises(KeyboardInterrupt):
        post.send(session, f"C {SECRET}", is_cut=True)
    session.flush()
    session.__exit__(SystemExit, None, None)
    return post


def rows(run: Command, *args: str) -> list[dict[str, object]]:
    found = json.loads(run("operations", *args, "--json").stdout)["operations"]
    assert isinstance(found, list)
    return found


@pytest.mark.spec("SPEC-09.23")
def test_the_error_of_a_call_that_is_not_decided_about_names_the_command_that_decides(post: Post) -> None:
    with post.open() as session:
        session.resume()
        with pytest.raises(UndecidedOperationError) as raised:
            post.send(session, f"C {SECRET}")
    command = re.search(r"`tierdeck (.+? CHOICE .+?)`", raised.value.hint or "")
    assert command is not None
    words = shlex.split(command[1])
    assert raised.value.op_id in words
    assert (raised.value.hint or "").endswith("CHOICE is one of again, done, skip, abort")
    given = ["again" if word == "CHOICE" else word for word in words]
    result = CliRunner().invoke(cli, given, prog_name="tierdeck")
    assert (result.exit_code, result.stdout) == (0, f"{raised.value.op_id}\n")
    with post.open() as session:
        session.resume()
        assert post.send(session, f"C {SECRET}") == f"receipt C {SECRET}"


def id_of(found: Sequence[dict[str, object]], letter: str) -> str:
    return next(str(each["op_id"]) for each in found if str(each["request"]).startswith(letter))


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14", "K28")
def test_operations_of_a_session_lists_what_it_stands_before_and_of_a_checkpoint_what_was_made_since(
    run: Command, post: Post
) -> None:
    standing = rows(run, "post")
    assert [(each["state"], each["is_asked"]) for each in standing] == [("running", True)]
    assert [each["state"] for each in rows(run, "post", "--all")] == ["done", "done", "running"]
    since = rows(run, "post:1")
    assert [(each["state"], each["turn"], each["is_asked"]) for each in since] == [
        ("done", 2, True), ("done", 3, True), ("running", 3, True),
    ]  # fmt: skip
    text = run("operations", "post:1")
    assert "asks: it was done on branch" in text.stdout
    assert SECRET not in text.stdout + json.dumps(since)
    assert "3 calls, of which 3 are asked about" in text.stderr
    assert str(standing[0]["op_id"])[:8] in run("operations", "post").stdout


def test_a_journal_that_is_gone_is_said_where_calls_are_listed_and_before_a_restore(
    run: Command, post: Post, root: Path
) -> None:
    folder = open_session_folder(root, "post")
    checkpoint = str(folder.listed()[0].path)
    for journal in folder.path.glob("*.rlmjournal"):
        journal.unlink()
    said = "the journal is gone or cut off before the end of turn 1: calls made since are not known"
    listed = run("operations", checkpoint, "--json")
    assert json.loads(listed.stdout)["operations"] == []
    assert said in " ".join(listed.stderr.split())
    for mode in ("--fork", "--rewind"):
        plan = json.loads(run("restore", checkpoint, mode, "--dry-run", "--json").stdout)["plan"]
        assert [said in problem for problem in plan["problems"]] == [True]


def test_a_session_without_open_calls_has_an_empty_list(run: Command, session: SessionFolder) -> None:
    listed = run("operations", SESSION)
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "no call is open" in listed.stderr
    assert run("operations", "nobody").exit_code == 4
    assert run("operations", f"{SESSION}:1", "--all").exit_code == 2


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("K28", "K30")
@pytest.mark.parametrize("mode", ["--fork", "--rewind"])
def test_a_restore_with_choices_asks_no_more_than_what_was_left_open(run: Command, post: Post, mode: str) -> None:
    since = rows(run, "post:1")
    choices = (
        "--operation", f"{id_of(since, 'A')[:8]}=done",
        "--operation", f'{id_of(since, "B")}=done:{{"id": 7}}',
        "--operation", f"{id_of(since, 'C')}=again",
    )  # fmt: skip
    named = ("--as", "new") if mode == "--fork" else ()
    plan = run("restore", "post:1", mode, *choices, "--dry-run").stdout
    assert plan.count("decided by") == 3
    assert "asks" not in plan
    made = run("restore", "post:1", mode, *named, *choices, "--yes", "--json")
    assert made.exit_code == 0
    assert "left open" not in made.stderr
    forms = json.loads(made.stdout)["operations"]
    assert [each["decision"]["choice"] for each in forms] == ["done", "done", "run again"]
    assert forms[1]["decision"]["value"] == {"id": 7}
    with post.open("new" if mode == "--fork" else "post") as session:
        assert session.resume() is not None
        assert post.send(session, "A") == "receipt A"
        session.turn({})
        assert post.send(session, "B") == {"id": 7}
        assert str(post.send(session, f"C {SECRET}")).startswith("receipt C")
        session.turn({})
    assert [letter[0] for letter in post.sent] == ["A", "B", "C", "C"]


@pytest.mark.spec("SPEC-09.23")
def test_a_restore_without_choices_leaves_them_open_and_says_so(run: Command, post: Post, root: Path) -> None:
    made = run("restore", "post:1", "--as", "new", "--yes")
    assert "3 calls left open: the agent asks before it makes one of them again" in made.stderr
    assert len(questions_of(open_session_folder(root, "new"))) == 3


@pytest.mark.parametrize(
    ("choice", "code", "said"),
    [
        ("ffffffff=skip", 4, "none of that id can be decided about"),
        ("=skip", 2, "is no ID=CHOICE"),
        ("skip", 2, "is no ID=CHOICE"),
        ("{A}=perhaps", 2, "'perhaps' is no choice"),
        ("{A}=skip:1", 2, "is no choice"),
        ("{A}=done:{{", 2, "is no JSON"),
        ("{A}=done:NaN", 2, "NaN is not a finite number"),
        ("{A}=done:1e999", 2, "is not a finite number"),
        ("{A}=done:", 2, "is no JSON"),
    ],
)
def test_a_choice_that_is_none_is_refused_by_name_and_nothing_is_restored(
    run: Command, post: Post, root: Path, choice: str, code: int, said: str
) -> None:
    typed = choice.format(A=id_of(rows(run, "post:1"), "A"))
    refused = run("restore", "post:1", "--as", "new", "--yes", "--operation", typed)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert said in refused.stderr
    assert len(list(root.iterdir())) == 1


def test_a_call_can_t_be_decided_about_twice_and_a_short_id_that_fits_several_names_them(
    run: Command, post: Post
) -> None:
    since = rows(run, "post:1")
    one = id_of(since, "A")
    twice = run("restore", "post:1", "--yes", "--operation", f"{one}=skip", "--operation", f"{one[:9]}=again")
    assert (twice.exit_code, "decided about twice" in twice.stderr) == (2, True)
    with post.open("many") as session:
        session.plan(*(session.operation("letter", number) for number in range(40)))
        session.turn({})
    found = [str(each["op_id"]) for each in rows(run, "many")]
    begins = next(digit for digit in "0123456789abcdef" if sum(each.startswith(digit) for each in found) > 1)
    several = run("decide", "many", begins, "skip")
    assert several.exit_code == 4
    assert "ids begin so" in several.stderr


@pytest.mark.spec("SPEC-09.23")
@pytest.mark.case("C14")
def test_decide_is_about_the_session_as_it_stands_and_the_agent_keeps_to_it(run: Command, post: Post) -> None:
    [open_call] = rows(run, "post")
    decided = run("decide", "post", str(open_call["op_id"])[:6], 'done:"receipt by hand"')
    assert (decided.exit_code, decided.stdout) == (0, f"{open_call['op_id']}\n")
    [told] = rows(run, "post")
    assert (told["is_asked"], told["decision"]) == (
        False,
        {"choice": "done", "value": "receipt by hand", "by": told["decision"]["by"]},  # type: ignore[index]
    )
    assert "decided by" in run("operations", "post").stdout
    with post.open() as session:
        session.resume()
        assert post.send(session, "B") == "receipt B"
        assert post.send(session, f"C {SECRET}") == "receipt by hand"
        session.turn({})
    assert [letter[0] for letter in post.sent] == ["A", "B", "C"]


def test_decide_refuses_what_it_can_t_do(run: Command, post: Post) -> None:
    op_id = str(rows(run, "post")[0]["op_id"])
    assert run("decide", "post", "0" * 32, "skip").exit_code == 4
    assert run("decide", "post", op_id, "perhaps").exit_code == 2
    with post.open():
        live = run("decide", "post", op_id, "skip")
    assert (live.exit_code, live.stdout) == (5, "")
    assert "an agent runs session post" in live.stderr
    document = json.loads(run("decide", "post", op_id, "skip", "--json").stdout)
    assert document["operation"]["decision"]["choice"] == "skip"
