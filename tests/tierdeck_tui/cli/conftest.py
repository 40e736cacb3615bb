"""The real command line in this process: real stores, real settings, stdout and stderr apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tierdeck.model import NodeDraft
from tierdeck.store import add_nodes, open_store
from tierdeck_tui.cli import cli

Command = Callable[..., Result]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where a test's store is, or will be."""
    return tmp_path / "memory.db"


@pytest.fixture
def run(db: Path) -> Command:
    """Run `tierdeck --db <db> ARGS`; an unforeseen error in it fails the test unless `may_fail`."""

    def invoke(*args: str, stdin: str | bytes = "", may_fail: bool = False) -> Result:
        result = CliRunner().invoke(cli, ["--db", str(db), *args], input=stdin, prog_name="tierdeck")
        assert may_fail or result.exit_code != 1, result.stderr
        return result

    return invoke


@pytest.fixture
def filled(db: Path) -> list[str]:
    """A store of four memories; their ids, in the order written here."""
    drafts = [
        NodeDraft("deploys use blue green switching", id="aaaa1111-0000-4000-8000-000000000001"),
        NodeDraft("the deploy key is rotated each spring", id="aaaa2222-0000-4000-8000-000000000002"),
        NodeDraft("redis holds the sessions", id="bbbb3333-0000-4000-8000-000000000003"),
        NodeDraft("user dislikes `rm -rf`", id="cccc4444-0000-4000-8000-000000000004"),
    ]
    with open_store(db, create=True) as store:
        return add_nodes(store, drafts)
