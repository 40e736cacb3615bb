"""Promotion through an export: the log comes in whole or not at all, and what the rules see stays the same."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.family import family_id
from tests.tierdeck.transfer.test_round_trip import exported, imported
from tierdeck.config import EmbeddingSettings
from tierdeck.maintenance.adopt import adopt
from tierdeck.maintenance.doctor import examine
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote.agents.access import end_session, record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import entries, log_head
from tierdeck.promote.log.kept_head import kept_head
from tierdeck.promote.moves.holds import dismiss, holds
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.moves.undo import undo_move, undoable
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, add_nodes, get_node, open_store, tier_moves
from tierdeck.transfer.import_report import ImportReport
from tierdeck.transfer.jsonl_import import import_jsonl, preview_import
from tierdeck.transfer.promotion_intake import OWN_LOG
from tierdeck.transfer.salvage import salvage

DAY_MS = 86_400_000
BEGAN = 1_700_000_000_000
IDS = [f"0000000{n}-0000-4000-8000-00000000000{n}" for n in range(8)]


def live(store: Store, ids: list[str]) -> None:
    """Weeks of use: pulls in several sessions, moves by the rules and by hand, some taken back, a hold, a no."""
    for day in range(6):
        store.clock = partial(int, BEGAN + day * DAY_MS)
        session = meet_session(store, f"day-{day}").id
        record_accesses(store, session, ids[: 6 - day], AccessKind.PULL)
        record_accesses(store, session, ids[: 6 - day], AccessKind.PULL)
        end_session(store, session, outcome="success")
        if day == 2:
            override_tier(store, ids[1:3], Tier.ARCHIVE, actor="mara", reason="out of date")
            override_tier(store, ids[3:4], Tier.LONGTERM, actor="mara", reason="needed", hold=False)
        if day == 3:
            undo_move(store, ids[1], actor="mara", reason="after all")
            undo_move(store, ids[0], actor="ole")
    override_tier(store, ids[6:7], Tier.ARCHIVE, actor="mara", reason="done", hold=False)
    record_accesses(store, meet_session(store, "last").id, ids[6:7], AccessKind.PULL)
    dismiss(store, ids[6:7], actor="mara", rules=Rules())


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Store]:
    """A store of our own with weeks of use."""
    with open_store(tmp_path / "lived.db", create=True, clock=lambda: BEGAN) as store:
        add_nodes(store, [NodeDraft(f"memory {node_id}", id=node_id, confidence=0.9) for node_id in IDS])
        live(store, IDS)
        yield store


def fresh(path: Path) -> Store:
    return open_store(path, create=True, clock=lambda: BEGAN)


def taken(store: Store, data: bytes, take: Callable[..., ImportReport] = import_jsonl) -> ImportReport:
    return take(store, io.BytesIO(data))


def lines_of(data: bytes, kind: str) -> list[dict[str, object]]:
    return [row for row in map(json.loads, data.splitlines()) if row["kind"] == kind]


def test_what_the_rules_see_the_log_and_every_way_back_come_through_a_file(lived: Store, tmp_path: Path) -> None:
    now = BEGAN + 90 * DAY_MS
    with fresh(tmp_path / "copy.db") as copy:
        report = taken(copy, exported(lived))
        assert (report.skipped, report.notes) == ((), ())
        assert exported(copy) == exported(lived)
        assert read_facts(copy, IDS, now) == read_facts(lived, IDS, now)
        assert verify_log(copy, head=log_head(lived)).problem is None
        assert entries(copy, LogFilter()) == entries(lived, LogFilter())
        assert (runs(copy), holds(copy, now_ms=now)) == (runs(lived), holds(lived, now_ms=now))
        for store in (copy, lived):
            store.clock = lambda: BEGAN + 50 * DAY_MS
            for node_id in IDS:
                while undoable(store, node_id) is not None:
                    undo_move(store, node_id, actor="other")
        assert [get_node(copy, node_id).tier for node_id in IDS] == [Tier.TASK] * len(IDS)
        assert read_facts(copy, IDS, now) == read_facts(lived, IDS, now)


def test_importing_twice_changes_nothing_and_counts_every_row_as_there(lived: Store, tmp_path: Path) -> None:
    data = exported(lived)
    with imported(tmp_path / "copy.db", data) as copy:
        for _ in range(2):
            again = taken(copy, data)
            assert (again.added, again.unchanged, again.skipped_count, again.notes) == (0, again.read, 0, ())
        assert exported(copy) == data


def test_an_import_that_was_stopped_in_the_log_goes_on_where_it_was(lived: Store, tmp_path: Path) -> None:
    data = exported(lived)
    log_lines = [line for line in data.splitlines(keepends=True) if b'"kind":"log"' in line]
    cut = data[: data.index(log_lines[4])]
    with fresh(tmp_path / "copy.db") as copy:
        assert taken(copy, cut).rows["log"] == 4
        assert verify_log(copy).problem is None
        promised = taken(copy, data, preview_import)
        report = taken(copy, data)
        assert promised == report
        assert report.rows["log"] == len(log_lines) - 4
        assert exported(copy) == data


def test_a_store_with_a_log_of_its_own_keeps_it_and_says_why_the_other_stayed_out(
    lived: Store, store: Store
) -> None:
    add_nodes(store, [NodeDraft("mine", id="mine")])
    override_tier(store, ["mine"], Tier.SESSION, actor="ole", reason="by hand")
    before = entries(store, LogFilter()), runs(store), holds(store, now_ms=0)
    data = exported(lived)
    report = taken(store, data)
    counts = {reason.reason: reason.count for reason in report.reasons}
    kinds = ("log", "run", "hold", "dismissal")
    assert counts == {OWN_LOG: sum(len(lines_of(data, kind)) for kind in kinds)}
    assert (entries(store, LogFilter()), runs(store), holds(store, now_ms=0)) == before
    assert verify_log(store).problem is None
    assert report.rows["access"] == len(lines_of(data, "access")), "pulls come in and count"
    assert examine(store, EmbeddingSettings(provider="off")).check("promotion-counts").state == "ok"
    assert taken(store, data).added == 0


def test_a_store_that_counted_accesses_of_its_own_takes_no_log_that_counts_others(
    lived: Store, store: Store
) -> None:
    [mine] = add_nodes(store, [NodeDraft("mine")])
    record_accesses(store, meet_session(store, "mine").id, [mine], AccessKind.PULL)
    report = taken(store, exported(lived))
    reasons = {reason.reason for reason in report.reasons}
    assert reasons == {"the accesses and moves that the promotion log counts have other numbers here"}
    assert entries(store, LogFilter()) == []
    assert len(tier_moves(store, IDS[0])) == len(tier_moves(lived, IDS[0])), "the family's own log comes in"


def test_counts_that_a_killed_import_left_undone_are_made_by_the_next_one(lived: Store, tmp_path: Path) -> None:
    data, now = exported(lived), BEGAN + 90 * DAY_MS
    with imported(tmp_path / "copy.db", data) as copy:
        copy.clock = lambda: now
        counted = read_facts(copy, IDS, now)
        with copy.writing() as conn:
            conn.execute("DELETE FROM td_use")
            conn.execute("DELETE FROM td_facts")
        assert read_facts(copy, IDS, now) != counted
        assert taken(copy, data).added == 0
        assert read_facts(copy, IDS, now) == counted


@pytest.mark.parametrize("change", ["removed", "inserted", "swapped"])
def test_a_log_whose_rows_do_not_follow_each_other_comes_in_up_to_there(
    lived: Store, tmp_path: Path, change: str
) -> None:
    lines = exported(lived).splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if b'"kind":"log"' in line]
    if change == "removed":
        del lines[at[3]]
    elif change == "inserted":
        lines.insert(at[3], lines[at[5]])
    else:
        lines[at[3]], lines[at[4]] = lines[at[4]], lines[at[3]]
    data = b"".join(lines)
    with fresh(tmp_path / "copy.db") as copy:
        report = taken(copy, data)
        assert report.rows["node"] == len(IDS)
        assert report.reasons[0].reason == "it does not follow the row before it"
        assert verify_log(copy).problem is None
        assert taken(copy, data).added == 0


def test_a_row_that_was_edited_on_the_way_is_named_by_the_check(lived: Store, tmp_path: Path) -> None:
    data = exported(lived).replace(b'"actor":"ole"', b'"actor":"eve"')
    with fresh(tmp_path / "copy.db") as copy:
        taken(copy, data)
        [bad] = [entry.id for entry in entries(copy, LogFilter(actor="eve"))][-1:]
        assert verify_log(copy).first_bad == bad


def test_rows_cut_off_the_end_show_by_the_head_in_the_files_header(lived: Store, tmp_path: Path) -> None:
    lines = exported(lived).splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if b'"kind":"log"' in line)
    count = len(entries(lived, LogFilter(), limit_rows=1_000))
    file = tmp_path / "cut.jsonl"
    file.write_bytes(b"".join(lines[:last] + lines[last + 1 :]))
    with fresh(tmp_path / "copy.db") as copy:
        notes = import_jsonl(copy, file).notes
        assert (
            notes[-1] == f"the file says that its promotion log has {count} rows; here it ends with row {count - 1}"
        )
        assert kept_head(file) == log_head(lived)
        check = verify_log(copy, head=kept_head(file))
        assert (check.first_bad, verify_log(copy).problem) == (count, None)


def test_an_adopted_stores_promotion_comes_into_one_of_ours_and_back(
    family_store_path: Path, tmp_path: Path
) -> None:
    adopt(family_store_path)
    ids = [family_id(n) for n in range(1, 8)]
    with open_store(family_store_path) as family:
        live(family, ids)
        data = exported(family)
        with imported(tmp_path / "own.db", data) as own:
            assert exported(own) == data
            assert verify_log(own, head=log_head(family)).problem is None
            undo_move(own, ids[2], actor="mara")
            more = exported(own)
        report = taken(family, more)
        assert report.rows == {"move": 1, "log": 1}
        assert [reason.reason for reason in report.reasons] == ["the hold is here with other facts"]
        assert get_node(family, ids[2]).tier is Tier.ARCHIVE, "an import moves nothing that is here"
        assert log_head(family) == lines_of(more, "header")[0]["promotion_log"]


def test_an_export_of_an_older_version_comes_in_and_its_sessions_count_as_seen(store: Store) -> None:
    access = {"kind": "access", "id": 1, "node_id": "n", "session_id": 1, "access_kind": "pull", "at": 7}
    rows = [
        {"kind": "header", "format": "tierdeck-export", "version": 1},
        {"kind": "session", "id": 1, "external_id": "s", "run": 1, "root_id": 1, "started_at": 5, "ended_at": 9},
        {"kind": "node", "id": "n", "type": "fact", "content": "x"},
        {**access, "outcome": None},
    ]
    report = taken(store, "\n".join(map(json.dumps, rows)).encode())
    assert report.added == 3
    assert store.read(lambda conn: conn.execute("SELECT seen_at FROM td_session").get) == 9
    assert read_facts(store, ["n"], 10)[0].sessions == 1


def test_of_a_damaged_log_what_can_be_read_is_saved_and_what_follows_comes_in(lived: Store, tmp_path: Path) -> None:
    for number in range(60):
        tier = Tier.TASK if number % 2 else Tier.SESSION
        override_tier(lived, IDS[7:], tier, actor="mara", reason=f"{number} " + "x" * 900, with_held=True)
    count = len(entries(lived, LogFilter(), limit_rows=1_000))
    lived.close()
    whole = lived.path.read_bytes()
    page = whole.index(b"sessionoverridemara40 ") // 4096 * 4096  # as the log's row has it
    lived.path.write_bytes(whole[:page] + b"\xa5" * 4096 + whole[page + 4096 :])
    report = salvage(lived.path, tmp_path / "saved.jsonl")
    assert 0 < report.rows["log"] < count
    assert any("td_promotion_log" in gap for gap in report.gaps)
    with fresh(tmp_path / "copy.db") as copy:
        import_jsonl(copy, tmp_path / "saved.jsonl")
        check = verify_log(copy)
        assert (check.problem, 0 < check.rows < count) == (None, True)
        assert {get_node(copy, node_id).id for node_id in IDS} == set(IDS)
        assert examine(copy, EmbeddingSettings(provider="off")).check("promotion-counts").state == "ok"
