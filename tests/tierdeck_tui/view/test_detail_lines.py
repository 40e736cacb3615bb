from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.view.rows import DAY_MS, NOW_MS, answer, hit
from tierdeck.model import (
    Access,
    AccessKind,
    ConfidenceChange,
    Node,
    NodeType,
    Revision,
    SessionRow,
    Tier,
    TierMove,
)
from tierdeck.promote.outlook.why import Explanation
from tierdeck.promote.records import Hold, LogEntry
from tierdeck.promote.rules import Facts, Rules, decide
from tierdeck.store import AccessSummary
from tierdeck_tui.reading.memory_facts import MemoryFacts
from tierdeck_tui.view.detail_lines import detail_text
from tierdeck_tui.view.line import text_of


def facts(text: str = "the text", hostile: str = "") -> MemoryFacts:
    session = SessionRow(1, f"s-41{hostile}", 2, 1, None, f"shop{hostile}", "claude", NOW_MS, None, "success")
    looks = [Access("n", session, kind, None, NOW_MS - DAY_MS) for kind in (AccessKind.PULL, AccessKind.PUSH)]
    return MemoryFacts(
        node=Node(
            id="3f2a9c1e-0000-4000-8000-000000000001",
            type=NodeType.DECISION,
            content=text,
            tier=Tier.LONGTERM,
            confidence=0.9,
            subtype=hostile or None,
            provenance=f"file{hostile}",
            metadata={f"note{hostile}": [hostile, 1], "password": "c0rrect-h0rse-b4ttery"},
            access_count=3,
            created_at_ms=NOW_MS - 3 * DAY_MS,
            updated_at_ms=NOW_MS - DAY_MS,
            problems=(f"tier: 'x{hostile}' is not a tier",),
        ),
        summary=AccessSummary(pulls=1, pushes=1, roots=1, by_day=(("2027-01-14", 1),)),
        accesses=tuple(looks),
        related=(),
        moves=(TierMove(NOW_MS, f"promote{hostile}", "task", f"session{hostile}", f"used twice{hostile}"),),
        confidence=(ConfidenceChange(NOW_MS, 0.5, 0.9, f"outcome{hostile}", f"t{hostile}"),),
        revisions=(
            Revision(2, "n", NOW_MS, "undo", f"ann{hostile}", None, 1),
            Revision(1, "n", NOW_MS, "edit", "ann", f"typo{hostile}", None),
        ),
        explanation=explanation(hostile),
    )


def explanation(hostile: str) -> Explanation:
    found = Facts("n", f"longterm{hostile}" if hostile else "longterm", last_use_ms=NOW_MS - DAY_MS)
    moved = LogEntry(
        id=6,
        at_ms=NOW_MS,
        node_id="n",
        from_tier=f"session{hostile}",
        to_tier="longterm",
        kind="auto",
        rule="session-longterm",
        rule_version="1:2/3/1/0.8/90",
        criteria=(),
        actor="rules",
        reason=None,
        run_id=3,
        content_digest=None,
        undoes=None,
        evolution_id=None,
    )
    undone = replace(
        moved, id=7, kind="undo", from_tier="longterm", to_tier="session", rule=None, actor=f"ann{hostile}",
        reason=f"too early{hostile}", undoes=6, run_id=None,
    )  # fmt: skip
    return Explanation(
        facts=found,
        decision=decide(found, Rules(), NOW_MS),
        hold=Hold("n", f"longterm{hostile}", NOW_MS, None, f"ann{hostile}", f"who to ask{hostile}", 5, "session"),
        history=(undone, moved),
        accesses=AccessSummary(pulls=1, pushes=1, roots=1),
    )


def shown(found: MemoryFacts, cells: int = 70, **how: object) -> list[str]:
    return [text_of(line).rstrip() for line in detail_text(found, cells, NOW_MS, **how).lines]  # type: ignore[arg-type]


def test_every_section_stands_in_its_order() -> None:
    found = hit()
    lines = shown(facts(), hit=found, answer=answer(found))
    heads = [line.strip("─ ") for line in lines if line.startswith("── ")]
    assert heads == [
        "why it came up", "text · 8 characters", "metadata", "accesses", "what the rules say now",
        "tier history", "confidence", "changes",
    ]  # fmt: skip
    assert lines[0] == "decision · longterm · confidence 90%"


def test_each_section_start_is_its_heading() -> None:
    text = detail_text(facts(), 70, NOW_MS)
    assert len(text.section_starts) == 7
    assert all(text_of(text.lines[start]).startswith("── ") for start in text.section_starts)


def test_pulls_and_pushes_are_told_apart_and_by_session() -> None:
    lines = shown(facts())
    assert "1 pull in 1 session · 1 push · listed 0×" in lines
    assert "pulls recorded 1 / count incl. other programs 3" in lines
    assert " 24h  s-41 run 2  1 pull 1 push  shop · claude  success" in lines


def test_what_the_rules_say_and_who_holds_it_stand_in_the_same_words_as_elsewhere() -> None:
    text = "\n".join(shown(facts(), 200))
    assert "longterm → archive: is stale in 89 d 1 ms" in text
    assert "held in longterm since" in text
    assert "without end, by ann: who to ask (moved to session by another program)" in text


def test_a_store_without_access_records_has_no_word_of_the_rules() -> None:
    lines = shown(replace(facts(), explanation=None))
    assert not any("rules say" in line for line in lines)
    assert any(line.endswith("used twice") for line in lines)


def test_history_says_what_changed_and_what_was_taken_back() -> None:
    text = "\n".join(shown(facts(), 120))
    assert "task → session  promote, not by tierdeck's rules  used twice" in text
    assert "#7 took back #6: longterm → session  by ann · too early" in text
    assert "0.5 → 0.9 ▲ outcome  t" in text
    assert "#2 undo of #1 by ann" in text
    assert "#1 edit by ann: typo  taken back" in text


def test_what_could_not_be_read_is_said() -> None:
    assert "unreadable tier: 'x' is not a tier" in shown(facts())


@pytest.mark.case("X01")
def test_a_password_in_the_metadata_is_masked_by_its_name() -> None:
    assert "h0rse" not in "\n".join(shown(facts()))
    assert "password: c0rrect-h0rse-b4ttery" in shown(facts(), reveal=True)


@pytest.mark.case("U01", "U05", "T01", "T05")
@pytest.mark.parametrize("hostile", HOSTILE_TEXTS)
@pytest.mark.parametrize("cells", [12, 58])
def test_nothing_in_it_drives_the_terminal_or_is_too_wide(hostile: str, cells: int) -> None:
    found = hit()
    degraded = answer(found, degraded=hostile, model=hostile)
    for line in shown(facts(hostile, hostile), cells, hit=found, answer=degraded):
        assert cell_len(line) <= cells
        assert all(c >= " " and not "\x7f" <= c <= "\x9f" for c in line)


def test_a_memory_without_sessions_says_what_its_counter_says() -> None:
    bare = MemoryFacts(
        Node(id="n", type=NodeType.FACT, content="x", access_count=7), AccessSummary(), (), (), (), (), ()
    )
    assert "used 7×, by sessions that were not recorded" in shown(bare)
    assert "not used yet" in shown(replace(bare, node=replace(bare.node, access_count=0)))
