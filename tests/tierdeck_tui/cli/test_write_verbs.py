"""add, edit, archive, restore, undo and relate: what they write, print, and refuse."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.terminal import in_terminal
from tierdeck.errors import NotFoundError
from tierdeck.model import Node
from tierdeck.store import edges_of, get_node, open_store, resolve_id


def stored(db: Path, node_id: str) -> Node:
    with open_store(db, read_only=True) as store:
        return get_node(store, resolve_id(store, node_id))


def test_add_makes_the_store_and_prints_the_new_id_alone(run: Command, db: Path) -> None:
    result = run("add", "redis holds the sessions", "--type", "decision", "--tag", "db", "--meta", "src=a=b")
    node = stored(db, result.stdout.strip())
    assert result.exit_code == 0
    assert result.stdout == f"{node.id}\n"
    assert (node.content, node.type.value, node.metadata) == (
        "redis holds the sessions",
        "decision",
        {"tags": ["db"], "src": "a=b"},
    )
    assert stat.S_IMODE(db.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"two\nlines\n", "two\nlines"),
        (b"no newline", "no newline"),
        ("日本 ⚙️\r\n".encode(), "日本 ⚙️"),
        (b" x\n\n", " x\n"),
    ],
)
def test_add_reads_stdin_without_its_last_newline(run: Command, db: Path, given: bytes, kept: str) -> None:
    assert stored(db, run("add", "-", stdin=given).stdout.strip()).content == kept


def test_add_reads_a_file(run: Command, db: Path, tmp_path: Path) -> None:
    source = tmp_path / "note.txt"
    source.write_text("from a file\n")
    assert stored(db, run("add", "--file", str(source)).stdout.strip()).content == "from a file"


@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        ((), b"", "no text was given"),
        (("",), b"", "blank"),
        (("-",), b"\xff\xfe", "byte 0 is not UTF-8"),
        (("x", "--file", "y"), b"", "give one of them"),
        (("--file", "/nonexistent/y"), b"", "No such file"),
        (("x", "--confidence", "nan"), b"", "confidence nan"),
        (("x", "--confidence", "1.5"), b"", "confidence 1.5"),
        (("x", "--meta", "novalue"), b"", "KEY=VALUE"),
        (("x", "--metadata", "[1]"), b"", "not a JSON object"),
        (("x", "--metadata", "{"), b"", "not JSON"),
        (("x", "--type", "idea"), b"", "--type"),
    ],
)
def test_add_refuses_and_writes_nothing(
    run: Command, db: Path, args: tuple[str, ...], stdin: bytes, said: str
) -> None:
    result = run("add", *args, stdin=stdin)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr + str(result.stderr.splitlines())
    if db.exists():
        assert json.loads(run("search", "--json").stdout)["store_rows"] == 0


@pytest.mark.parametrize(("char", "count"), [("x", 10_000_001), ("é", 5_000_001)])
def test_a_text_beyond_ten_megabytes_is_refused(run: Command, db: Path, char: str, count: int) -> None:
    result = run("add", "-", stdin=char * count)
    assert result.exit_code == 2
    assert "10,000,000" in result.stderr
    assert not db.exists()


def test_metadata_nested_beyond_reason_is_refused(run: Command) -> None:
    result = run("add", "x", "--metadata", "[" * 100_000)
    assert result.exit_code == 2
    assert "not JSON" in result.stderr


def test_a_text_of_exactly_ten_megabytes_and_its_newline_is_taken(run: Command, db: Path) -> None:
    result = run("add", "-", stdin=b"x" * 10_000_000 + b"\n")
    assert result.exit_code == 0
    assert len(stored(db, result.stdout.strip()).content) == 10_000_000


@pytest.mark.case("X01")
def test_add_of_a_key_says_so_and_does_not_repeat_it(run: Command) -> None:
    result = run("add", "export OPENAI_API_KEY=sk-test-0000abcdefgh1234", "--json")
    assert "looks as if it holds a secret" in result.stderr
    assert "0000abcd" not in result.stdout + result.stderr


@pytest.mark.spec("SPEC-09.06")
def test_no_embedding_marks_the_memory(run: Command, db: Path) -> None:
    node_id = run("add", "never sent", "--no-embedding").stdout.strip()
    with open_store(db) as store:
        marked = store.read(lambda conn: conn.execute("SELECT node_id FROM td_no_embedding").fetchall())
    assert marked == [(node_id,)]


@pytest.mark.case("X03")
def test_edit_changes_what_is_given_and_leaves_the_rest(run: Command, db: Path, filled: list[str]) -> None:
    run("edit", filled[0], "--meta", "a=1", "--tag", "x")
    result = run(
        "edit", "aaaa1", "--confidence", "0.9", "--tag", "y", "--untag", "x", "--unset", "a", "--reason", "r"
    )
    assert result.stdout.strip() == filled[0]
    node = stored(db, filled[0])
    assert (node.content, node.confidence, node.metadata) == (
        "deploys use blue green switching",
        0.9,
        {"tags": ["y"]},
    )


def test_edit_reads_the_new_text_from_stdin(run: Command, db: Path, filled: list[str]) -> None:
    run("edit", filled[0], "--content", "-", stdin="new text\n")
    assert stored(db, filled[0]).content == "new text"


def test_an_edit_that_differs_in_nothing_writes_nothing(run: Command, db: Path, filled: list[str]) -> None:
    before = stored(db, filled[0])
    result = run("edit", filled[0], "--content", before.content, "--json")
    assert json.loads(result.stdout)["changed"] is False
    assert stored(db, filled[0]) == before


def test_edit_without_a_terminal_and_without_a_change_is_refused(run: Command, filled: list[str]) -> None:
    result = run("edit", filled[0])
    assert result.exit_code == 2
    assert "--content" in result.stderr


def editor(folder: Path, body: str) -> dict[str, str]:
    """An editor that runs `body` with the file's path in `path`."""
    script = folder / "editor.py"
    script.write_text(f"import pathlib, sys, time, os\npath = pathlib.Path(sys.argv[1])\n{body}\n")
    return {"EDITOR": f"{sys.executable} {script}", "TERM": "xterm"}


def test_edit_opens_the_text_in_the_editor(db: Path, filled: list[str], tmp_path: Path) -> None:
    env = editor(
        tmp_path, "t = path.read_text(); path.write_text(t.replace('blue', 'red')); os.utime(path, (9e8, 9e8))"
    )
    ended = in_terminal(db, "edit", "aaaa1", env=env)
    assert ended.exit_code == 0
    assert stored(db, filled[0]).content == "deploys use red green switching"


@pytest.mark.case("D01")
def test_what_was_written_in_the_editor_is_kept_when_the_memory_changed_meanwhile(
    db: Path, filled: list[str], tmp_path: Path
) -> None:
    env = editor(
        tmp_path,
        "import sqlite3\n"
        f"conn = sqlite3.connect({str(db)!r})\n"
        "conn.execute(\"UPDATE nodes SET content = 'theirs' WHERE content LIKE 'deploys%'\"); conn.commit()\n"
        "path.write_text('mine'); os.utime(path, (9e8, 9e8))",
    )
    ended = in_terminal(db, "edit", "aaaa1", env=env)
    assert ended.exit_code == 5
    kept = Path(ended.shown.split("is kept in ")[1].split()[0])
    assert kept.read_text() == "mine"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.unlink()
    assert stored(db, filled[0]).content == "theirs"


@pytest.mark.case("X04")
@pytest.mark.spec("SPEC-02.23", "SPEC-03.21")
def test_archive_restore_and_undo_go_there_and_back(run: Command, db: Path, filled: list[str]) -> None:
    before = stored(db, filled[0])
    assert run("archive", filled[0], filled[1], "--reason", "old").stdout.split() == filled[:2]
    assert stored(db, filled[0]).tier.value == "archive"
    again = json.loads(run("archive", filled[0], "--json").stdout)
    assert again == {"archived": [], "unchanged": [filled[0]]}
    assert run("restore", filled[1]).stdout.split() == [filled[1]]
    assert stored(db, filled[1]).tier.value == "longterm"
    assert run("undo", filled[0]).stdout.split() == [filled[0]]
    assert stored(db, filled[0]) == before
    run("undo", filled[0], "--redo")
    assert stored(db, filled[0]).tier.value == "archive"


def test_ids_come_from_stdin(run: Command, db: Path, filled: list[str]) -> None:
    found = run("search", "deploy", "--alpha", "0", "--ids").stdout
    assert run("archive", "-", stdin=found).exit_code == 0
    assert {stored(db, node_id).tier.value for node_id in found.split()} == {"archive"}
    assert run("archive", "-", stdin="\n \n").exit_code == 2


def test_one_unknown_id_moves_none(run: Command, db: Path, filled: list[str]) -> None:
    result = run("archive", filled[0], "ffff")
    assert result.exit_code == 4
    assert stored(db, filled[0]).tier.value == "task"


@pytest.mark.case("X03")
@pytest.mark.parametrize("args", [("show",), ("archive",), ("restore",), ("edit", "--confidence", "1"), ("undo",)])
def test_a_short_id_that_fits_two_lists_both_and_does_nothing(
    run: Command, filled: list[str], args: tuple[str, ...]
) -> None:
    result = run(args[0], "aaaa", *args[1:], "--json")
    assert result.exit_code == 4
    assert result.stdout == ""
    for node_id in filled[:2]:
        assert f"  {node_id}\n" in result.stderr
    assert json.loads(result.stderr.splitlines()[-1])["error"]["matches"] == filled[:2]


def test_undo_without_a_change_is_refused(run: Command, filled: list[str]) -> None:
    assert run("undo", filled[0]).exit_code == 4


@pytest.mark.spec("SPEC-02.25")
def test_relate_ties_memories_in_the_roles_of_the_type(run: Command, db: Path, filled: list[str]) -> None:
    edge_id = run("relate", "aaaa1", "bbbb", "cccc:context", "--type", "causation", "--label", "so").stdout.strip()
    with open_store(db) as store:
        [edge] = edges_of(store, filled[2])
    assert edge.id == edge_id
    assert {(m.node_id, m.role) for m in edge.members} == {
        (filled[0], "cause"),
        (filled[2], "effect"),
        (filled[3], "context"),
    }


def test_a_relation_is_taken_out_only_when_sure(run: Command, db: Path, filled: list[str]) -> None:
    edge_id = run("relate", "aaaa1", "bbbb").stdout.strip()
    refused = run("relate", "--remove", edge_id)
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert in_terminal(db, "relate", "--remove", edge_id, answers=[("[y/N]", "\n")]).exit_code == 130
    with open_store(db) as store:
        assert len(edges_of(store, filled[0])) == 1
    assert in_terminal(db, "relate", "--remove", edge_id, answers=[("[y/N]", "y\n")]).exit_code == 0
    with open_store(db) as store:
        assert edges_of(store, filled[0]) == []


@pytest.mark.parametrize(
    ("args", "code"), [((), 2), (("aaaa1",), 2), (("aaaa1", "aaaa1"), 2), (("aaaa1", "ffff"), 4)]
)
def test_relate_refuses_too_few_or_unknown_memories(
    run: Command, filled: list[str], args: tuple[str, ...], code: int
) -> None:
    assert run("relate", *args).exit_code == code


@pytest.mark.parametrize(
    "args", [("add", "x"), ("edit", "aaaa1", "--content", "x"), ("archive", "aaaa1"), ("relate", "aaaa1", "bbbb")]
)
def test_read_only_refuses_every_write(run: Command, db: Path, filled: list[str], args: tuple[str, ...]) -> None:
    before = db.read_bytes()
    result = run(*args, "--read-only")
    assert result.exit_code == 3
    assert "reading" in result.stderr
    assert db.read_bytes() == before


def test_read_only_makes_no_store(run: Command, db: Path) -> None:
    assert run("add", "x", "--read-only").exit_code == 3
    assert not db.exists()


def test_an_unknown_id_is_not_found(run: Command, filled: list[str]) -> None:
    for args in (("show", "ffff"), ("undo", "ffff"), ("edit", "ffff", "--content", "x")):
        result = run(*args)
        assert result.exit_code == NotFoundError.exit_code
        assert result.stdout == ""
