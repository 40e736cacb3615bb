"""What a verb says: data to stdout, talk to stderr. Beside the questions and the bar, only this file writes there.

Everything passes the sanitiser, whether a terminal or a pipe is behind stdout: what is piped to a file is shown by
`cat` later. `--json` is the lossless way.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from functools import partial

import click

from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.cli.terminal import has_colour
from tierdeck_tui.view.json_form import json_text
from tierdeck_tui.view.line import Line, Role
from tierdeck_tui.view.sanitise import visible

_MAX_TALK_CHARS = 4_000
_STYLES: dict[Role, Callable[[str], str]] = {
    "strong": partial(click.style, bold=True),
    "muted": partial(click.style, dim=True),
    "score": partial(click.style, bold=True),
    "match": partial(click.style, bold=True, underline=True),
    "keyword": partial(click.style, fg="cyan"),
    "semantic": partial(click.style, fg="magenta"),
    "tier": partial(click.style, fg="blue"),
    "type": partial(click.style, fg="cyan"),
    "warning": partial(click.style, fg="yellow"),
    "error": partial(click.style, fg="red", bold=True),
    "good": partial(click.style, fg="green"),
}


def prepare_streams() -> None:
    """Make stdout and stderr take every character: what their encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def put(text: str) -> None:
    """Write text that is data, line by line as it is, made safe."""
    _write(visible(text))


def put_lines(lines: Iterable[Line]) -> None:
    """Write lines of pieces, in colours where stdout takes them; each piece is made safe once more."""
    colour = has_colour()
    painted = ["".join(_painted(piece.text, piece.role, colour) for piece in line).rstrip() for line in lines]
    if painted:
        _write("\n".join(painted), colour=colour)


def put_json(value: object) -> None:
    """Write one JSON document."""
    _write(json_text(value))


def talk(text: str) -> None:
    """Say something to the operator on stderr: safe, without secrets, and never longer than a screen."""
    short = text if len(text) <= _MAX_TALK_CHARS else f"{text[:_MAX_TALK_CHARS]}…"
    click.echo(visible(mask_secrets(short)), err=True)


def _write(text: str, *, colour: bool = False) -> None:
    # The newline is a write of its own: under PYTHONUNBUFFERED Python takes a write that a leaving reader cut short
    # for a whole one, and only the next write tells that nobody reads any more.
    click.echo(text, nl=False, color=colour)
    click.echo()


def _painted(text: str, role: Role, colour: bool) -> str:
    safe = visible(text)
    style = _STYLES.get(role)
    return style(safe) if colour and style and safe else safe
