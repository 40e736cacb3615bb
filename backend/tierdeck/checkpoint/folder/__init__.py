"""Where checkpoints lie: sessions, their checkpoints, where each session stands, retention, verification."""

from tierdeck.checkpoint.folder.find import FoundCheckpoint, find_checkpoint
from tierdeck.checkpoint.folder.head_pointer import HeadPointer
from tierdeck.checkpoint.folder.lease import Lease
from tierdeck.checkpoint.folder.listing import Listed
from tierdeck.checkpoint.folder.root import checkpoints_root
from tierdeck.checkpoint.folder.session_folder import (
    SavedCheckpoint,
    SessionFolder,
    Skipped,
    open_session_folder,
)
from tierdeck.checkpoint.folder.sessions import SessionInfo, list_sessions
from tierdeck.checkpoint.folder.verify import VerifyResult, verify

__all__ = [
    "FoundCheckpoint",
    "HeadPointer",
    "Lease",
    "Listed",
    "SavedCheckpoint",
    "SessionFolder",
    "SessionInfo",
    "Skipped",
    "VerifyResult",
    "checkpoints_root",
    "find_checkpoint",
    "list_sessions",
    "open_session_folder",
    "verify",
]
