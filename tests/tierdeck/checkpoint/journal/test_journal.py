"""The journal of a branch: what of it is there after a crash, a cut, damage, and a full disk."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Lock

import pytest

from tierdeck.checkpoint.journal import (
    BranchLine,
    Decision,
    Entry,
    Journal,
    TurnLine,
    call_digest,
    journal_path,
    journalled_branches,
    op_id,
    store_value,
)
from tierdeck.checkpoint.kinds.records import Unsaved
from tierdeck.errors import (
    CheckpointError,
    DamagedCheckpointError,
    InvalidValueError,
    NewerCheckpointError,
    NotFoundError,
)

BRANCH = "0123abcd"


def entry(number: int = 1, *, turn: int = 1, request: object = "a letter") -> Entry:
    digest = call_digest("mail", request)
    key = op_id("s", BRANCH, turn, 0, number, digest)
    return Entry(key, "mail", "pending", turn, True, digest, BRANCH, store_value(request))


def journal(folder: Path) -> Journal:
    return Journal(folder, BRANCH, line=BranchLine("s", BRANCH), clock_ns=lambda: 7)


def states(folder: Path) -> list[str]:
    return [each.state for each in Journal(folder, BRANCH).operations()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "session"
    path.mkdir()
    return path


@pytest.mark.spec("SPEC-09.23")
def test_a_call_is_on_disk_as_begun_before_it_is_made_and_with_its_result_after(folder: Path) -> None:
    mine, call = journal(folder), entry()
    mine.start(call)
    assert states(folder) == ["running"], "what a crash here would leave"
    mine.finish(call.op_id, "done", store_value({"id": Fraction(1, 3)}))
    [read] = Journal(folder, BRANCH).operations()
    assert read.result is not None
    assert (read.state, read.starts, read.request.value()) == ("done", 1, "a letter")
    assert read.result.value() == {"id": Fraction(1, 3)}
    assert read.operation().op_id == call.op_id


def test_planned_calls_are_pending_until_they_begin(folder: Path) -> None:
    mine = journal(folder)
    mine.plan([entry(1), entry(2)])
    mine.start(entry(2))
    mine.start(entry(2))
    assert [(each.state, each.starts) for each in Journal(folder, BRANCH).operations()] == [
        ("pending", 0),
        ("running", 2),
    ]


def test_looking_at_a_journal_that_is_not_there_makes_none(folder: Path) -> None:
    assert Journal(folder, BRANCH).operations() == ()
    assert journalled_branches(folder) == []
    assert list(folder.iterdir()) == []


@pytest.mark.case("K27")
def test_a_record_cut_off_anywhere_is_dropped_and_said_and_the_journal_goes_on(folder: Path) -> None:
    mine, first, second = journal(folder), entry(1), entry(2)
    mine.start(first)
    mine.finish(first.op_id, "done", store_value("sent"))
    kept = journal_path(folder, BRANCH).stat().st_size
    mine.start(second)
    mine.close()
    whole = journal_path(folder, BRANCH).read_bytes()
    for end in range(kept + 1, len(whole)):
        journal_path(folder, BRANCH).write_bytes(whole[:end])
        cut = journal(folder)
        assert [each.state for each in cut.operations()] == ["done"]
        assert "cut off at the end was dropped" in cut.notes[0]
        assert not cut.is_damaged, "a call whose start is not on disk was not made"
        cut.start(second)
        cut.close()
        again = Journal(folder, BRANCH)
        assert ([each.state for each in again.operations()], again.notes) == (["done", "running"], ())


def test_a_file_cut_in_its_header_is_begun_anew(folder: Path) -> None:
    journal(folder).start(entry())
    whole = journal_path(folder, BRANCH).read_bytes()
    for end in range(20):
        journal_path(folder, BRANCH).write_bytes(whole[:end])
        mine = journal(folder)
        mine.start(entry())
        mine.close()
        assert states(folder) == ["running"]


def test_damage_before_the_end_is_said_and_what_lies_behind_it_is_read(folder: Path) -> None:
    mine, calls = journal(folder), [entry(number) for number in range(4)]
    for call in calls:
        mine.start(call)
    mine.close()
    data = bytearray(journal_path(folder, BRANCH).read_bytes())
    for at in range(len(data) // 2, len(data) // 2 + 3):  # a mark, a length or a text: whatever lies there
        data[at] ^= 0xFF
    journal_path(folder, BRANCH).write_bytes(data)
    found = Journal(folder, BRANCH)
    assert len(found.operations()) in (2, 3)
    assert found.operations()[-1].op_id == calls[-1].op_id
    assert found.is_damaged
    assert "in the middle are damaged" in found.notes[0]


def test_every_single_flipped_byte_is_noticed_or_changes_nothing(folder: Path) -> None:
    mine = journal(folder)
    mine.start(entry())
    mine.finish(entry().op_id, "done", store_value("sent"))
    mine.end_turn(TurnLine(1, 0.5, 0.5, 10, 10, 0))
    mine.close()
    whole = journal_path(folder, BRANCH).read_bytes()
    right = Journal(folder, BRANCH).operations()
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 0x10
        journal_path(folder, BRANCH).write_bytes(data)
        try:
            found = Journal(folder, BRANCH)
        except CheckpointError:
            continue
        assert found.operations() == right or (at > 20 and found.notes), f"byte {at}"


def test_a_text_of_the_agents_is_never_taken_for_a_record(folder: Path) -> None:
    journal(folder).start(entry())
    forged = journal_path(folder, BRANCH).read_bytes()
    other = folder / "other"
    other.mkdir()
    mine = journal(other)
    mine.start(entry(2, request=forged * 3))
    mine.close()
    data = bytearray(journal_path(other, BRANCH).read_bytes())
    data[-1] ^= 1  # the record that holds the text is damaged: a reader looks for the next one in it
    journal_path(other, BRANCH).write_bytes(data)
    assert Journal(other, BRANCH).operations() == ()


def test_a_file_full_of_marks_that_claim_much_is_read_quickly(folder: Path) -> None:
    journal(folder).start(entry())
    header = journal_path(folder, BRANCH).read_bytes()[:20]
    hostile = (header[12:16] + (900_000).to_bytes(4, "little") + b"\0\0\0\0") * 100_000
    journal_path(folder, BRANCH).write_bytes(header + hostile)
    # Without a bound this is 10^11 bytes of checksums.
    assert Journal(folder, BRANCH).operations() == ()


def test_what_is_no_journal_or_a_newer_one_is_refused_and_left_as_it_was(folder: Path) -> None:
    path = journal_path(folder, BRANCH)
    path.write_bytes(b"SQLite format 3\0" * 4)
    with pytest.raises(DamagedCheckpointError, match="it is no journal") as refused:
        Journal(folder, BRANCH)
    assert "move it away" in str(refused.value.hint)
    path.unlink()
    journal(folder).start(entry())
    newer = bytearray(path.read_bytes())
    newer[8] = 9
    path.write_bytes(newer)
    with pytest.raises(NewerCheckpointError, match=r"newer version \(9\.0\); this one reads up to 1\.x"):
        journal(folder).start(entry())
    assert path.read_bytes() == newer
    path.unlink()
    target = folder / "elsewhere"
    target.write_bytes(b"")
    path.symlink_to(target)
    with pytest.raises(CheckpointError):
        journal(folder).start(entry())
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(CheckpointError, match="no ordinary file"):
        Journal(folder, BRANCH)
    assert target.read_bytes() == b""
    with pytest.raises(InvalidValueError, match="is no branch"):
        journal_path(folder, "../../../x")


def test_a_journal_whose_file_was_taken_away_says_so_at_the_next_record(folder: Path) -> None:
    mine = journal(folder)
    mine.start(entry(1))
    journal_path(folder, BRANCH).unlink()
    with pytest.raises(CheckpointError, match="the file is gone"):
        mine.start(entry(2))
    assert [each.state for each in mine.operations()] == ["running"]


def test_a_disk_that_takes_no_more_leaves_the_records_before(folder: Path) -> None:
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.tierdeck.checkpoint.journal.test_journal import entry, journal\n"
        "from tierdeck.errors import CheckpointError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "mine = journal(Path(sys.argv[1]))\n"
        "mine.start(entry(1))\n"
        "size = mine.path.stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, size + 50))\n"
        "try:\n    mine.start(entry(2))\n"
        "except CheckpointError as e:\n    print(e.message)\n"
        "print(mine.path.stat().st_size == size)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    said, is_cut_back = done.stdout.splitlines()
    assert said.endswith("File too large")
    assert is_cut_back == "True"
    assert (states(folder), Journal(folder, BRANCH).notes) == (["running"], ())


def test_a_result_that_can_not_be_kept_whole_says_what_is_missing() -> None:
    stored = store_value({"a": [Lock()], "b": 1})
    assert stored.why is not None
    assert ".a[0]" in stored.why
    value = stored.value()
    assert isinstance(value, dict)
    assert isinstance(value["a"][0], Unsaved)
    exact = store_value([1, (2, 3), {4}, 2**80, None])
    assert (exact.why, exact.value()) == (None, [1, (2, 3), {4}, 2**80, None])
    value = store_value(math.nan).value()
    assert isinstance(value, float)
    assert math.isnan(value)


def test_the_same_call_has_the_same_id_in_every_process_and_no_other_call_has_it() -> None:
    request = {"to": {"b", "a", "c"}, "text": "x"}
    code = (
        "from tierdeck.checkpoint.journal import call_digest, op_id\n"
        "d = call_digest('mail', {'to': {'b', 'a', 'c'}, 'text': 'x'})\nprint(op_id('s', '0123abcd', 1, 2, 3, d))"
    )
    ids = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    digest = call_digest("mail", request)
    assert ids == {op_id("s", BRANCH, 1, 2, 3, digest)}
    others = [
        op_id("t", BRANCH, 1, 2, 3, digest),
        op_id("s", "0123abce", 1, 2, 3, digest),
        op_id("s", BRANCH, 2, 2, 3, digest),
        op_id("s", BRANCH, 1, 3, 3, digest),
        op_id("s", BRANCH, 1, 2, 4, digest),
        op_id("s", BRANCH, 1, 2, 3, call_digest("mail ", request)),
        op_id("s", BRANCH, 1, 2, 3, call_digest("mail", {**request, "text": "y"})),
        op_id("s", BRANCH, 1, 2, 3, call_digest("mail", [request])),
    ]
    assert len({*ids, *others}) == 9


def test_decisions_turns_and_calls_of_other_branches_are_read_again(folder: Path) -> None:
    mine = journal(folder)
    mine.begin([], [replace(entry(9), state="done", branch="ffffffff", result=store_value("sent"))])
    mine.start(entry(1))
    mine.decide(entry(1).op_id, Decision("done", store_value("it arrived"), "ann"))
    mine.decide(entry(9).op_id, Decision("skip"))
    mine.end_turn(TurnLine(1, 0.5, 0.75, 10, None, 0))
    read = Journal(folder, BRANCH)
    [own], [before] = read.operations(), read.before()
    assert own.decision is not None
    assert own.decision.value is not None
    assert (own.decision.choice, own.decision.value.value(), own.decision.by) == ("done", "it arrived", "ann")
    assert (before.branch, before.state, before.decision) == ("ffffffff", "done", Decision("skip"))
    assert read.last() == read.turn(1) == TurnLine(1, 0.5, 0.75, 10, None, 7)
    assert (read.last_turn, read.line) == (1, BranchLine("s", BRANCH))
    with pytest.raises(NotFoundError, match="the journal has none of that id"):
        mine.finish("0" * 32, "done")
    with pytest.raises(NotFoundError, match="the journal has none of that id"):
        mine.decide("0" * 32, Decision("skip"))
    mine.start(entry(1))
    assert Journal(folder, BRANCH).operations()[0].decision is None, "a decision is for one call"


def test_a_closed_journal_takes_nothing_more(folder: Path) -> None:
    mine = journal(folder)
    mine.start(entry())
    mine.close()
    with pytest.raises(CheckpointError, match="its session has left this branch, or has ended"):
        mine.finish(entry().op_id, "done", store_value("late"))
    assert states(folder) == ["running"]


@pytest.mark.parametrize("size", [0, 10, 25])
def test_a_journal_that_somebody_has_cut_is_not_written_behind_its_end(folder: Path, size: int) -> None:
    mine = journal(folder)
    mine.start(entry(1))
    os.truncate(journal_path(folder, BRANCH), size)
    with pytest.raises(CheckpointError, match=f"somebody has cut it to {size} of"):
        mine.start(entry(2))
    assert journal_path(folder, BRANCH).stat().st_size == size
    assert Journal(folder, BRANCH).operations() == ()
