"""A sweep's plan and a comparison of rules as JSON objects. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.promote.outlook.candidate_page import Candidate
from tierdeck.promote.outlook.sweep_plan import SweepPlan
from tierdeck.promote.outlook.what_if import WhatIf
from tierdeck.promote.rules import Rules
from tierdeck_tui.view.promotion.decision_form import decision_form


def sweep_plan_form(plan: SweepPlan) -> dict[str, object]:
    """What a sweep would move: counts, why it must be confirmed, examples with their decisions."""
    return {
        "now_ms": plan.now_ms,
        "rule_version": plan.rule_version,
        "due": plan.due,
        "due_rows": plan.due_rows,
        "held": plan.held,
        "dismissed": plan.dismissed,
        "rejections": plan.rejections,
        "tiers": plan.tiers,
        "is_first": plan.is_first,
        "needs_confirmation": plan.needs_confirmation,
        "examples": candidate_forms(plan.examples),
    }


def what_if_form(found: WhatIf, rules: Rules, other: Rules) -> dict[str, object]:
    """Candidates by rule under both rule sets, and examples of the difference."""
    return {
        "rules": rules,
        "other": other,
        "now": found.now,
        "then": found.then,
        "gained_rows": found.gained_rows,
        "lost_rows": found.lost_rows,
        "gained": candidate_forms(found.gained),
        "lost": candidate_forms(found.lost),
    }


def candidate_forms(rows: Sequence[Candidate]) -> list[dict[str, object]]:
    """Memories with their decisions and the facts behind them."""
    return [{"decision": decision_form(each.decision), "facts": each.facts, "row": each.row} for each in rows]
