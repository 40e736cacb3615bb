"""`tierdeck checkpoint verify`: whether files are as they were written, and whether all in them can be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tierdeck.checkpoint import CONSOLE_LIMITS
from tierdeck.checkpoint.folder import Listed, VerifyResult, verify
from tierdeck.errors import CheckpointError, StoppedError
from tierdeck_tui.cli.checkpoint.named import named_checkpoint
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, key_option, use_checkpoints, use_key
from tierdeck_tui.cli.checkpoint.sessions import session_folder
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import StopFlag, stop_flag
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.verified import verified_line
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.masked import masked_form

Verified = tuple[Path, VerifyResult]


@click.command("verify", cls=Verb)
@click.argument("names", nargs=-1, metavar="CHECKPOINT...")
@click.option("--session", metavar="ID", help="All checkpoints of this session.")
@click.option("--deep", is_flag=True, help="Decode everything in them too, in a process of its own.")
@key_option
@checkpoints_option
@click.pass_obj
def verify_verb(
    run: Run,
    /,
    names: tuple[str, ...],
    session: str | None,
    deep: bool,
    key_file: str | None,
    checkpoints: str | None,
) -> int:
    """Check each file against its trailer, and with --deep that everything in it can be read.

    What was found is kept, and shows in `tierdeck checkpoint list`; not what was found with a key, since without
    it nobody can say so. Ends with 11 when one is not as it was written, is newer, or can't be told; the others are
    checked all the same.
    """
    root = use_checkpoints(run, checkpoints)
    if not names and session is None:
        raise click.UsageError("give checkpoints, or --session ID")
    key = use_key(run, key_file)
    chosen = [named_checkpoint(root, name).listed for name in names]
    if session is not None:
        chosen += session_folder(root, session).listed()
    with stop_flag() as should_stop:
        found = _verify_all(chosen, should_stop, is_deep=deep, key=key)
    _put(run, found)
    if len(found) < len(chosen):
        talk(f"stopped; {counted(len(chosen) - len(found), 'checkpoint')} not looked at")
        return STOPPED
    return 0 if all(result.state == "ok" for _, result in found) else CheckpointError.exit_code


def _verify_all(
    chosen: Sequence[Listed], should_stop: StopFlag, *, is_deep: bool, key: bytes | None
) -> list[Verified]:
    """What was found of each; of fewer when it was stopped."""
    found: list[Verified] = []
    for each in chosen:
        try:
            with ProgressBar(f"verifying {each.file}") as bar:
                result = verify(
                    each.path,
                    CONSOLE_LIMITS,
                    is_deep=is_deep,
                    key=key,
                    on_progress=bar.show,
                    should_stop=should_stop,
                )
        except StoppedError:
            return found
        found.append((each.path, result))
    return found


def _put(run: Run, found: Sequence[Verified]) -> None:
    if run.is_json:
        put_json(masked_form({"verified": [verified_form(path, result) for path, result in found]}, reveal=False))
    else:
        put_lines(verified_line(path, result) for path, result in found)
    bad = sum(result.state != "ok" for _, result in found)
    if bad:
        talk(f"{counted(bad, 'checkpoint')} of {len(found)} not good")


def verified_form(path: Path, result: VerifyResult) -> dict[str, object]:
    """What was found of one file, as JSON."""
    return {
        "path": path,
        "state": result.state,
        "why": result.why,
        "size_bytes": result.bytes,
        "is_deep": result.is_deep,
        "is_from_cache": result.is_from_cache,
    }
