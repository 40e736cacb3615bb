"""The option that names a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from tierdeck.promote.rules import RuleName
from tierdeck_tui.cli.begun import Begun

F = TypeVar("F", bound=Callable[..., Any])


def rule_option(function: F) -> F:
    """The option `--rule`, with the names of the rules."""
    about = "Only by this rule."
    return click.option("--rule", type=Begun(get_args(RuleName)), help=about)(function)
