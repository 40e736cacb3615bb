"""A head of the log that a backup or an export kept."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tierdeck.errors import InvalidValueError, NotAStoreError, StoreNotFoundError
from tierdeck.maintenance.backup import backup
from tierdeck.model import NodeDraft
from tierdeck.promote.log.entries import log_head
from tierdeck.promote.log.kept_head import kept_head
from tierdeck.promote.moves.holds import hold
from tierdeck.store import Store, add_node
from tierdeck.transfer.jsonl_export import export_jsonl

pytestmark = pytest.mark.spec("SPEC-09.14")


@pytest.fixture
def logged(store: Store) -> Store:
    """A store whose log has one row."""
    hold(store, [add_node(store, NodeDraft("kept")).id], actor="ops", reason="keep it here")
    return store


def test_a_backup_and_an_export_carry_the_head_of_their_moment(logged: Store, tmp_path: Path) -> None:
    head = log_head(logged)
    backup(logged, tmp_path / "kept.db")
    export_jsonl(logged, tmp_path / "kept.jsonl")
    hold(logged, [add_node(logged, NodeDraft("later")).id], actor="ops", reason="keep it here")
    assert head != log_head(logged)
    assert kept_head(tmp_path / "kept.db") == kept_head(tmp_path / "kept.jsonl") == head


def test_reading_it_leaves_the_folder_as_it_was(logged: Store, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    backup(logged, folder / "kept.db")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    kept_head(folder / "kept.db")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_store_with_an_empty_log_has_the_empty_head(store: Store, tmp_path: Path) -> None:
    backup(store, tmp_path / "kept.db")
    assert kept_head(tmp_path / "kept.db") == "0:"


def test_what_was_made_before_there_was_a_log_is_refused(tmp_path: Path, family_store_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    old.write_text(json.dumps({"kind": "header", "format": "tierdeck-export", "version": 1}) + "\n")
    for path in (old, family_store_path):
        with pytest.raises(InvalidValueError, match="keeps none"):
            kept_head(path)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n", id="blank"),
        pytest.param(b"not json\n", id="text"),
        pytest.param(b"[1]\n", id="list"),
        pytest.param(b'{"kind": "node"}\n', id="no-header"),
        pytest.param(b"\xff\xfe\n", id="not-utf-8"),
        pytest.param(b"[" * 99_999, id="nested"),
    ],
)
def test_any_other_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(NotAStoreError):
        kept_head(path)


def test_a_database_of_something_else_keeps_none(tmp_path: Path) -> None:
    conn = sqlite3.connect(tmp_path / "other.db")
    conn.execute("CREATE TABLE t (x)")
    conn.close()
    with pytest.raises(InvalidValueError, match="keeps none"):
        kept_head(tmp_path / "other.db")


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError):
        kept_head(tmp_path / "none")
    with pytest.raises(NotAStoreError):
        kept_head(tmp_path)
