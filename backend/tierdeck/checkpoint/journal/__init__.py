"""The journal of a session's calls, and what of it survives a crash."""

from tierdeck.checkpoint.journal.beginning import read_beginnings
from tierdeck.checkpoint.journal.entry import CHOICES, NO_DECISIONS, Choice, Decision, Decisions, Entry
from tierdeck.checkpoint.journal.journal import Journal
from tierdeck.checkpoint.journal.journal_files import journal_path, journalled_branches
from tierdeck.checkpoint.journal.lines import BranchLine, TurnLine
from tierdeck.checkpoint.journal.op_id import call_digest, op_id
from tierdeck.checkpoint.journal.stored_value import MAX_VALUE_BYTES, StoredValue, shortened, store_value

__all__ = [
    "CHOICES",
    "MAX_VALUE_BYTES",
    "NO_DECISIONS",
    "BranchLine",
    "Choice",
    "Decision",
    "Decisions",
    "Entry",
    "Journal",
    "StoredValue",
    "TurnLine",
    "call_digest",
    "journal_path",
    "journalled_branches",
    "op_id",
    "read_beginnings",
    "shortened",
    "store_value",
]
