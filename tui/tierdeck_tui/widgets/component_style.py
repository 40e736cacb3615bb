"""The look of a part of a widget, as the style sheet has it."""

from __future__ import annotations

from textual.style import Style
from textual.widget import Widget

REVERSE = Style(reverse=True)


def component_style(widget: Widget, name: str) -> Style:
    """The style of a component class, reverse video too.

    `get_visual_style` of Textual 8.2 leaves reverse out, and with the terminal's own colours, or with NO_COLOR,
    reverse is all that shows a cursor.
    """
    style = widget.get_visual_style(name)
    return style + REVERSE if widget.get_component_styles(name).text_style.reverse else style
