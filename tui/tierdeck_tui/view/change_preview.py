"""What a change would do, as a dialog shows it before it is done. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

from tierdeck.model import Node, NodeChanges, Revision, Tier
from tierdeck.promote.records import LogEntry
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.view.format import counted, local_time, short_number
from tierdeck_tui.view.promotion.log_line import deed_words
from tierdeck_tui.view.promotion.undone_evidence import evidence_note
from tierdeck_tui.view.sanitise import cut, visible

_MAX_SHOWN = 6
_TEXT_CELLS = 60
# Beside an id and a move, in a dialog of 64 cells.
_MOVED_TEXT_CELLS = 32
_MAX_DIFF_LINES = 30
# difflib compares every line with every other in the worst case.
_MAX_DIFF_CHARS = 100_000


def move_preview(nodes: Sequence[Node], to_tier: Tier) -> str:
    """Which memories would move, from which tier; what is there already is said to stay."""
    lines = []
    for node in nodes[:_MAX_SHOWN]:
        move = f"{node.tier.value} → {to_tier.value}" if node.tier is not to_tier else f"stays in {to_tier.value}"
        lines.append(f"{visible(node.short_id, one_line=True)}  {move}  {_head(node.content, _MOVED_TEXT_CELLS)}")
    if len(nodes) > _MAX_SHOWN:
        lines.append(f"and {counted(len(nodes) - _MAX_SHOWN, 'more', 'more')}")
    return "\n".join(lines)


def edit_preview(node: Node, changes: NodeChanges) -> str:
    """What an edit would replace: the text as a diff by lines, each other field as old → new."""
    lines = []
    for name, old, new in (
        ("type", node.type.value, changes.type.value if changes.type else None),
        ("subtype", node.subtype or "", changes.subtype),
        ("confidence", short_number(node.confidence), _number(changes.confidence)),
        ("provenance", node.provenance or "", changes.provenance),
    ):
        if new is not None and new != old:
            lines.append(f"{name}: {_head(old) or '–'} → {_head(new) or '–'}")
    if changes.content is not None and changes.content != node.content:
        lines += _diff(node.content, changes.content)
    return "\n".join(lines)


def undo_preview(changes: Sequence[tuple[Node, Revision | LogEntry]]) -> str:
    """Which changes would be taken back, of which memories, and what becomes of their evidence."""
    note = evidence_note(change for _, change in changes)
    also = f"\n\n{note}" if note else ""
    if len(changes) > 1:
        return _undo_lines(changes) + also
    [(node, change)] = changes
    reason = f": {visible(change.reason, one_line=True)}" if change.reason else ""
    return (
        f"{_head(node.content)}\n\n"
        f"takes back #{change.id} {_deed(change)} by {visible(change.actor, one_line=True)}{reason}\n"
        f"of {local_time(change.at_ms)}{also}"
    )


def standing_change(revisions: Sequence[Revision]) -> Revision | None:
    """The newest change that still stands, which is what an undo takes back; an undone undo stands again.

    Args:
        revisions: all of one memory, newest first.
    """
    by_id = {revision.id: revision for revision in revisions}
    taken_back = {revision.undoes for revision in revisions}
    for revision in revisions:
        depth, step = 0, revision
        while step.undoes is not None and step.undoes in by_id:
            depth, step = depth + 1, by_id[step.undoes]
        if revision.id not in taken_back and depth % 2 == 0:
            return revision
    return None


def _undo_lines(changes: Sequence[tuple[Node, Revision | LogEntry]]) -> str:
    lines = [
        f"{visible(node.short_id, one_line=True)}  #{change.id} {_deed(change)}  "
        f"{_head(node.content, _MOVED_TEXT_CELLS)}"
        for node, change in changes[:_MAX_SHOWN]
    ]
    if len(changes) > _MAX_SHOWN:
        lines.append(f"and {counted(len(changes) - _MAX_SHOWN, 'more', 'more')}")
    return "\n".join(lines)


def _deed(change: Revision | LogEntry) -> str:
    return change.kind if isinstance(change, Revision) else f"{change.kind} {deed_words(change)}"


def _diff(old: str, new: str) -> list[str]:
    if max(len(old), len(new)) > _MAX_DIFF_CHARS:
        return [f"text: {counted(len(old), 'character')} → {counted(len(new), 'character')}"]
    old_lines, new_lines = mask_secrets(old).split("\n"), mask_secrets(new).split("\n")
    found = list(unified_diff(old_lines, new_lines, lineterm="", n=1))[2:]
    lines = [visible(line, one_line=True) for line in found if not line.startswith("@@")]
    if not lines:  # only what is masked differs
        return ["text: a masked part changes"]
    return lines[:_MAX_DIFF_LINES] + (["…"] if len(lines) > _MAX_DIFF_LINES else [])


def _head(text: str, cells: int = _TEXT_CELLS) -> str:
    return cut(visible(mask_secrets(text[:400]), one_line=True), cells)


def _number(value: float | None) -> str | None:
    return None if value is None else short_number(value)
