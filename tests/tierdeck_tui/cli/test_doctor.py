"""doctor: what it finds and mends, and how it ends."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.tierdeck_tui.cli.conftest import Command


def test_a_sound_store_has_nothing_bad_and_nothing_changes(run: Command, db: Path, filled: list[str]) -> None:
    before = db.read_bytes()
    result = run("doctor")
    assert result.exit_code == 0
    assert "bad" not in {line.split()[0] for line in result.stdout.splitlines()}
    document = json.loads(run("doctor", "--json", "--thorough").stdout)
    assert document["state"] in ("ok", "warn")
    assert {"driver", "integrity", "schema", "search-index"} <= {c["name"] for c in document["health"]["checks"]}
    assert db.read_bytes() == before


@pytest.mark.case("D05")
def test_a_drifted_search_index_is_found_and_mended_after_a_backup(
    run: Command, db: Path, filled: list[str]
) -> None:
    conn = sqlite3.connect(db)
    conn.execute("DELETE FROM content_fts WHERE node_id = ?", (filled[2],))
    conn.commit()
    conn.close()
    found = run("doctor")
    assert found.exit_code == 10
    assert "tierdeck doctor --repair search-index" in found.stdout
    mended = run("doctor", "--repair", "search-index")
    assert mended.exit_code == 0
    assert "the backup is" in mended.stderr
    assert run("search", "redis", "--alpha", "0", "--ids").stdout.split() == [filled[2]]


@pytest.mark.case("D08")
def test_a_damaged_store_is_examined_and_told_apart_from_none(run: Command, db: Path, filled: list[str]) -> None:
    data = bytearray(db.read_bytes())
    data[100:4096] = b"\xa5" * 3996
    db.write_bytes(data)
    result = run("doctor")
    assert result.exit_code == 10
    assert "damaged" in result.stdout
    assert "export --salvage" in result.stdout
    db.unlink()
    assert run("doctor").exit_code == 3


def test_what_can_not_be_mended_is_refused(run: Command, filled: list[str]) -> None:
    assert run("doctor", "--repair", "everything").exit_code == 2
    assert run("doctor", "--repair", "schema", "--read-only").exit_code == 3


def test_a_foreign_store_is_examined_without_a_trace(family_store_path: Path) -> None:
    from tests.tierdeck_tui.cli.terminal import piped

    before = sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir())
    assert piped(family_store_path, "doctor").returncode in (0, 10)
    assert sorted((file.name, file.read_bytes()) for file in family_store_path.parent.iterdir()) == before


@pytest.mark.case("X01")
def test_a_secret_is_flagged_and_not_printed(run: Command) -> None:
    run("add", "export OPENAI_API_KEY=sk-test-0000abcdefgh1234")
    for args in (("doctor",), ("doctor", "--json", "--thorough")):
        result = run(*args)
        assert "secrets" in result.stdout
        assert "0000abcd" not in result.stdout
