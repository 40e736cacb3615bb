"""How memories move between the tiers: accesses, the rules and their evidence, the log, the operator's hand."""

from tierdeck.promote.access import end_session, record_accesses, set_outcome
from tierdeck.promote.automatic import run_rules
from tierdeck.promote.candidate_page import Candidate, CandidatePage, Place
from tierdeck.promote.candidates import candidates, count_candidates
from tierdeck.promote.near import count_near, near
from tierdeck.promote.sessions import meet_session
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
    "end_session",
    "meet_session",
    "near",
    "plan_sweep",
    "record_accesses",
    "run_rules",
    "set_outcome",
    "what_if",
]
