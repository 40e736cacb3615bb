"""A decision as a JSON object: what it is, what follows from it, and each criterion with what it lacks. Pure."""

from __future__ import annotations

from tierdeck.promote.rules import Criterion, Decision
from tierdeck_tui.view.promotion.decision_lines import lack_words, verdict


def decision_form(decision: Decision) -> dict[str, object]:
    """The decision's fields with `passes`, `is_due` and its `verdict` in words."""
    return {
        "node_id": decision.node_id,
        "rule": decision.rule,
        "from_tier": decision.from_tier,
        "to_tier": decision.to_tier,
        "passes": decision.passes,
        "is_due": decision.is_due,
        "block": decision.block,
        "verdict": verdict(decision),
        "rule_version": decision.rule_version,
        "criteria": [criterion_form(criterion) for criterion in decision.criteria],
    }


def criterion_form(criterion: Criterion) -> dict[str, object]:
    """The criterion's fields with how much it `lacks`, and that in `words`."""
    return {
        "name": criterion.name,
        "found": criterion.found,
        "comparison": criterion.comparison,
        "needed": criterion.needed,
        "passed": criterion.passed,
        "lacks": criterion.lacks,
        "words": lack_words(criterion),
        "note": criterion.note,
    }
