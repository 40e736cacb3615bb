"""How a memory moved between its tiers: our log and the family's put together, each move told once. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tierdeck.model import TierMove
from tierdeck.promote.log.undone import undone_ids
from tierdeck.promote.records import LogEntry
from tierdeck_tui.view.format import local_time
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.promotion.log_line import history_line
from tierdeck_tui.view.safe_text import safe

# The family writes one move as two rows, at times one second apart: what its schema does (tier_transition) and what
# its program did (promote, consolidate), the latter with a reason.
_SAME_MOVE_MS = 2_000


def tier_history_lines(entries: Sequence[LogEntry], moves: Sequence[TierMove]) -> list[Line]:
    """One line for each move, hold, release and dismissal, oldest first, saying who, why and what was taken back.

    Args:
        entries: our log's rows of the memory, in any order.
        moves: the family's rows of it, oldest first; those that our own moves left there are not told again.
    """
    undone = undone_ids((entry.id, entry.undoes) for entry in entries)
    told = [(entry.at_ms, 1, entry.id, history_line(entry, is_undone=entry.id in undone)) for entry in entries]
    told += [(move.at_ms or 0, 0, at, _move_line(move)) for at, move in enumerate(foreign_moves(entries, moves))]
    return [row[3] for row in sorted(told, key=lambda row: row[:3])]


def foreign_moves(entries: Sequence[LogEntry], moves: Sequence[TierMove]) -> list[TierMove]:
    """The moves that other programs made, oldest first, each once."""
    ours = {entry.evolution_id for entry in entries if entry.evolution_id is not None}
    return list(_merged([move for move in moves if move.id is None or move.id not in ours]))


def _merged(moves: Sequence[TierMove]) -> Iterator[TierMove]:
    before: TierMove | None = None
    for move in moves:
        if before is not None and _is_same(before, move):
            before = move if before.reasoning is None else replace(before, id=move.id)
            continue
        if before is not None:
            yield before
        before = move
    if before is not None:
        yield before


def _is_same(one: TierMove, other: TierMove) -> bool:
    if (one.from_tier, one.to_tier) != (other.from_tier, other.to_tier):
        return False
    return abs((one.at_ms or 0) - (other.at_ms or 0)) <= _SAME_MOVE_MS


def _move_line(move: TierMove) -> Line:
    return line(
        Piece(local_time(move.at_ms), "muted"),
        "  ",
        Piece(f"{safe(move.from_tier)} → {safe(move.to_tier)}", "tier"),
        Piece(f"  {safe(move.operation)}, not by tierdeck's rules", "muted"),
        f"  {safe(move.reasoning)}" if move.reasoning else "",
    )
