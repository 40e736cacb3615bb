"""What the Search screen says about its list: how much was found, what is degraded, what filters hide. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.errors import TierdeckError
from tierdeck.search.answer.hidden import ARCHIVE_RULE
from tierdeck.search.answer.hit import HiddenByFilter, MissingWord, SearchAnswer
from tierdeck.search.query.query import FilterChip
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import cut, visible

_MAX_QUERY_CELLS = 40
_MAX_WORD_CELLS = 20


def answer_status(answer: SearchAnswer) -> Line:
    """One line: how many of how many, words that stand nowhere, what is off and what to do about it, then notes."""
    found, shown = len(answer.candidates), len(answer.hits)
    is_cut = 0 < shown < found  # what was compared and comes to nothing at this balance is no hit
    number = f"{count(shown)} best of {count(found)}" if is_cut else counted(shown, "memory", "memories")
    pieces: list[Piece | str] = [Piece(number, "strong")]
    if answer.hits and answer.missing:  # first: a slip of the pen is what the operator can mend
        pieces.append(Piece(f" · {_missing_in_short(answer.missing)}", "warning"))
    if answer.degraded:
        pieces.append(Piece(f" · keyword only: {_safe(answer.degraded)}", "warning"))
    pieces += [Piece(f" · {_safe(note)}", "muted") for note in answer.notes]
    if answer.hits:  # in an empty list it stands there
        pieces += [Piece(f" · {hidden_sentence(hidden)}", "muted") for hidden in answer.hidden]
    pieces.append(Piece(f" · {answer.elapsed_ms:.0f} ms", "muted"))
    return line(*pieces)


def hidden_sentence(hidden: HiddenByFilter) -> str:
    """How many more memories would be found without one filter, or with the archive."""
    rows = f"{_least(hidden)}{count(hidden.rows)}"
    if hidden.filter_text == ARCHIVE_RULE:
        return f"the archive holds {rows} more ({ARCHIVE_RULE} shows them too)"
    return f"{_safe(hidden.filter_text)} hides {rows}"


def missing_sentence(missing: Sequence[MissingWord]) -> str:
    """Which words stand nowhere, and what may have been meant; empty for none."""
    said = [f"“{cut(_safe(one.word), _MAX_WORD_CELLS)}”{_near(one)}" for one in missing]
    return f"in no memory: {', '.join(said)}" if said else ""


def _near(missing: MissingWord) -> str:
    near = f"near: {_either(missing.near)}" if missing.near else ""
    hidden = f"near, but filtered out or archived: {_either(missing.hidden)}" if missing.hidden else ""
    said = "; ".join(part for part in (near, hidden) if part)
    return f" ({said})" if said else ""


def _either(words: Sequence[str]) -> str:
    return " or ".join(cut(_safe(word), _MAX_WORD_CELLS) for word in words)


def _missing_in_short(missing: Sequence[MissingWord]) -> str:
    """The same for a line that is shared: of the near words the nearest that is found."""
    said = [f"{cut(_safe(one.word), _MAX_WORD_CELLS)}{_perhaps(one)}" for one in missing]
    key = "  c takes it" if any(one.near for one in missing) else ""
    return f"in no memory: {', '.join(said)}{key}"


def _perhaps(missing: MissingWord) -> str:
    return f" ({cut(_safe(missing.near[0]), _MAX_WORD_CELLS)}?)" if missing.near else ""


def _missing_lines(missing: Sequence[MissingWord]) -> list[Line]:
    """Each word on a line of its own, and below it what may have been meant."""
    lines: list[Line] = []
    for one in missing:
        lines.append(line(f"  in no memory: “{cut(_safe(one.word), _MAX_WORD_CELLS)}”"))
        if one.near:
            lines.append(line("    near: ", Piece(_either(one.near), "strong")))
        if one.hidden:
            lines.append(line("    near, but filtered out or archived: ", Piece(_either(one.hidden), "strong")))
    return lines


def _least(hidden: HiddenByFilter) -> str:
    return "at least " if hidden.is_least else ""


def browse_status(total_rows: int, *, archived_rows: int, is_oldest_first: bool, notes: Sequence[str]) -> Line:
    """The line above a list that was not searched for: how many, in which order, how many the archive keeps."""
    order = "oldest first" if is_oldest_first else "newest first"
    pieces: list[Piece | str] = [
        Piece(counted(total_rows, "memory", "memories"), "strong"),
        Piece(f", {order}", "muted"),
    ]
    if archived_rows:
        pieces.append(Piece(f" · {count(archived_rows)} archived ({ARCHIVE_RULE} shows them)", "muted"))
    pieces += [Piece(f" · {_safe(note)}", "muted") for note in notes]
    return line(*pieces)


def searching_status(*, has_old_rows: bool) -> Line:
    """What is said while an answer lets wait for itself, and that the rows below are not its own."""
    old = " · until then the list is as it was" if has_old_rows else ""
    return line(Piece("searching…", "strong"), Piece(old, "muted"))


def error_status(error: TierdeckError) -> Line:
    """An error as an error, with what to do."""
    hint = f" · {_safe(error.hint)}" if error.hint else ""
    return line(Piece(f"error: {_safe(error.message)}", "error"), Piece(hint, "muted"))


def marked_piece(marked: int) -> Piece:
    """How many memories are marked; empty for none."""
    return Piece(f"✓ {count(marked)} marked · " if marked else "", "mark")


def chips_line(chips: Sequence[FilterChip]) -> Line:
    """The filters in force, each as it was typed, or how to set one."""
    if not chips:
        return line(Piece("no filter", "muted"))
    pieces: list[Piece | str] = []
    for chip in chips:
        pieces += [Piece(f"[{_safe(chip.text)}]", "mark"), " "]
    return line(*pieces)


def nothing_found(answer: SearchAnswer) -> list[Line]:
    """What stands in the empty list of a search: what was looked for, what filters hide, what to press."""
    asked = cut(_safe(answer.query.words_text), _MAX_QUERY_CELLS)
    if answer.store_rows == 0:
        return _empty_store()
    lines = [line(""), line("  Nothing found for ", Piece(f"“{asked}”", "strong"))]
    if answer.missing:
        lines += _missing_lines(answer.missing)
        if any(one.near or one.hidden for one in answer.missing):
            lines.append(line(Piece("  c looks for what is near instead", "muted")))
    if answer.hidden:
        lines.append(line(""))
        for number, hidden in enumerate(sorted(answer.hidden, key=lambda one: -one.rows)):
            lines.append(line("  ", *_hiding(hidden, is_first=number == 0)))
    elif answer.query.chips:
        lines += [line(""), line("  also not with any one filter dropped")]
        lines.append(line(Piece("  x drops the last filter, esc clears the query", "muted")))
    if answer.degraded:
        lines += [line(""), line(Piece(f"  keyword only: {_safe(answer.degraded)}", "warning"))]
    elif not answer.hidden and not answer.query.chips and not answer.missing and answer.alpha == 0:
        lines.append(line(Piece("  no memory holds these words; ] looks for their meaning too", "muted")))
    return lines


def nothing_to_browse(chips: Sequence[FilterChip], archived_rows: int = 0) -> list[Line]:
    """What stands in the empty list when nothing was asked for."""
    if archived_rows:
        what = "All that passes " if chips else "All that the store holds "
        shown = chips_line(chips) if chips else ()
        hint = line(Piece(f"  type {ARCHIVE_RULE} to see {counted(archived_rows, 'memory', 'memories')}", "muted"))
        return [line(""), line("  ", what, *shown, "is archived."), hint]
    if not chips:
        return _empty_store()
    lines = [line(""), line("  No memory passes ", *chips_line(chips))]
    return [*lines, line(Piece("  x drops the last filter, esc all of them", "muted"))]


def _hiding(hidden: HiddenByFilter, *, is_first: bool) -> list[Piece | str]:
    if hidden.filter_text == ARCHIVE_RULE:
        number = counted(hidden.rows, "match", "matches")
        return [
            f"the archive holds {_least(hidden)}{number}",
            Piece("  x shows them" if is_first else "", "strong"),
        ]
    number = counted(hidden.rows, "memory", "memories")
    name = Piece(_safe(hidden.filter_text), "mark")
    return [name, f" hides {_least(hidden)}{number}", Piece("  x drops it" if is_first else "", "strong")]


def _empty_store() -> list[Line]:
    return [
        line(""),
        line("  The store holds no memory yet."),
        line(Piece("  `tierdeck add` adds one, `tierdeck import` brings many", "muted")),
    ]


def _safe(text: str) -> str:
    return visible(text, one_line=True)
