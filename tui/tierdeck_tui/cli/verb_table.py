"""Every verb, the module that holds it, and its one line in the list: `--help` imports none of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VerbEntry:
    """A verb: its module below `tierdeck_tui.cli`, its line of help, and its heading in the list."""

    name: str
    module: str
    about: str
    heading: str


_LOOK = "Look"
_CHANGE = "Change"
_PROMOTION = "Promotion"
_CHECKPOINTS = "Checkpoints"
_STORE = "Keep the store"
_PROGRAM = "The program"

VERBS: tuple[VerbEntry, ...] = (
    VerbEntry("search", "search", "Find memories by word and by meaning.", _LOOK),
    VerbEntry("show", "show", "Show memories with everything known about them.", _LOOK),
    VerbEntry("add", "add", "Add a memory.", _CHANGE),
    VerbEntry("edit", "edit", "Change a memory's text or fields.", _CHANGE),
    VerbEntry("archive", "archive", "Move memories to the archive.", _CHANGE),
    VerbEntry("restore", "archive", "Bring memories back from the archive.", _CHANGE),
    VerbEntry("undo", "undo", "Take back the newest change or move of memories, or a run.", _CHANGE),
    VerbEntry("relate", "relate", "Tie memories together.", _CHANGE),
    VerbEntry("purge", "purge", "Remove the text of memories for good, for secrets.", _CHANGE),
    VerbEntry(
        "sessions", "agent_sessions", "List agents' sessions with what they pulled and were pushed.", _PROMOTION
    ),
    VerbEntry("access", "agent_sessions", "Show who used a memory, pulls and pushes apart.", _PROMOTION),
    VerbEntry("candidates", "candidates", "List what the rules would move.", _PROMOTION),
    VerbEntry("near", "candidates", "List what lacks only one thing.", _PROMOTION),
    VerbEntry("why", "candidates", "Say why a memory is in its tier, and what it lacks to move.", _PROMOTION),
    VerbEntry("promote", "promote", "Move memories to a tier by hand, with a reason.", _PROMOTION),
    VerbEntry("approve", "approve", "Move candidates now, as their rule would.", _PROMOTION),
    VerbEntry("dismiss", "approve", "Leave candidates where they are until new evidence.", _PROMOTION),
    VerbEntry("hold", "holds", "Keep memories in their tier.", _PROMOTION),
    VerbEntry("release", "holds", "End the hold of memories.", _PROMOTION),
    VerbEntry("holds", "holds", "List what is held.", _PROMOTION),
    VerbEntry("sweep", "sweep", "Apply the rules to the whole store, for cron.", _PROMOTION),
    VerbEntry("what-if", "sweep", "Say what other numbers in the rules would move.", _PROMOTION),
    VerbEntry("log", "promotion_log", "Show what was moved, by whom and why; verify the log.", _PROMOTION),
    VerbEntry("runs", "promotion_log", "List the runs over several memories.", _PROMOTION),
    VerbEntry("checkpoint", "checkpoint", "List, inspect, compare and restore saved sessions.", _CHECKPOINTS),
    VerbEntry("import", "transfer", "Bring in memories from a JSONL file or another store.", _STORE),
    VerbEntry("export", "transfer", "Write the whole store as JSONL.", _STORE),
    VerbEntry("embed", "embed", "Make the vectors that search by meaning needs.", _STORE),
    VerbEntry("adopt", "adopt", "Make another program's store writable.", _STORE),
    VerbEntry("unadopt", "adopt", "Take our tables out of another program's store again.", _STORE),
    VerbEntry("backup", "backup", "Back up the store, check a backup, or bring one back.", _STORE),
    VerbEntry("doctor", "doctor", "Examine the store and what it stands on.", _STORE),
    VerbEntry("demo", "demo", "Try the console on a made-up store.", _PROGRAM),
    VerbEntry("config", "config", "Show every setting and where it comes from.", _PROGRAM),
    VerbEntry("completion", "completion", "Print the script that completes commands in a shell.", _PROGRAM),
)


def verbs() -> list[str]:
    """The names of all verbs, in the order of `tierdeck --help`."""
    return [entry.name for entry in VERBS]
