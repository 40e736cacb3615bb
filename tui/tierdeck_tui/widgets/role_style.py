"""What the roles of a line's pieces look like in the theme of the moment.

As component classes of every widget that paints lines, thirteen roles made up most of what Textual did to restyle a
screen: 20 ms of the loop at each change of mode, 5 at each move of the focus. Here they are made once a theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.color import Color

from tierdeck_tui.view.line import Role

# A role's colour is a variable of the theme; roles that are not here have that of the text around them.
_COLOURS: Mapping[Role, str] = {
    "muted": "text-muted",
    "keyword": "keyword",
    "semantic": "semantic",
    "tier": "text-primary",
    "type": "text-secondary",
    "warning": "text-warning",
    "error": "text-error",
    "good": "text-success",
    "mark": "text-primary",
}
_BOLD: frozenset[Role] = frozenset({"strong", "match", "score", "error", "mark"})
_UNDERLINED: frozenset[Role] = frozenset({"match"})

RoleStyles = Mapping[Role, Style]


def role_styles(variables: Mapping[str, str]) -> RoleStyles:
    """The style of each role that looks otherwise than plain text; the same object for the same colours.

    Args:
        variables: the app's `theme_variables`.
    """
    return _styles_in(tuple(variables[name] for name in _COLOURS.values()))


def bare(style: Style) -> Style:
    """What is left of a role under the cursor: only bold and underline."""
    return Style(bold=style.bold, underline=style.underline)


@lru_cache(maxsize=8)
def _styles_in(colours: tuple[str, ...]) -> RoleStyles:
    painted = dict(zip(_COLOURS, colours, strict=True))
    return {role: _style(role, painted.get(role)) for role in dict.fromkeys([*_COLOURS, *sorted(_BOLD)])}


def _style(role: Role, colour: str | None) -> Style:
    return Style(
        color=Color.parse(colour).rich_color if colour else None,
        bold=True if role in _BOLD else None,
        underline=True if role in _UNDERLINED else None,
    )
