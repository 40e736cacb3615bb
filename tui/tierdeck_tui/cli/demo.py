"""`tierdeck demo`: a made-up store with its checkpoints in a temporary folder, and the console on both.

With `--agent` an agent works on them in a process of its own while the console is open.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from tierdeck.demo.agent_process import agent_process, log_beside
from tierdeck.demo.build import DemoCheckpoints, DemoSummary, build_demo
from tierdeck.model import NodeType, Tier
from tierdeck_tui.cli.console import open_console
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import can_open_console
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import count, counted

_STORE_NAME = "demo.db"


@click.command("demo", cls=Verb)
@click.option(
    "--keep", metavar="DIR", help="Make the store and its checkpoints in this folder and leave them there."
)
@click.option(
    "--agent", "has_agent", is_flag=True, help="Have an agent work there, session s-15, while the console is open."
)
@click.pass_obj
def demo_verb(run: Run, /, keep: str | None, has_agent: bool) -> int:
    """Make the memory and checkpoints of a coding agent over many sessions, and open the console on them.

    Needs no network, key or model. Without a terminal, and with --json, it prints what it made instead, and starts
    no agent.
    """
    with _folder(keep) as folder:
        path = folder / _STORE_NAME
        summary = build_demo(path)
        if keep is not None:
            talk(f"the demo store is {path}")
            talk(f"its checkpoints are in {summary.checkpoints.root}")
        if run.is_json:
            put_json(_document(summary, is_kept=keep is not None))
            return 0
        if can_open_console():
            run.use_flag("checkpoints.folder", str(summary.checkpoints.root.absolute()), "demo")
            return _open_with_agent(run, path) if has_agent else open_console(run, path)
        put("\n".join(_sentences(summary)))
    if has_agent:
        talk("no agent was started: it works while the console is open")
    if keep is None:
        talk("the store is gone again; --keep DIR keeps it, and in a terminal the console opens on it")
    return 0


def _open_with_agent(run: Run, path: Path) -> int:
    with agent_process(path) as process:
        talk(f"the agent is process {process.pid}; `python -m tierdeck.demo.live_agent {path}` starts it again")
        code = open_console(run, path)
    if process.returncode > 0:
        said = log_beside(path).read_text("utf-8", "replace").splitlines()
        talk(f"the agent had failed: {said[-1] if said else f'exit code {process.returncode}'}")
    return code


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    if keep is not None:
        yield path_of(keep)
        return
    # What the console's background work still writes must not turn leaving into an error.
    with tempfile.TemporaryDirectory(prefix="tierdeck-demo-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def _sentences(summary: DemoSummary) -> list[str]:
    found, saved = summary.counts, summary.checkpoints
    history = f"accesses {count(summary.accesses)} · changes {count(summary.revisions)}"
    return [
        f"a demo store of {counted(found.total, 'memory', 'memories')} from {counted(summary.sessions, 'session')}",
        f"  tiers     {_parts(found.by_tier)}",
        f"  types     {_parts(found.by_type)}",
        f"  relations {count(found.edges)} · {history}",
        f"  promotion {counted(summary.log_rows, 'row')} in the log · {count(summary.waiting)} candidates wait",
        f"  checkpoints {_checkpoint_parts(saved)}",
    ]


def _checkpoint_parts(saved: DemoCheckpoints) -> str:
    hurt = f"damaged {count(saved.damaged)} · newer {count(saved.newer)}"
    missing = f"unfinished operations {count(saved.unfinished)} · values lost {count(saved.lost)}"
    return f"{count(saved.files)} of {counted(saved.sessions, 'session')} · {hurt} · {missing}"


def _parts(numbers: Mapping[Tier, int] | Mapping[NodeType, int]) -> str:
    return " · ".join(f"{name} {count(number)}" for name, number in numbers.items())


def _document(summary: DemoSummary, *, is_kept: bool) -> dict[str, object]:
    return {
        "path": summary.path if is_kept else None,
        "counts": summary.counts,
        "sessions": summary.sessions,
        "accesses": summary.accesses,
        "revisions": summary.revisions,
        "log_rows": summary.log_rows,
        "candidates": summary.waiting,
        "checkpoints": _saved(summary.checkpoints, is_kept=is_kept),
    }


def _saved(found: DemoCheckpoints, *, is_kept: bool) -> dict[str, object]:
    return {
        "path": found.root if is_kept else None,
        "sessions": found.sessions,
        "files": found.files,
        "damaged": found.damaged,
        "newer": found.newer,
        "unfinished": found.unfinished,
        "lost": found.lost,
    }
