from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck_tui.status import FrameStatus, line_cells

_FULL = FrameStatus(
    "memory.db",
    "ro: not adopted",
    1_234_567,
    degraded="keyword only: no embedding model",
    progress="embedding 10 of 20",
)


def _texts(status: FrameStatus, cells: int) -> list[str]:
    return [part.text for part in status.parts(cells)]


def test_with_room_everything_is_said() -> None:
    assert _texts(_FULL, 200) == [
        "memory.db",
        "1,234,567 memories",
        "ro: not adopted",
        "keyword only: no embedding model",
        "embedding 10 of 20",
    ]


def test_what_is_least_important_goes_first() -> None:
    assert _texts(_FULL, 82) == [
        "memory.db",
        "1,234,567 memories",
        "ro: not adopted",
        "keyword only: no embedding model",
    ]
    assert _texts(_FULL, 55) == ["memory.db", "1,234,567", "ro: not adopted", "keyword only"]
    assert _texts(_FULL, 40) == ["memory.db", "ro: not adopted", "keyword only"]
    assert _texts(_FULL, 36) == ["memo…", "ro: not adopted", "keyword only"]


def test_one_memory_is_one_memory() -> None:
    assert _texts(FrameStatus("a", "rw", 1), 80) == ["a", "1 memory", "rw"]


@pytest.mark.case("U05")
def test_a_hostile_file_name_is_made_visible() -> None:
    [name, _] = _texts(FrameStatus("\x1b]0;x\x07\u202e.db", "rw"), 80)
    assert name == "␛]0;x␇‹202E›.db"


@given(st.text(min_size=1), st.integers(0, 10**9), st.text(max_size=40), st.text(max_size=40), st.integers(1, 200))
def test_the_line_never_is_wider_than_it_may_be(
    name: str, memories: int, degraded: str, progress: str, cells: int
) -> None:
    status = FrameStatus(name, "ro: not adopted", memories, degraded=degraded, progress=progress)
    parts = status.parts(cells)
    assert line_cells(parts) <= cells
    assert parts[0].role in ("name", "access")
