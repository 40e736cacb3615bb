"""The detail pane's document: head, why, text, and what is known about a memory, section by section. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tierdeck.model import Node
from tierdeck.promote.records import Hold
from tierdeck.search.answer.hit import Hit, SearchAnswer
from tierdeck_tui.reading.memory_facts import MemoryFacts
from tierdeck_tui.view.access_lines import access_lines
from tierdeck_tui.view.body import body_lines
from tierdeck_tui.view.excerpt import masked_pieces
from tierdeck_tui.view.format import age, counted, local_time, percent
from tierdeck_tui.view.history_lines import confidence_lines, revision_lines
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.lines import Lines
from tierdeck_tui.view.promotion.decision_lines import decision_lines
from tierdeck_tui.view.promotion.hold_line import hold_words
from tierdeck_tui.view.promotion.tier_history import tier_history_lines
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.why import why_lines
from tierdeck_tui.view.wrap import wrap

_MAX_METADATA_CHARS = 4_000
# So far a search reads a text too; it takes 5 ms.
MAX_MARKED_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class DetailText:
    """The lines, none wider than asked for, and the numbers of those that begin a section and that hold a match."""

    lines: Lines
    section_starts: tuple[int, ...]
    match_lines: tuple[int, ...]


def detail_text(
    facts: MemoryFacts,
    cells: int,
    now_ms: int,
    *,
    hit: Hit | None = None,
    answer: SearchAnswer | None = None,
    reveal: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> DetailText:
    """Lay out all that is known about a memory; with its hit and answer, also why it came up.

    Raises:
        StoppedError: `should_stop` said so.
    """
    node = facts.node
    lines = Lines(part for one in _head(node, now_ms) for part in wrap(one, cells))
    starts: list[int] = []
    for title, section in _sections(facts, cells, now_ms, hit, answer, reveal, should_stop):
        if not section:
            continue
        starts.append(len(lines) + 1)
        lines.extend([line(""), _heading(title, cells)])
        lines.extend(section)
    return DetailText(lines, tuple(starts), lines.with_role("match"))


def _sections(
    facts: MemoryFacts,
    cells: int,
    now_ms: int,
    hit: Hit | None,
    answer: SearchAnswer | None,
    reveal: bool,
    should_stop: Callable[[], bool],
) -> Iterator[tuple[str, Sequence[Line]]]:
    def wrapped(lines: Iterable[Line]) -> list[Line]:
        return [part for one in lines for part in wrap(one, cells)]

    node = facts.node
    if hit is not None and answer is not None:
        yield "why it came up", wrapped(line(text) for text in why_lines(hit, answer))
    marks = answer.marks if hit and hit.keyword and answer else None
    matches = marks(node.content[:MAX_MARKED_CHARS]) if marks else ()
    title = f"text · {counted(len(node.content), 'character')}"
    yield title, body_lines(node.content, cells, matches=matches, reveal=reveal, should_stop=should_stop)
    yield "metadata", wrapped(_metadata(node, reveal))
    used = access_lines(facts.summary, facts.accesses, node.access_count, cells, now_ms, roots=facts.roots)
    yield "accesses", wrapped(used)
    explained = facts.explanation
    if explained is not None:
        said = [*decision_lines(explained.decision, cells), *wrapped(_hold(explained.hold))]
        yield "what the rules say now", said
    entries = explained.history if explained is not None else ()
    yield "tier history", wrapped(tier_history_lines(entries, facts.moves))
    yield "confidence", wrapped(confidence_lines(facts.confidence))
    yield "changes", wrapped(revision_lines(facts.revisions))


def _head(node: Node, now_ms: int) -> Iterator[Line]:
    kind = node.type.value + (f"/{visible(node.subtype, one_line=True)}" if node.subtype else "")
    yield line(
        Piece(kind, "type"), " · ", Piece(node.tier.value, "tier"), f" · confidence {percent(node.confidence)}"
    )
    yield line(Piece(visible(node.id, one_line=True), "muted"))
    for problem in node.problems:
        yield line(Piece(f"unreadable {visible(problem, one_line=True)}", "warning"))
    changed_at_ms = node.updated_at_ms if node.updated_at_ms != node.created_at_ms else None
    for name, at_ms in (("created", node.created_at_ms), ("changed", changed_at_ms)):
        if at_ms is not None:
            yield line(Piece(f"{name} {local_time(at_ms)} ({age(at_ms, now_ms)})", "muted"))


def _hold(hold: Hold | None) -> list[Line]:
    if hold is None:
        return []
    return [line(Piece(hold_words(hold), "error" if hold.moved_to is not None else "warning"))]


def _metadata(node: Node, reveal: bool) -> Iterator[Line]:
    if node.provenance:
        yield line(Piece("provenance ", "muted"), *masked_pieces(node.provenance, reveal=reveal))
    for name, value in node.metadata.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        if len(text) > _MAX_METADATA_CHARS:
            text = text[:_MAX_METADATA_CHARS] + "…"
        # Masked together with its name: `password` beside a value is what makes it one.
        yield line(*masked_pieces(f"{name}: {text}", reveal=reveal))


def _heading(title: str, cells: int) -> Line:
    return line(Piece(f"── {title} ".ljust(cells, "─")[:cells], "strong"))
