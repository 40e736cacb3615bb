"""`tierdeck checkpoint`: saved sessions listed, looked into, compared, checked, restored and cleared away.

No verb here opens a memory store, and none runs, imports or builds anything that stands in a checkpoint.
"""

from __future__ import annotations

import click

from tierdeck_tui.cli.checkpoint.place import checkpoints_option, note_checkpoints
from tierdeck_tui.cli.lazy_group import VerbGroup
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb_table import VerbEntry

_LOOK, _CHANGE, _KEEP = "Look", "Restore", "Keep"

ENTRIES = (
    VerbEntry("list", "checkpoint.listing", "List sessions, or the checkpoints of one.", _LOOK),
    VerbEntry("show", "checkpoint.contents", "Show what a checkpoint says of itself, and what it lacks.", _LOOK),
    VerbEntry("vars", "checkpoint.contents", "List its variables without decoding one.", _LOOK),
    VerbEntry("var", "checkpoint.contents", "Show the value of one variable.", _LOOK),
    VerbEntry("diff", "checkpoint.comparison", "Say what changed between two checkpoints.", _LOOK),
    VerbEntry("verify", "checkpoint.verification", "Check that files are as they were written.", _LOOK),
    VerbEntry(
        "restore", "checkpoint.restoring", "Go on from a checkpoint: as a new session, or in place.", _CHANGE
    ),
    VerbEntry(
        "operations", "checkpoint.operations", "List calls that are not finished, and what is asked.", _CHANGE
    ),
    VerbEntry("decide", "checkpoint.operations", "Say what is done about a call that is asked about.", _CHANGE),
    VerbEntry("request", "checkpoint.requests", "Show what a live agent was asked for, or take it back.", _CHANGE),
    VerbEntry("label", "checkpoint.marking", "Give a checkpoint a label, or take it away.", _KEEP),
    VerbEntry("pin", "checkpoint.marking", "Keep checkpoints from being cleared away.", _KEEP),
    VerbEntry("prune", "checkpoint.pruning", "Move what retention does not keep to the trash.", _KEEP),
    VerbEntry("trash", "checkpoint.pruning", "List the trash, bring back from it, or empty it.", _KEEP),
    VerbEntry("import", "checkpoint.importing", "Take over JSON checkpoints of rlm-claude-code.", _KEEP),
)


@click.group("checkpoint", cls=VerbGroup, entries=ENTRIES)
@checkpoints_option
@click.pass_obj
def checkpoint_verb(run: Run, /, checkpoints: str | None) -> None:
    """Saved sessions: list, look into, compare, verify, restore and clear away their checkpoints.

    A CHECKPOINT is a file's path, SESSION:NUMBER as `tierdeck checkpoint list SESSION` numbers it, or the
    beginning of its id. Nothing that stands in one is run, imported or decoded further than asked.
    """
    note_checkpoints(run, checkpoints)
