"""How memories move between the tiers: accesses, the rules and their evidence, the log, the operator's hand."""

from tierdeck.promote.candidate_page import Candidate, CandidatePage, Place
from tierdeck.promote.candidates import candidates, count_candidates
from tierdeck.promote.near import count_near, near
from tierdeck.promote.sweep_plan import SweepPlan, plan_sweep
from tierdeck.promote.what_if import WhatIf, what_if

__all__ = [
    "Candidate",
    "CandidatePage",
    "Place",
    "SweepPlan",
    "WhatIf",
    "candidates",
    "count_candidates",
    "count_near",
    "near",
    "plan_sweep",
    "what_if",
]
