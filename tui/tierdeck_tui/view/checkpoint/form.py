"""Checkpoints as JSON objects: one name for one fact in every verb. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tierdeck.checkpoint import Head, Loss, Summary, UnitEntry
from tierdeck.checkpoint.file.table import PART
from tierdeck.checkpoint.folder import Listed, SessionInfo
from tierdeck.checkpoint.folder.diff import Diff
from tierdeck_tui.reading.restore_plan import RestorePlan


def session_info_form(info: SessionInfo) -> dict[str, object]:
    """A session that has checkpoints."""
    return {
        "session_id": info.session_id,
        "path": info.path,
        "checkpoints": info.checkpoints,
        "size_bytes": info.size_bytes,
        "trash_bytes": info.trash_bytes,
        "newest_ns": info.newest_ns,
        "is_live": info.is_live,
        "run": info.run,
        "problem": info.problem,
    }


def checkpoint_form(listed: Listed) -> dict[str, object]:
    """A checkpoint in a list; `summary` is null for one that can't be read, and `why` says so."""
    return {
        "path": listed.path,
        "sequence": listed.sequence,
        "turn": listed.turn,
        "size_bytes": listed.size_bytes,
        "state": listed.state,
        "why": listed.why,
        "label": listed.label,
        "is_pinned": listed.is_pinned,
        "is_head": listed.is_head,
        "summary": None if listed.summary is None else summary_form(listed.summary),
    }


def summary_form(summary: Summary) -> dict[str, object]:
    """What the head of a file says of it."""
    return {
        "session_id": summary.session_id,
        "checkpoint_id": summary.checkpoint_id,
        "branch": summary.branch,
        "parent": summary.parent,
        "origin": summary.origin,
        "created_at_ns": summary.created_at_ns,
        "turn": summary.turn,
        "depth": summary.depth,
        "reason": summary.reason,
        "cost_usd": summary.cost_so_far,
        "tokens": summary.tokens,
        "variables": summary.variables,
        "lost": summary.lost,
        "inert": summary.inert,
        "messages": summary.messages,
        "events": summary.events,
        "operations": dict(summary.pending),
        "raw_bytes": summary.raw_bytes,
        "writer": dict(summary.writer),
    }


def head_form(head: Head) -> dict[str, object]:
    """The format's version that a file is of, and whether its trailer needs a key."""
    return {"format": f"{head.major}.{head.minor}", "is_keyed": head.is_keyed, "is_newer": head.is_newer}


def variable_form(unit: UnitEntry) -> dict[str, object]:
    """A variable as the table has it; nothing was decoded."""
    return {
        "name": unit.name,
        "type": unit.type_name,
        "raw_bytes": unit.raw_bytes,
        "objects": unit.objects,
        "preview": unit.preview,
        "digest": unit.digest.hex(),
    }


def loss_form(loss: Loss) -> Mapping[str, object]:
    """What a checkpoint does not hold as it was."""
    return {
        "variable": loss.variable,
        "path": loss.path,
        "type": loss.type_name,
        "reason": loss.reason,
        "kind": loss.kind,
    }


def diff_form(found: Diff) -> dict[str, object]:
    """What changed between two checkpoints: variables with what their tables say, parts by name alone."""
    return {
        "added": [variable_form(unit) for unit in found.added if unit.kind != PART],
        "removed": [variable_form(unit) for unit in found.removed if unit.kind != PART],
        "changed": [
            {"name": each.name, "before": variable_form(each.before), "after": variable_form(each.after)}
            for each in found.changed
            if each.after.kind != PART
        ],
        "same": [unit.name for unit in found.same if unit.kind != PART],
        "changed_parts": [each.name for each in found.changed if each.after.kind == PART],
    }


def plan_form(plan: RestorePlan) -> dict[str, object]:
    """What a restore would do, without its calls."""
    return {
        "mode": plan.mode,
        "checkpoint": checkpoint_form(plan.target),
        "session_id": plan.session_id,
        "new_session_id": plan.new_session_id,
        "present": None if plan.present is None else checkpoint_form(plan.present),
        "changes": None if plan.changes is None else diff_form(plan.changes),
        "losses": [loss_form(loss) for loss in plan.losses],
        "later": [each.path for each in plan.later],
        "session_cost_usd": plan.session_cost,
        "generation": plan.generation,
        "is_live": plan.is_live,
        "problems": plan.problems,
    }
