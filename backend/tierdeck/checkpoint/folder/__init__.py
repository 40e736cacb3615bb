"""Where checkpoints lie: sessions, their checkpoints, where each session stands, retention, verification."""

from tierdeck.checkpoint.folder.diff import Change, Diff, diff
from tierdeck.checkpoint.folder.find import FoundCheckpoint, find_checkpoint
from tierdeck.checkpoint.folder.head_pointer import HeadPointer
from tierdeck.checkpoint.folder.lease import Lease, RunState
from tierdeck.checkpoint.folder.listing import Listed, State
from tierdeck.checkpoint.folder.requests import Answer, Request
from tierdeck.checkpoint.folder.retention import (
    Kept,
    PrunePlan,
    PruneReport,
    RetentionPolicy,
    plan_prune,
    policy_of,
    prune,
)
from tierdeck.checkpoint.folder.root import checkpoints_root
from tierdeck.checkpoint.folder.session_folder import SessionFolder, open_session_folder
from tierdeck.checkpoint.folder.sessions import SessionInfo, list_sessions, session_info
from tierdeck.checkpoint.folder.stored import SavedCheckpoint, Skipped
from tierdeck.checkpoint.folder.trash import Emptied, Trashed, empty_trash, list_trash, restore_from_trash
from tierdeck.checkpoint.folder.verify import VerifyResult, verify

__all__ = [
    "Answer",
    "Change",
    "Diff",
    "Emptied",
    "FoundCheckpoint",
    "HeadPointer",
    "Kept",
    "Lease",
    "Listed",
    "PrunePlan",
    "PruneReport",
    "Request",
    "RetentionPolicy",
    "RunState",
    "SavedCheckpoint",
    "SessionFolder",
    "SessionInfo",
    "Skipped",
    "State",
    "Trashed",
    "VerifyResult",
    "checkpoints_root",
    "diff",
    "empty_trash",
    "find_checkpoint",
    "list_sessions",
    "list_trash",
    "open_session_folder",
    "plan_prune",
    "policy_of",
    "prune",
    "restore_from_trash",
    "session_info",
    "verify",
]
