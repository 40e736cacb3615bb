"""What an agent's process does with its checkpoints: save by turns, journal calls, go on; and fork and rewind."""

from tierdeck.checkpoint.running.branch import unknown_calls
from tierdeck.checkpoint.running.call import Call
from tierdeck.checkpoint.running.checkpoint_request import request_checkpoint
from tierdeck.checkpoint.running.checkpointed import Checkpointed
from tierdeck.checkpoint.running.decide import decide, open_operations_of, operations_of, questions_of
from tierdeck.checkpoint.running.open_running import open_running
from tierdeck.checkpoint.running.question import CallRules, OpenOperation, Question
from tierdeck.checkpoint.running.restore import Asked, Forked, Rewound, fork, rewind
from tierdeck.checkpoint.running.resumed import Resumed
from tierdeck.checkpoint.running.running_session import RunningSession
from tierdeck.checkpoint.running.saves import SaveReport
from tierdeck.checkpoint.running.spending import Spending
from tierdeck.checkpoint.running.tidy import tidy
from tierdeck.checkpoint.running.turn_state import TurnState
from tierdeck.checkpoint.running.undecided import RestoreMode, operations_at, questions_at, start_at

__all__ = [
    "Asked",
    "Call",
    "CallRules",
    "Checkpointed",
    "Forked",
    "OpenOperation",
    "Question",
    "RestoreMode",
    "Resumed",
    "Rewound",
    "RunningSession",
    "SaveReport",
    "Spending",
    "TurnState",
    "decide",
    "fork",
    "open_operations_of",
    "open_running",
    "operations_at",
    "operations_of",
    "questions_at",
    "questions_of",
    "request_checkpoint",
    "rewind",
    "start_at",
    "tidy",
    "unknown_calls",
]
