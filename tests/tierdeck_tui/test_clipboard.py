from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tierdeck_tui.clipboard import write_copied


@pytest.mark.case("T14")
def test_what_was_copied_stands_in_a_private_file_until_the_next() -> None:
    first = write_copied("one")
    second = write_copied("two \x1b]52; 日本語 \ud800")
    assert first == second
    assert second is not None
    assert second.read_text("utf-8") == "two \x1b]52; 日本語 ?"
    assert stat.S_IMODE(second.stat().st_mode) == 0o600
    assert [file.name for file in second.parent.iterdir()] == [second.name]


def test_where_it_can_not_be_written_there_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    assert write_copied("one") is None
