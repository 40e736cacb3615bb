"""Sessions, branches, checkpoints, losses and requests as rows: their width, their order, and what is never cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tierdeck.checkpoint.sample import file_bytes, opened, sample
from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tierdeck.checkpoint import Head, Loss, Operation, pack_checkpoint
from tierdeck.checkpoint.checkpoint import OperationState
from tierdeck.checkpoint.folder import (
    Listed,
    RunState,
    SessionFolder,
    SessionInfo,
    VerifyResult,
    open_session_folder,
)
from tierdeck_tui.view.checkpoint.branch import session_lines
from tierdeck_tui.view.checkpoint.row import checkpoint_line, session_info_line
from tierdeck_tui.view.checkpoint.state import cost_words, tokens_words
from tierdeck_tui.view.checkpoint.summary import summary_lines
from tierdeck_tui.view.checkpoint.variables import loss_lines, losses_words, variable_line
from tierdeck_tui.view.checkpoint.verified import verified_line
from tierdeck_tui.view.line import text_of

NOW_MS = 1_700_000_060_000
FORBIDDEN = "\x1b\x07\x9b\x9d\u202e\u2066"


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    """An empty session's folder."""
    return open_session_folder(tmp_path, "s", create=True)


def save(folder: SessionFolder, **changes: object) -> Listed:
    """A checkpoint that was saved there, as the list has it."""
    folder.save(pack_checkpoint(sample(session_id="s", label=None, **changes)))
    return folder.listed()[-1]


def foreign(folder: SessionFolder, sequence: int, data: bytes = b"no checkpoint") -> None:
    (folder.path / f"{sequence:08d}-5-0011223{sequence}.rlmckpt").write_bytes(data)


@pytest.mark.parametrize("cells", [20, 60, 80, 120])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_rows_are_safe_and_exactly_as_wide_as_asked(folder: SessionFolder, cells: int, text: str) -> None:
    save(folder)
    foreign(folder, 2)
    rows = folder.listed()
    rows[0].set_label(text)
    info = SessionInfo(text, Path("/x"), 3, 5_000, None, "stopped", 2_000, problem=text)
    unit = replace(opened(file_bytes()).table().units[0], name=text, type_name=text, preview=text)
    for row in (
        *session_lines(rows, NOW_MS, cells),
        session_info_line(info, NOW_MS, cells),
        variable_line(unit, cells),
    ):
        assert cell_len(text_of(row)) == cells
        assert not any(char in text_of(row) for char in FORBIDDEN)


@pytest.mark.parametrize("cells", [46, 58, 78, 100, 120])
@pytest.mark.parametrize("run", ["running", "ended", "stopped", "unknown"])
@pytest.mark.parametrize("name", ["s-14", "a-session-with-a-name-that-goes-on-and-on-and-on-and-on-and-on"])
def test_a_session_says_at_any_width_how_its_run_stands_and_what_its_trash_takes(
    cells: int, run: RunState, name: str
) -> None:
    newest_ns = (NOW_MS - 7_200_000) * 1_000_000
    text = text_of(
        session_info_line(SessionInfo(name, Path("/x"), 12, 12_400_000, newest_ns, run, 3_100_000), NOW_MS, cells)
    )
    words = {"running": "running", "ended": "ended", "stopped": "stopped", "unknown": "not running"}[run]
    assert f"  {words}" in text
    assert "12.4 MB" in text
    assert "3.1 MB" in text
    assert "trash" in text
    assert cells < 58 or text.rstrip().endswith("2h")
    assert text.startswith(name[:7])
    if cells >= 100 and name == "s-14":
        assert "12.4 MB, 3.1 MB of it in the trash" in text
        assert ("stopped without an end" in text) == (run == "stopped")


def test_a_narrow_row_keeps_number_marks_and_label_and_cuts_the_state(folder: SessionFolder) -> None:
    made = save(folder, turn=35)
    folder.set_label(made.file, "keep")
    folder.set_pin(made.file, True)
    text = text_of(checkpoint_line(folder.listed()[0], NOW_MS, 90))
    assert text.strip().startswith("1  turn 35")
    assert text.rstrip().endswith("HEAD pinned “keep”")
    assert "…" in text


def test_a_row_says_what_is_lost_unfinished_and_degraded(folder: SessionFolder) -> None:
    states: tuple[OperationState, ...] = ("done", "running", "pending", "pending", "failed", "cancelled")
    operations = tuple(Operation(str(number), "tool", state) for number, state in enumerate(states))
    made = save(folder, pending_operations=operations, writer={"degraded": "JSON"})
    text = text_of(checkpoint_line(made, NOW_MS, 140))
    assert "not verified · 1 lost · 2 pending · 1 running · 1 failed · degraded" in text


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (None, "–"),
        (0.0, "$0.00"),
        (0.25, "$0.25"),
        (0.0004, "$0.0004"),
        (1234.5, "$1,234.50"),
        (1e308, "$1.0e+308"),
    ],
)
def test_an_unknown_cost_is_not_shown_as_nothing(cost: float | None, words: str) -> None:
    assert cost_words(cost) == words


def test_unknown_tokens_are_not_none_at_all() -> None:
    assert (tokens_words(None), tokens_words(0), tokens_words(1)) == ("tokens not counted", "0 tokens", "1 token")


def test_the_summary_tells_every_count_and_the_origin(folder: SessionFolder) -> None:
    head: Head = opened(file_bytes()).head
    text = "\n".join(text_of(row) for row in summary_lines(save(folder), head, 100))
    for said in ("15 variables · 1 lost", "2 messages · 2 events", "1 done · 1 running", "saved on purpose",
                 "older session, its checkpoint 0123456789abcdef", "deadbeef after ffeeddccbbaa9988",
                 "format     1.0"):  # fmt: skip
        assert said in text
    assert "\ud800" not in text


def test_losses_tell_path_type_and_reason_and_are_counted_by_kind() -> None:
    losses = [Loss("a", "a[0].sock", "socket.socket", "no type"), Loss("f", "f", "function", "as text", "inert")]
    assert [text_of(row) for row in loss_lines(losses, 80)] == [
        "a[0].sock  LOST  socket.socket  no type",
        "f  as text  function  as text",
    ]
    assert losses_words(losses) == "1 lost, 1 as text"
    assert losses_words([]) == "nothing is missing"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (VerifyResult("ok", None, 5), "ok "),
        (VerifyResult("ok", None, 5, is_deep=True), "all of it was decoded"),
        (VerifyResult("damaged", "read checkpoint x: its trailer does not fit", 5), "  its trailer does not fit"),
        (VerifyResult("newer", "written by 2.0", 5), "NEWER "),
        (VerifyResult("not verified", "it is keyed", 5), "NOT VERIFIED"),
        (VerifyResult("ok", None, 5, is_from_cache=True), "as found earlier"),
    ],
)
def test_what_verifying_found_is_one_line(result: VerifyResult, said: str) -> None:
    assert said in text_of(verified_line(Path("x"), result))
