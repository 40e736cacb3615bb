"""The Overview's cards as lines. Pure; the clock is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tierdeck.errors import TierdeckError
from tierdeck.model import NodeType, Tier
from tierdeck.promote.records import Run
from tierdeck.store import StoreKind
from tierdeck_tui.reading.checkpoint_facts import CheckpointFacts
from tierdeck_tui.reading.console import MeaningState
from tierdeck_tui.reading.overview_facts import OverviewFacts
from tierdeck_tui.view.card_line import CardLine, State
from tierdeck_tui.view.format import age, count, counted, percent, size
from tierdeck_tui.view.promotion.decision_lines import rule_words
from tierdeck_tui.view.promotion.run_line import moved_words

if TYPE_CHECKING:
    from tierdeck.embed.coverage import Coverage

_CHECK_STATES: dict[str, State] = {"ok": "good", "info": "plain", "warn": "warn", "bad": "bad"}
_KINDS = {
    StoreKind.OWN: "made by tierdeck",
    StoreKind.ADOPTED: "another program's, adopted",
    StoreKind.FOREIGN: "another program's",
}


def tier_lines(facts: OverviewFacts) -> list[CardLine]:
    """How many memories stand in each tier."""
    lines = [_share(tier.value, "tier", facts.counts.by_tier.get(tier, 0), facts) for tier in Tier]
    if facts.counts.unreadable:
        lines.append(CardLine("unreadable", f"{count(facts.counts.unreadable)}, shown as task", state="warn"))
    return lines


def type_lines(facts: OverviewFacts) -> list[CardLine]:
    """How many memories there are of each type."""
    return [_share(kind.value, "type", facts.counts.by_type.get(kind, 0), facts) for kind in NodeType]


def store_lines(facts: OverviewFacts, now_ms: int) -> list[CardLine]:
    """Where the store is, what it is, and when something happened in it."""
    lines = [
        CardLine("file", facts.shown_path),
        CardLine("kind", f"{_KINDS[facts.kind]}, {facts.access}"),
        CardLine("size", f"{size(facts.store_bytes)} + {size(facts.index_bytes)} index"),
        CardLine("relations", count(facts.counts.edges)),
        CardLine("newest", _ago(facts.created_at_ms, now_ms), query=""),
        CardLine("changed", _ago(facts.changed_at_ms, now_ms)),
        CardLine("used", _ago(facts.used_at_ms, now_ms)),
    ]
    if facts.sessions is not None:
        lines.append(CardLine("sessions", count(facts.sessions)))
    return lines


def promotion_lines(facts: OverviewFacts) -> list[CardLine]:
    """What waits for a person, by rule; then what nearly does, what is held, and whether the log is there."""
    found = facts.promotion
    if found is None:
        return [CardLine("no accesses are recorded here", state="muted")]
    most = max(found.candidates.values(), default=0)
    lines = [
        CardLine(
            _short_rule(rule), count(number), share=number / most if most else 0.0, tab="candidates", rule=rule
        )
        for rule, number in found.candidates.items()
    ]
    lines.append(CardLine("nearly", f"{count(sum(found.near.values()))} lack one thing", tab="near"))
    if found.held:
        lines.append(CardLine("held", count(found.held), tab="held"))
    if facts.moved_holds:
        moved = f"{count(facts.moved_holds)} by another program"
        lines.append(CardLine("held, yet moved", moved, state="warn", tab="held"))
    lines.append(CardLine("log", counted(found.log_rows, "row"), tab="log"))
    return lines


def _short_rule(rule: str) -> str:
    """Without the spaces round its arrow: at 80 columns a card's label has 17 cells."""
    return rule_words(rule).replace(" ", "")


def run_lines(facts: OverviewFacts, now_ms: int) -> list[CardLine]:
    """The latest sweep, then the latest runs of any kind, newest first."""
    found = facts.promotion
    if found is None:
        return [CardLine("no accesses are recorded here", state="muted")]
    if facts.last_sweep is None:
        lines = [
            CardLine("last sweep", "never; `tierdeck sweep` shows what it would do", state="muted", tab="runs")
        ]
    else:
        lines = [_run_line("last sweep", facts.last_sweep, now_ms)]
    others = [run for run in found.last_runs if facts.last_sweep is None or run.id != facts.last_sweep.id]
    return lines + [_run_line(f"#{run.id} {run.kind}", run, now_ms) for run in others]


def _run_line(label: str, run: Run, now_ms: int) -> CardLine:
    is_open = run.ended_at_ms is None
    end = ", not ended" if is_open else ""
    text = f"{_ago(run.at_ms, now_ms)}: {moved_words(run)}{end}"
    return CardLine(label, text, state="warn" if is_open else "plain", tab="runs")


def checkpoint_lines(facts: CheckpointFacts, now_ms: int) -> list[CardLine]:
    """The newest saved session and how many there are; then only what is wrong, or waits."""
    if not facts.sessions:
        return [CardLine("no session has saved itself here", state="muted", opens_checkpoints=True)]
    newest = facts.newest
    told: list[tuple[str, str, State]] = []
    if newest is not None and newest.newest_ns is not None:
        told.append(("newest", f"{_ago(newest.newest_ns // 1_000_000, now_ms)}: {newest.session_id}", "plain"))
    running = f", {count(facts.running)} running" if facts.running else ""
    told.append(("sessions", f"{count(facts.sessions)}{running} · {counted(facts.files, 'checkpoint')}", "plain"))
    rest: tuple[tuple[str, str, int, State], ...] = (
        ("unfinished", "operation", facts.unfinished, "warn"),
        ("damaged", "file", facts.damaged, "bad"),
        ("newer version", "file", facts.newer, "warn"),
        ("can't be read", "session", facts.problems, "bad"),
    )
    told += [(label, counted(number, noun), state) for label, noun, number, state in rest if number]
    return [CardLine(label, value, state=state, opens_checkpoints=True) for label, value, state in told]


def meaning_lines(meaning: MeaningState, found: Coverage | None) -> list[CardLine]:
    """Which model embeds, and how many memories have their vector."""
    states: dict[str, State] = {"ready": "good", "keyword only": "warn"}
    lines = [CardLine("state", meaning.word, state=states.get(meaning.word, "muted"))]
    if meaning.word == "keyword only":
        lines.append(CardLine("why", meaning.detail, state="warn"))
    if found is None:
        return [*lines, CardLine("vectors", "counting…", state="muted")]
    if found.current_model:
        lines += _model_lines(found, found.current_model)
    for name, number in found.by_model.items():
        if name != found.current_model and number:
            lines.append(CardLine(f"by {name}", f"{count(number)}, not compared", state="warn"))
    return lines


def error_lines(error: TierdeckError) -> list[CardLine]:
    """What stands in a card that could not be read."""
    hint = [CardLine(error.hint, state="muted")] if error.hint else []
    return [CardLine(error.message, state="bad"), *hint]


def _model_lines(found: Coverage, model: str) -> list[CardLine]:
    rest: tuple[tuple[str, str, int, State], ...] = (
        ("waiting", "", found.pending, "plain"),
        ("changed since", "", found.stale, "plain"),
        ("refused", "", found.failed, "bad"),
        ("left out", " (embedding off, no text, or held back as a secret)", found.off, "muted"),
    )
    return [
        CardLine("model", model),
        _vectors("embedded", found.embedded, found.total - found.off),
        *(CardLine(label, count(number) + why, state=state) for label, why, number, state in rest if number),
    ]


def health_lines(facts: OverviewFacts) -> list[CardLine]:
    """The cheap checks, each with its word; what the Store card says already is left out while it is well."""
    lines = []
    for check in facts.checks:
        is_well = check.state in ("ok", "info")
        if check.name != "file" or not is_well:
            text = (
                check.state
                if check.name == "index-file" and check.state == "ok"
                else f"{check.state}: {check.text}"
            )
            lines.append(CardLine(check.name, text, state=_CHECK_STATES[check.state]))
    return [*lines, CardLine("all checks", "tierdeck doctor", state="muted")]


def next_lines(
    facts: OverviewFacts, meaning: MeaningState, found: Coverage | None, *, is_remote: bool = False
) -> list[CardLine]:
    """What an operator may want to do now, the weightiest first; a remote model embeds only when asked."""
    lines = [
        CardLine(check.name, check.fix, state=_CHECK_STATES[check.state])
        for check in facts.checks
        if check.fix and check.state in ("warn", "bad")
    ]
    if facts.kind is StoreKind.FOREIGN:
        lines.append(CardLine("not adopted", "read-only; `tierdeck adopt` backs up, then adds our tables"))
    if not facts.counts.total:
        lines.append(CardLine("empty", "`tierdeck add TEXT` or `tierdeck import FILE`"))
    if facts.promotion is not None and facts.promotion.waiting:
        waiting = f"{counted(facts.promotion.waiting, 'candidate')} for a move; 2 lists them"
        lines.append(CardLine("waiting", waiting, tab="candidates"))
    if meaning.word == "keyword only" and meaning.hint:
        lines.append(CardLine("meaning", meaning.hint, state="warn"))
    elif found is not None and found.foreign_model_note:
        lines.append(CardLine("vectors", "`tierdeck embed` makes those of the other model anew"))
    elif found is not None and found.pending and is_remote:
        lines.append(
            CardLine("vectors", f"`tierdeck embed` makes {count(found.pending)}, and says first what it costs")
        )
    if found is not None and found.failed:
        lines.append(CardLine("refused", "`tierdeck embed` says why, and tries again", state="warn"))
    return lines or [CardLine("nothing waits", "/ searches", state="good")]


def _share(name: str, key: str, number: int, facts: OverviewFacts) -> CardLine:
    share = number / facts.counts.total if facts.counts.total else 0.0
    return CardLine(name, f"{count(number)} {percent(share):>4}", share=share, query=f"{key}:{name}")


def _vectors(label: str, number: int, total: int) -> CardLine:
    share = number / total if total else 0.0
    return CardLine(label, f"{count(number)} of {count(total)}", share=share)


def _ago(at_ms: int | None, now_ms: int) -> str:
    return "never" if at_ms is None else f"{age(at_ms, now_ms)} ago"
