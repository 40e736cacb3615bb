"""The three looks: dark, light, and the terminal's own colours.

Every colour of ours is named here and nowhere else; a test holds each that is read on a background to a contrast of
4.5. Textual's own defaults fail that ($text-muted is 60 % of a colour, $accent equals $warning). With NO_COLOR the
ansi look is taken, whose cursor and selection are reverse video: Textual turns the others into greys that still
paint backgrounds.
"""

from __future__ import annotations

from textual.theme import Theme as TextualTheme

from tierdeck.config import Theme

THEME_NAMES: tuple[Theme, ...] = ("dark", "light", "ansi")


def textual_name(theme: Theme) -> str:
    """The name under which the look is registered with Textual."""
    return f"tierdeck-{theme}"


DARK = TextualTheme(
    name=textual_name("dark"),
    dark=True,
    primary="#6cb6ff",
    secondary="#7ee0c3",
    accent="#c9a6ff",
    warning="#f2c14e",
    error="#ff8f8f",
    success="#8fd68a",
    foreground="#e6e9ef",
    background="#14171d",
    surface="#1b1f27",
    panel="#252b36",
    variables={
        "text": "#e6e9ef",
        "text-muted": "#a6b0c0",
        "text-disabled": "#8d97a8",
        "foreground-muted": "#a6b0c0",
        "foreground-disabled": "#8d97a8",
        "text-primary": "#8cc6ff",
        "text-secondary": "#7ee0c3",
        "text-accent": "#d3b8ff",
        "text-warning": "#f2c14e",
        "text-error": "#ff9f9f",
        "text-success": "#9ade95",
        "keyword": "#6cb6ff",
        "semantic": "#f2c14e",
        "border": "#6cb6ff",
        "border-blurred": "#4a5468",
        "block-cursor-foreground": "#0d1117",
        "block-cursor-background": "#6cb6ff",
        "block-cursor-blurred-foreground": "#e6e9ef",
        "block-cursor-blurred-background": "#34405a",
        "block-hover-background": "#252b36",
        "input-cursor-background": "#e6e9ef",
        "input-cursor-foreground": "#14171d",
        "input-selection-background": "#34405a",
        "screen-selection-background": "#34405a",
        "screen-selection-foreground": "#e6e9ef",
        "button-foreground": "#e6e9ef",
        "button-color-foreground": "#0d1117",
        "button-focus-text-style": "bold",
        "scrollbar": "#4a5468",
        "scrollbar-hover": "#66738c",
        "scrollbar-active": "#6cb6ff",
        "scrollbar-background": "#1b1f27",
        "scrollbar-background-hover": "#1b1f27",
        "scrollbar-background-active": "#1b1f27",
        "scrollbar-corner-color": "#1b1f27",
        "header-mode-foreground": "#0d1117",
        "header-mode-background": "#6cb6ff",
    },
)

LIGHT = TextualTheme(
    name=textual_name("light"),
    dark=False,
    primary="#0b57a4",
    secondary="#00665a",
    accent="#6a3fb0",
    warning="#7a5200",
    error="#b3261e",
    success="#1d6b2f",
    foreground="#1b1f27",
    background="#fbfbf9",
    surface="#f3f3ef",
    panel="#e6e7e2",
    variables={
        "text": "#1b1f27",
        "text-muted": "#4d5563",
        "text-disabled": "#596170",
        "foreground-muted": "#4d5563",
        "foreground-disabled": "#596170",
        "text-primary": "#0b57a4",
        "text-secondary": "#00665a",
        "text-accent": "#6a3fb0",
        "text-warning": "#7a5200",
        "text-error": "#b3261e",
        "text-success": "#1d6b2f",
        "keyword": "#0b57a4",
        "semantic": "#7a5200",
        "border": "#0b57a4",
        "border-blurred": "#a9adb5",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#0b57a4",
        "block-cursor-blurred-foreground": "#1b1f27",
        "block-cursor-blurred-background": "#cfdcec",
        "block-hover-background": "#e6e7e2",
        "input-cursor-background": "#1b1f27",
        "input-cursor-foreground": "#fbfbf9",
        "input-selection-background": "#cfdcec",
        "screen-selection-background": "#cfdcec",
        "screen-selection-foreground": "#1b1f27",
        "button-foreground": "#1b1f27",
        "button-color-foreground": "#ffffff",
        "button-focus-text-style": "bold",
        "scrollbar": "#a9adb5",
        "scrollbar-hover": "#7d838d",
        "scrollbar-active": "#0b57a4",
        "scrollbar-background": "#f3f3ef",
        "scrollbar-background-hover": "#f3f3ef",
        "scrollbar-background-active": "#f3f3ef",
        "scrollbar-corner-color": "#f3f3ef",
        "header-mode-foreground": "#ffffff",
        "header-mode-background": "#0b57a4",
    },
)

ANSI = TextualTheme(
    name=textual_name("ansi"),
    dark=True,
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_cyan",
    accent="ansi_magenta",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        # Textual's own style sheets ask for these two and only its own ansi themes have them.
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "text-muted": "ansi_default",
        "foreground-muted": "ansi_default",
        "keyword": "ansi_cyan",
        "semantic": "ansi_yellow",
        "border": "ansi_cyan",
        "border-blurred": "ansi_default",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-text-style": "underline",
        "input-cursor-text-style": "reverse",
        "button-focus-text-style": "reverse bold",
        "header-mode-foreground": "ansi_default",
        "header-mode-background": "ansi_default",
    },
)

THEMES = (DARK, LIGHT, ANSI)
