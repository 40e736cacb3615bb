"""Everything a key can do, in one table.

Bindings, the footer, the palette, the help screen and the README's key table are all made from `ACTIONS`, so that
none of them can promise what another denies. An action's `id` is the name of the method that does it
(`action_<id>`) on the app, on a screen or on the list, and the name under which the settings file changes its keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from textual.binding import Binding

from tierdeck.errors import ConfigError
from tierdeck_tui.keys import DELIVERABLE_KEYS, key_name, key_text

Scope = Literal[
    "app", "list", "panes", "memories", "search", "promotions", "checkpoints", "overview", "dialog", "form"
]

# Two actions can answer to one key only where they are never live together.
_LIVE_TOGETHER: Mapping[Scope, frozenset[Scope]] = {
    "app": frozenset({"app", "list", "panes", "memories", "search", "promotions", "checkpoints", "overview"}),
    "list": frozenset({"app", "list", "panes", "memories", "search", "promotions", "checkpoints"}),
    "panes": frozenset({"app", "list", "panes", "memories", "search", "promotions", "checkpoints"}),
    "memories": frozenset({"app", "list", "panes", "memories", "search", "promotions"}),
    "search": frozenset({"app", "list", "panes", "memories", "search"}),
    "promotions": frozenset({"app", "list", "panes", "memories", "promotions"}),
    "checkpoints": frozenset({"app", "list", "panes", "checkpoints"}),
    "overview": frozenset({"app", "overview"}),
    "dialog": frozenset({"dialog"}),
    "form": frozenset({"form"}),
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a key does.

    `label` is the footer's word, `tooltip` a sentence for palette and help. `rank` orders the footer, smallest
    first; 0 keeps it out. `is_priority` wins over a focused text box.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    tooltip: str
    group: str
    writes: bool = False
    screen: Scope = "app"
    rank: int = 0
    in_palette: bool = True
    is_priority: bool = False


ACTIONS: tuple[Action, ...] = (
    Action("mode_search", ("1", "f1"), "search", "Search the memories by word and by meaning", "Screens"),
    Action("mode_promotions", ("2", "f2"), "promotions", "What moves between the tiers, and why", "Screens"),
    Action("mode_checkpoints", ("3", "f3"), "checkpoints", "Saved sessions: look inside, and restore", "Screens"),
    Action("mode_overview", ("4", "f4"), "overview", "What the store holds and how it is doing", "Screens"),
    Action(
        "focus_query", ("slash",), "query", "Go to the query box", "Search", screen="search", rank=10
    ),
    Action("open_row", ("enter",), "open", "Open the row under the cursor", "List", screen="list", rank=20,
           in_palette=False),
    Action("cursor_down", ("j", "down"), "down", "One row down", "List", screen="list", in_palette=False),
    Action("cursor_up", ("k", "up"), "up", "One row up", "List", screen="list", in_palette=False),
    Action("cursor_first", ("g", "home"), "first", "To the first row", "List", screen="list", in_palette=False),
    Action("cursor_last", ("G", "end"), "last", "To the last row", "List", screen="list", in_palette=False),
    Action("page_down", ("ctrl+d", "pagedown"), "page down", "Half a page down", "List", screen="list",
           in_palette=False),
    Action("page_up", ("ctrl+u", "pageup"), "page up", "Half a page up", "List", screen="list", in_palette=False),
    Action("toggle_mark", ("space",), "mark", "Mark the row under the cursor", "List", screen="list", rank=90),
    Action("alpha_down", ("[",), "words", "More weight on the words", "Search", screen="search", rank=31),
    Action("alpha_up", ("]",), "meaning", "More weight on the meaning", "Search", screen="search", rank=32),
    Action("set_alpha", ("a",), "alpha", "Go to the balance; ← and → move it", "Search", screen="search", rank=33),
    Action("edit_filters", ("f",), "filters", "Choose filters in a form", "Search", screen="search", rank=40),
    Action("change_sort", ("s",), "sort", "Change the order of the list", "Search", screen="search", rank=80),
    Action("drop_filter", ("x",), "drop filter", "Drop the filter that hides most", "Search", screen="search"),
    Action("take_near", ("c",), "near word", "Take the near word for one that is nowhere",
           "Search", screen="search"),
    Action("next_match", ("w",), "next match", "The next place in the memory that holds words asked for",
           "Search", screen="search"),
    Action("previous_match", ("W",), "match before", "The place before that holds words asked for", "Search",
           screen="search"),
    Action("back_relation", ("backspace",), "back", "Back from a relation that was followed", "Search",
           screen="search", in_palette=False),
    Action("override", ("p",), "override", "Move memories to any tier, with a reason", "Memories", writes=True,
           screen="memories", rank=46),
    Action("hold", ("h",), "hold", "Hold memories where they are, or release them", "Memories", writes=True,
           screen="memories", rank=47),
    Action("undo", ("u",), "undo", "Take back the last change made here, then the memory's", "Memories",
           writes=True, screen="memories", rank=48),
    Action("log", ("l",), "log", "What happened to the memory, in the promotion log", "Memories",
           screen="memories", rank=49),
    Action("edit", ("e",), "edit", "Edit the memory", "Memories", writes=True, screen="memories", rank=82),
    Action("archive", ("A",), "archive", "Move the memory, or the marked ones, to the archive", "Memories",
           writes=True, screen="memories", rank=83),
    Action("restore", ("R",), "restore", "Move archived memories back to longterm", "Memories", writes=True,
           screen="memories", rank=84),
    Action("copy", ("y",), "copy", "Copy the id, the text, JSON or the command", "Memories", screen="memories",
           rank=52),
    Action("reveal", ("m",), "secrets", "Show what is masked as a secret, and mask it again", "Panes",
           screen="panes", rank=95),
    Action("next_pane", ("tab",), "pane", "Go to the next pane", "Panes", screen="panes", rank=60,
           in_palette=False),
    Action("zoom", ("z",), "zoom", "Give the whole screen to one pane, and back", "Panes", screen="panes",
           rank=55),
    Action("next_section", ("n",), "next section", "The next section of the pane", "Panes", screen="panes"),
    Action("previous_section", ("N",), "section before", "The section of the pane before", "Panes",
           screen="panes"),
    Action("back", ("escape",), "back", "One step back: pane, marks, filter, words", "Panes",
           screen="panes", rank=70, in_palette=False),
    Action("approve", ("a",), "approve", "Move candidates as the rules say, in your name", "Promotions",
           writes=True, screen="promotions", rank=11),
    Action("dismiss_candidate", ("d",), "dismiss", "Leave candidates until there is new evidence", "Promotions",
           writes=True, screen="promotions", rank=41),
    Action("sweep", ("S",), "sweep", "Show what the rules would move now, then apply it", "Promotions",
           screen="promotions", rank=30),
    Action("next_tab", ("]", "right"), "tab", "Candidates, Near, Log, Runs, Held: the next", "Promotions",
           screen="promotions", rank=15),
    Action("previous_tab", ("[", "left"), "tab before", "Candidates, Near, Log, Runs, Held: the one before",
           "Promotions", screen="promotions"),
    Action("open_memory", ("o",), "in search", "Show the memory on the Search screen", "Promotions",
           screen="promotions", rank=50),
    Action("filter_rows", ("f",), "filter", "Choose which rows to list", "Promotions",
           screen="promotions", rank=53),
    Action("drop_row_filter", ("x",), "drop filter", "List all rows again", "Promotions", screen="promotions"),
    Action("verify_log", ("v",), "verify", "Check that no row of the log was changed or lost", "Promotions",
           screen="promotions", rank=51),
    Action("restore_checkpoint", ("R",), "restore", "Show what a restore would do: fork or rewind; then do it",
           "Checkpoints", writes=True, screen="checkpoints", rank=11),
    Action("diff_checkpoints", ("d",), "diff", "What changed between two marked checkpoints", "Checkpoints",
           screen="checkpoints", rank=40),
    Action("verify_checkpoints", ("v",), "verify", "Check that checkpoints are as they were written", "Checkpoints",
           screen="checkpoints", rank=41),
    Action("verify_deep", ("V",), "verify deep", "Decode all of it too, in a process of its own", "Checkpoints",
           screen="checkpoints"),
    Action("label_checkpoint", ("l",), "label", "Give the checkpoint a label, or take it away", "Checkpoints",
           writes=True, screen="checkpoints", rank=46),
    Action("pin_checkpoint", ("p",), "pin", "Keep checkpoints from being cleared away, or release them",
           "Checkpoints", writes=True, screen="checkpoints", rank=47),
    Action("prune_session", ("X",), "prune", "Show what retention would clear away, then do it", "Checkpoints",
           writes=True, screen="checkpoints", rank=48),
    Action("open_trash", ("x",), "trash", "List the session's trash, put back from it, or empty it", "Checkpoints",
           screen="checkpoints", rank=50),
    Action("put_back", ("u",), "put back", "Put back what was cleared away here", "Checkpoints", writes=True,
           screen="checkpoints", rank=49),
    Action("checkpoint_now", ("c",), "save now", "Ask a running agent for a checkpoint at the end of its turn",
           "Checkpoints", writes=True, screen="checkpoints", rank=51),
    Action("take_back", ("t",), "take back", "Take back what a running agent was asked for", "Checkpoints",
           writes=True, screen="checkpoints"),
    Action("copy_checkpoint", ("y",), "copy", "Copy the path, the id or a command", "Checkpoints",
           screen="checkpoints", rank=52),
    Action("expand", ("right",), "open session", "List the session's checkpoints; in the pane: next section",
           "Checkpoints", screen="checkpoints", in_palette=False),
    Action("collapse", ("left",), "to session", "To the session, there close it; in the pane: section before",
           "Checkpoints", screen="checkpoints", in_palette=False),
    Action("open_line", ("enter",), "open", "Open the Search screen with this filter", "Overview",
           screen="overview", rank=20, in_palette=False),
    Action("line_down", ("j", "down"), "down", "One line down", "Overview", screen="overview", in_palette=False),
    Action("line_up", ("k", "up"), "up", "One line up", "Overview", screen="overview", in_palette=False),
    Action("next_card", ("tab",), "next card", "Go to the next card", "Overview", screen="overview", rank=30,
           in_palette=False),
    Action("reload", ("r",), "reload", "Read the store again", "Everywhere", rank=65),
    Action("change_theme", ("T",), "theme", "Next theme: dark, light, the terminal's own colours", "Everywhere"),
    Action("help", ("?",), "more", "All keys", "Everywhere", rank=1),
    Action("palette", ("ctrl+p",), "palette", "Find an action by name", "Everywhere", rank=75, in_palette=False),
    Action("quit", ("q",), "quit", "Leave tierdeck", "Everywhere", rank=5),
    Action("quit_now", ("ctrl+q",), "quit", "Leave tierdeck, from anywhere", "Everywhere", in_palette=False,
           is_priority=True),
    Action("interrupt", ("ctrl+c",), "quit", "Copy what is selected; twice: leave tierdeck", "Everywhere",
           in_palette=False, is_priority=True),
    Action("suspend", ("ctrl+z",), "suspend", "Go back to the shell; `fg` returns", "Everywhere"),
    Action("press", ("enter", "space"), "press", "Press the button that has the focus", "Dialogs", screen="dialog",
           in_palette=False),
    Action("next_button", ("tab", "right", "down"), "next", "To the next button", "Dialogs", screen="dialog",
           in_palette=False),
    Action("previous_button", ("shift+tab", "left", "up"), "previous", "To the button before", "Dialogs",
           screen="dialog", in_palette=False),
    Action("text_down", ("pagedown", "ctrl+d"), "more", "Scroll the dialog's text down", "Dialogs",
           screen="dialog", in_palette=False),
    Action("text_up", ("pageup", "ctrl+u"), "less", "Scroll the dialog's text up", "Dialogs",
           screen="dialog", in_palette=False),
    Action("cancel", ("escape",), "cancel", "Close without doing anything", "Dialogs", screen="dialog",
           in_palette=False),
    Action("submit_form", ("ctrl+s", "enter"), "go on", "Take what the form says", "Forms", screen="form",
           in_palette=False),
    Action("leave_form", ("escape",), "cancel", "Close the form without doing anything", "Forms", screen="form",
           in_palette=False),
)  # fmt: skip

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def bindings_for(*scopes: Scope) -> list[Binding]:
    """The Textual bindings of these scopes, in the table's order; each carries the action's id and tooltip."""
    return [_binding(action) for action in ACTIONS if action.screen in scopes]


def keys_of(action: Action, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """The keys that an action answers to, by Textual's names, with the settings file's changes applied."""
    written = _split(keymap[action.id]) if action.id in keymap else action.keys
    return tuple(key_name(key) for key in written)


def checked_keymap(keymap: Mapping[str, str]) -> dict[str, str]:
    """The settings file's keys by action id, checked and in Textual's names.

    Args:
        keymap: action id to keys, several parted by commas; the comma itself is written `comma`.

    Raises:
        ConfigError: an unknown id, a key that no terminal multiplexer delivers, or one key for two actions that
            are live together.
    """
    for name, written in keymap.items():
        if name not in BY_ID:
            raise ConfigError(
                f"read [console.keymap]: there is no action {name!r}",
                hint=f"{_meant(name)}the ids are in the README's key table, and in the console's own (?)",
            )
        if not _split(written):
            raise ConfigError(f"read [console.keymap]: {name} has no key", hint="leave it out to keep its own")
        for key in _split(written):
            if key_name(key) not in DELIVERABLE_KEYS:
                raise ConfigError(
                    f"read [console.keymap]: {name} = {key!r}: terminals and tmux do not deliver this key",
                    hint="take a letter, digit or sign, f1 to f12, or ctrl with a letter but a, b, h, i, j, m",
                )
    for first, second, key in _clashes(keymap):
        raise ConfigError(
            f"read [console.keymap]: {key_text(key)!r} is asked for by {first.id} and by {second.id}",
            hint="give one of them another key there; the console's key table (?) shows which are taken",
        )
    return {name: ",".join(keys_of(BY_ID[name], keymap)) for name in keymap}


def key_table_markdown() -> str:
    """The README's key table, one row an action, grouped as the help screen is."""
    rows = ["| keys | what it does | where | id |", "|---|---|---|---|"]
    for group, actions in grouped():
        for action in actions:
            keys = " ".join(f"`{_escape_pipe(key_text(key))}`" for key in keys_of(action, {}))
            rows.append(f"| {keys} | {action.tooltip} | {group} | `{action.id}` |")
    return "\n".join(rows) + "\n"


def grouped(*scopes: Scope) -> Iterator[tuple[str, list[Action]]]:
    """The actions of these scopes (all when none is named) by group, in the table's order."""
    groups: dict[str, list[Action]] = {}
    for action in ACTIONS:
        if not scopes or action.screen in scopes:
            groups.setdefault(action.group, []).append(action)
    yield from groups.items()


def _binding(action: Action) -> Binding:
    return Binding(
        ",".join(keys_of(action, {})),
        action.id,
        action.label,
        tooltip=action.tooltip,
        id=action.id,
        show=action.rank > 0,
        priority=action.is_priority,
    )


def _split(written: str) -> list[str]:
    return [key.strip() for key in written.split(",") if key.strip()]


def _meant(name: str) -> str:
    near = get_close_matches(name, BY_ID, n=3)
    return f"perhaps {' or '.join(near)}; " if near else ""


def _clashes(keymap: Mapping[str, str]) -> Iterator[tuple[Action, Action, str]]:
    for index, first in enumerate(ACTIONS):
        for second in ACTIONS[index + 1 :]:
            if second.screen in _LIVE_TOGETHER[first.screen]:
                for key in set(keys_of(first, keymap)) & set(keys_of(second, keymap)):
                    yield first, second, key


def _escape_pipe(text: str) -> str:
    return text.replace("|", "\\|")
