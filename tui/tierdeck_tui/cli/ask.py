"""Questions before what can't be taken back, or costs money. Without a terminal nothing is guessed."""

from __future__ import annotations

import click

from tierdeck.errors import InvalidValueError
from tierdeck_tui.cli.terminal import is_interactive
from tierdeck_tui.view.sanitise import visible


def confirm(doing: str, question: str, *, is_sure: bool, flag: str = "--yes") -> None:
    """Go on only when the operator said yes, by the flag or at the prompt; the answer by Enter alone is no.

    Args:
        doing: the beginning of the error's message, "purge memories".
        is_sure: whether the flag was given.

    Raises:
        InvalidValueError: nobody can be asked and the flag was not given.
        click.Abort: the answer was no.
    """
    if is_sure:
        return
    _need_terminal(doing, flag)
    click.confirm(visible(question), default=False, abort=True, err=True)


def confirm_by_typing(doing: str, question: str, answer: str, *, is_sure: bool, flag: str) -> None:
    """Go on only when the operator typed `answer`, or gave the flag; raises as `confirm` does."""
    if is_sure:
        return
    _need_terminal(doing, flag)
    typed = click.prompt(visible(question), default="", show_default=False, err=True)
    if typed.strip() != answer:
        raise click.Abort


def _need_terminal(doing: str, flag: str) -> None:
    if not is_interactive():
        raise InvalidValueError(
            f"{doing}: it asks before it goes on, and there is no terminal to ask at; nothing was changed",
            hint=f"pass {flag} when you are sure",
        )
