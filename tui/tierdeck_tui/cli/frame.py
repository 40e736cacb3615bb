"""The last frame: whatever ends a verb becomes an exit code and, on stderr, at most a few lines.

Nothing else in the command line catches `Exception`. Exit codes: `EXIT_CODES`, as `tierdeck --help` prints them.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence

import click

from tierdeck.errors import AmbiguousIdError, TierdeckError
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.cli.log import log_error
from tierdeck_tui.cli.output import prepare_streams, talk

STOPPED = 130
READER_GONE = 141

EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done"),
    (1, "an error that was not foreseen; the log says more"),
    (2, "a wrong option or value, or a question that could not be asked without a terminal"),
    (3, "the store can't be used: missing, damaged, busy, read-only, newer, not a store"),
    (4, "no such memory or checkpoint, or a short id that fits several"),
    (5, "it changed meanwhile; nothing was done"),
    (6, "embedding failed, or its model is not available"),
    (7, "the index file can't be used"),
    (8, "the settings file or a variable is wrong"),
    (9, "an import or export can't go on"),
    (10, "done in part, or only asked for; the output says which"),
    (11, "a checkpoint can't be written or read"),
    (STOPPED, "stopped by Ctrl+C, or by no to a question"),
    (READER_GONE, "who read the output has gone"),
)


def run_framed(invoke: Callable[[], int], args: Sequence[str]) -> int:
    """Run `invoke` and give the process's exit code; says on stderr what went wrong.

    Args:
        invoke: runs the verb and gives its exit code.
        args: the command line, to know whether `--json` or `--debug` was given even when it could not be parsed.
    """
    prepare_streams()
    try:
        code = invoke()
        if sys.stdout is not None:  # closed by whoever started the process
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return READER_GONE
    except click.exceptions.Exit as e:
        return e.exit_code
    except (KeyboardInterrupt, EOFError, click.Abort):
        talk("tierdeck: stopped")
        return STOPPED
    except click.ClickException as e:
        return _report(e.format_message(), _usage_hint(e), "UsageError", e.exit_code, args)
    except TierdeckError as e:
        return _report(e.message, e.hint, type(e).__name__, e.exit_code, args, _matches(e))
    except OSError as e:
        if e.errno == errno.ENOSPC:
            _drop_output()
            return _report("write output: the disk is full", None, type(e).__name__, 1, args)
        return _unforeseen(e, args)
    except Exception as e:  # noqa: BLE001 - the last frame: a person gets one line, the log the rest
        return _unforeseen(e, args)
    else:
        return code


def _report(
    message: str, hint: str | None, kind: str, code: int, args: Sequence[str], matches: Sequence[str] = ()
) -> int:
    talk(f"tierdeck: {message}")
    for match in matches:
        talk(f"  {match}")
    if hint:
        talk(f"  {hint}")
    if _has_flag(args, "--json"):
        error: dict[str, object] = {"kind": kind, "message": mask_secrets(message), "hint": hint, "exit_code": code}
        if matches:
            error["matches"] = list(matches)
        click.echo(json.dumps({"error": error}), err=True)
    return code


def _unforeseen(error: Exception, args: Sequence[str]) -> int:
    text = "".join(traceback.format_exception(error))
    path = log_error(text)
    where = f"the log is {path}" if path else "no log could be written; --debug shows more"
    if _has_flag(args, "--debug"):
        talk(text)
    return _report(f"unforeseen error: {error or type(error).__name__}", where, type(error).__name__, 1, args)


def _usage_hint(error: click.ClickException) -> str | None:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{ctx.command_path} --help` lists what it takes" if ctx else None


def _matches(error: TierdeckError) -> Sequence[str]:
    return error.matches if isinstance(error, AmbiguousIdError) else ()


def _has_flag(args: Sequence[str], flag: str) -> bool:
    own = args[: list(args).index("--")] if "--" in args else args
    return flag in own


def _drop_output() -> None:
    # Python flushes stdout once more at its end, and would complain about the same broken pipe.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stream without a file below it, as in tests
        return
