"""How memories move between the tiers: accesses, the rules and their evidence, the log, the operator's hand."""

from tierdeck.promote.agents.access import end_session, record_accesses, set_outcome
from tierdeck.promote.agents.automatic import run_rules
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.log.breaks import LogBreak, accept_break
from tierdeck.promote.log.check import LogCheck, verify_log
from tierdeck.promote.log.entries import count_entries, entries, log_head, moves_per_day
from tierdeck.promote.log.kept_head import kept_head
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import dismiss, hold, holds, release
from tierdeck.promote.moves.override import (
    OverridePreview,
    PlannedMove,
    archive_nodes,
    override_tier,
    preview_override,
    restore_nodes,
)
from tierdeck.promote.moves.runs import count_runs, runs
from tierdeck.promote.moves.undo import undo_move, undo_run, undoable
from tierdeck.promote.outlook.candidate_page import Candidate, CandidatePage, Place
from tierdeck.promote.outlook.candidates import candidates, count_candidates
from tierdeck.promote.outlook.near import count_near, near
from tierdeck.promote.outlook.sweep import apply_sweep
from tierdeck.promote.outlook.sweep_plan import SweepPlan, plan_sweep
from tierdeck.promote.outlook.what_if import WhatIf, what_if
from tierdeck.promote.outlook.why import Explanation, why
from tierdeck.promote.records import Hold, LogEntry, LogFilter, Refused, Run, RunReport
from tierdeck.promote.rules import Criterion, Decision, Facts, Rules, rules_of

__all__ = [
    "Candidate",
    "CandidatePage",
    "Criterion",
    "Decision",
    "Explanation",
    "Facts",
    "Hold",
    "LogBreak",
    "LogCheck",
    "LogEntry",
    "LogFilter",
    "OverridePreview",
    "Pace",
    "Place",
    "PlannedMove",
    "Refused",
    "Rules",
    "Run",
    "RunReport",
    "SweepPlan",
    "WhatIf",
    "accept_break",
    "apply_sweep",
    "approve",
    "archive_nodes",
    "candidates",
    "count_candidates",
    "count_entries",
    "count_near",
    "count_runs",
    "dismiss",
    "end_session",
    "entries",
    "hold",
    "holds",
    "kept_head",
    "log_head",
    "meet_session",
    "moves_per_day",
    "near",
    "override_tier",
    "plan_sweep",
    "preview_override",
    "record_accesses",
    "release",
    "restore_nodes",
    "rules_of",
    "run_rules",
    "runs",
    "set_outcome",
    "undo_move",
    "undo_run",
    "undoable",
    "verify_log",
    "what_if",
    "why",
]
