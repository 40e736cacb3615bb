"""import and export: what comes in, what is only said, what a round trip keeps, how a damaged store is saved."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tierdeck_tui.cli.conftest import Command
from tests.tierdeck_tui.cli.terminal import command_line, in_terminal, piped
from tierdeck_tui.cli import cli


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Plain records as a collection has them; the third line is broken."""
    folder = tmp_path / "wiki"
    folder.mkdir()
    file = folder / "docs.jsonl"
    file.write_text(
        '{"id": "1", "text": "redis holds the sessions"}\n'
        '{"id": "2", "text": "deploys use blue green", "type": "decision"}\n'
        '{"id": "3", "text": \n'
        '{"id": "4", "text": "evil \\u001b]0;pwned\\u0007 [/x]"}\n'
    )
    return file


def test_records_come_in_and_the_broken_line_is_named(run: Command, plain: Path) -> None:
    result = run("import", str(plain), "--tier", "longterm")
    assert result.exit_code == 10
    assert result.stdout == "added 3 of 4 from wiki/docs.jsonl\n"
    assert "skipped 1" in result.stderr
    assert "line 3" in result.stderr
    assert len(run("search", "--tier", "longterm", "--ids").stdout.split()) == 3
    again = run("import", str(plain), "--json")
    report = json.loads(again.stdout)["import"]
    assert (report["added"], report["unchanged"], report["skipped_count"]) == (0, 3, 1)


def test_a_dry_run_says_the_same_and_writes_nothing(run: Command, db: Path, plain: Path) -> None:
    result = run("import", str(plain), "--dry-run", "--json")
    document = json.loads(result.stdout)
    assert document["is_dry_run"] is True
    assert document["import"]["added"] == 3
    assert not db.exists()
    run("add", "here before")
    run("import", str(plain), "--dry-run")
    assert len(run("search", "--ids").stdout.split()) == 1


def test_records_come_from_stdin_under_the_name_given(run: Command) -> None:
    result = run("import", "-", "--source", "pipe", stdin='{"id": "a", "text": "x"}\n')
    assert (result.exit_code, result.stdout) == (0, "added 1 of 1 from pipe\n")


def test_a_file_that_is_not_there_makes_no_store(run: Command, db: Path) -> None:
    result = run("import", "/nonexistent.jsonl")
    assert result.exit_code == 9
    assert not db.exists()


def test_another_store_comes_in_and_stays_as_it_was(run: Command, family_store_path: Path) -> None:
    before = sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir())
    preview = json.loads(run("import", str(family_store_path), "--dry-run", "--json").stdout)["import"]
    report = json.loads(run("import", str(family_store_path), "--json").stdout)["import"]
    assert report["added"] == preview["added"] > 0
    assert sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir()) == before


def test_an_export_comes_back_without_loss(run: Command, filled: list[str], tmp_path: Path) -> None:
    run("relate", filled[0], filled[1], "--label", "same")
    run("edit", filled[0], "--confidence", "0.9", "--meta", "src=é\u202e")
    out = tmp_path / "all.jsonl"
    assert run("export", "--out", str(out)).stdout == f"{out}\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    other = tmp_path / "other.db"
    done = CliRunner().invoke(cli, ["--db", str(other), "import", str(out)])
    assert done.exit_code == 0
    back = tmp_path / "back.jsonl"
    CliRunner().invoke(cli, ["--db", str(other), "export", "--out", str(back)])
    assert back.read_bytes() == out.read_bytes()


def test_an_export_counts_what_it_wrote_in_the_operators_words(
    run: Command, filled: list[str], tmp_path: Path
) -> None:
    run("relate", filled[0], filled[1])
    said = run("export", "--out", str(tmp_path / "all.jsonl")).stderr
    assert f"exported {len(filled)} memories, 1 relation, 2 ends of relations, " in said


def test_an_export_to_stdout_is_the_rows_alone(db: Path, filled: list[str], tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    piped(db, "export", "--out", str(out))
    done = piped(db, "export")
    assert done.returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()][1:] == [
        json.loads(line) for line in out.read_bytes().splitlines()
    ][1:]


def test_an_export_overwrites_only_when_told(run: Command, filled: list[str], tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    out.write_text("mine")
    assert run("export", "--out", str(out)).exit_code == 2
    assert out.read_text() == "mine"
    assert run("export", "--out", str(out), "--force").exit_code == 0


def test_rows_are_not_poured_into_a_terminal(db: Path, filled: list[str]) -> None:
    ended = in_terminal(db, "export")
    assert ended.exit_code == 2
    assert "--out" in ended.shown


def test_json_of_an_export_is_its_report_and_needs_a_file(run: Command, filled: list[str], tmp_path: Path) -> None:
    assert run("export", "--json").exit_code == 2
    report = json.loads(run("export", "--out", str(tmp_path / "x"), "--json").stdout)["export"]
    assert report["rows"]["node"] == 4


@pytest.mark.case("D08")
def test_what_can_be_read_of_a_damaged_store_is_saved(
    run: Command, db: Path, filled: list[str], tmp_path: Path
) -> None:
    run("backup")
    data = bytearray(db.read_bytes())
    at = data.index(b"redis holds the sessions")
    page = at // 4096 * 4096
    data[page : page + 4096] = b"\xa5" * 4096
    db.write_bytes(data)
    out = tmp_path / "saved.jsonl"
    result = run("export", "--salvage", "--out", str(out))
    assert result.exit_code in (0, 10)
    assert "saved" in result.stderr
    assert len(out.read_text("utf-8").splitlines()) > 1


def test_a_reader_that_leaves_ends_an_export_quietly(db: Path, plain: Path) -> None:
    piped(
        db,
        "import",
        "-",
        stdin=b"".join(b'{"id": "%d", "text": "%s"}\n' % (n, b"word " * 90) for n in range(2_000)),
    )
    process = subprocess.Popen(command_line(db, "export"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


@pytest.mark.case("U05")
def test_what_an_import_says_is_safe(run: Command, tmp_path: Path) -> None:
    file = tmp_path / "\x1b]0;pwned\x07.jsonl"
    file.write_text('{"id": "\\u001b]52;c;x\\u0007", "text": ""}\n{"\\u001b[2J": 1}\n')
    result = run("import", str(file))
    assert "\x1b" not in result.stdout + result.stderr
