"""What every test stands on: no setting, key, store or cache of the person who runs it, and real SQLite files."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, settings

from tests.family import FAMILY_SCHEMA, fill_family_store
from tierdeck.store import Store, open_store

# Whoever starts the tests in the background may have these ignored, and every child would inherit it.
for _number, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

# An example that took long says that the machine is busy, and is no failure.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

_OURS = ("RLM_", "TIERDECK_", "OPENAI_", "XDG_", "TEXTUAL")
_LONGEST_ID = 60


def pytest_make_parametrize_id(val: object) -> str | None:
    """A text of megabytes stands in its test's id by its length.

    Whole it went to the controller, into the environment and into every report: 70 MB of ids, 800 MB of memory.
    """
    if isinstance(val, (str, bytes)) and len(val) > _LONGEST_ID:
        return f"{ascii(val[:12])[:_LONGEST_ID]}... of {len(val)}"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait for a terminal come first: at the end one worker would wait for the last of them alone."""
    items.sort(key=lambda item: "e2e" not in item.path.parts)


def pytest_collection_finish() -> None:
    """What collecting made stays to the end: 300,000 objects that each full collection would walk, 0.3 s a time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tests' homes: `mktemp` reads all names beside it, of which there are thousands."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def isolated_environment(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with its own settings, cache and state folders, and none of the caller's variables."""
    home = Path(mkdtemp(dir=homes))
    # Without it each process that a test starts compiles the packages again, 0.5 s for the console.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    for name in list(os.environ):
        if name.startswith(_OURS) or name in {"NO_COLOR", "COLORTERM", "EDITOR", "VISUAL"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("TZ", "UTC")
    return home


@pytest.fixture(scope="session")
def empty_store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store of our own, closed, to be copied: to make one takes ten waits for the disk, 50 ms."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    with open_store(path, create=True):
        return path


@pytest.fixture
def store(tmp_path: Path, empty_store_file: Path) -> Iterator[Store]:
    """An empty store of our own, open for writing."""
    folder = tmp_path / "own"
    folder.mkdir()
    with open_store(Path(shutil.copy(empty_store_file, folder / "memory.db"))) as opened:
        yield opened


@pytest.fixture
def family_store_path(tmp_path: Path) -> Path:
    """A small store as the family's program leaves it: its schema, its triggers, WAL mode, closed."""
    folder = tmp_path / "family"
    folder.mkdir()
    path = folder / "rlm-memory.db"
    conn = sqlite3.connect(path)
    try:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.executescript(FAMILY_SCHEMA)
        fill_family_store(conn)
        conn.commit()
    finally:
        conn.close()
    return path
