"""The one way from somebody else's text to the terminal.

A memory is whatever an agent wrote down, and terminals obey what they are shown: `ESC ]52` writes the paste buffer,
`ESC ]0` the title, C1 bytes do the same without ESC, a bidi override makes a line read backwards, and zero-width
and tag characters hide text inside text. Everything of that kind becomes a visible sign; what is left has the width
that it seems to have. The console and the plain command line both go through here; JSON output does not (it escapes
losslessly by itself).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len

ELLIPSIS = "…"
# The longest sequences in use join four people; what joins more is no emoji but a place to hide things in.
_MAX_JOINS = 5
# Marks beyond this on one base are a smear over the neighbouring lines, and would make a row of any length.
_MAX_CLUSTER_CHARS = 24

_PICTOGRAPH = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_SKIN_TONE = "[\U0001f3fb-\U0001f3ff]"
_PRESENTATION = "[\ufe0e\ufe0f]"
_ELEMENT = f"{_PICTOGRAPH}{_PRESENTATION}?{_SKIN_TONE}?"
_EMOJI = f"{_ELEMENT}(?:\u200d{_ELEMENT}){{0,{_MAX_JOINS}}}|[0-9#*]\ufe0f\u20e3?"

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(chr(p * 0x10000 + 0xFFFE) + chr(p * 0x10000 + 0xFFFF) for p in range(17))
# Control, format, default-ignorable and separator characters, lone surrogates, noncharacters; of the format
# characters not the few that are drawn (Arabic number signs and their like).
_UNSAFE = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff" + _NONCHARACTERS
)
_ANY_UNSAFE = re.compile(f"[{_UNSAFE}]")
_ANY_UNSAFE_BUT_LAYOUT = re.compile(f"(?![\t\n])[{_UNSAFE}]")
_TOKEN = re.compile(f"(?P<emoji>{_EMOJI})|\r\n|[{_UNSAFE}]")
# Terminals disagree whether these widen their base (tmux 3.3: never; kitty: always), and one cell of disagreement
# moves everything to the right of it: a row does without them.
_WIDENERS = re.compile(f"{_PRESENTATION}|{_SKIN_TONE}")


def visible(text: str, *, one_line: bool = False) -> str:
    """The text with every character that a terminal would obey or hide turned into a sign that can be seen.

    C0 controls and DEL become control pictures (`␛`), C1, bidi, zero-width, tag and other invisible characters and
    lone surrogates their code (`‹202E›`). A zero-width joiner stays only inside an emoji sequence. The result
    encodes as UTF-8, and `visible(visible(x)) == visible(x)`. Linear time.

    Args:
        text: anything, of any length.
        one_line: newlines become `⏎`, tabs `⇥`, and emoji lose presentation selectors and skin tones, whose width
            terminals disagree on. Otherwise newlines and tabs stay, and CRLF becomes a newline.
    """
    unsafe = _ANY_UNSAFE if one_line else _ANY_UNSAFE_BUT_LAYOUT
    if unsafe.search(text) is None:
        return text
    return _TOKEN.sub(_row_sign if one_line else _body_sign, text)


def cut(text: str, cells: int) -> str:
    """As much of the start of `text` as fits into `cells` terminal cells, `…` last when something was left out.

    Never ends inside a character cluster (an accent, an emoji sequence, a flag). Reads only what it returns and a
    little more, so a long text costs no more than a short one.
    """
    if cells <= 0:
        return ""
    if len(text) <= cells and text.isascii():
        return text
    kept: list[str] = []
    used = end_before_ellipsis = 0
    for cluster, width in clusters(text):
        if used + width > cells:
            return "".join(kept[:end_before_ellipsis]) + ELLIPSIS
        kept.append(cluster)
        used += width
        if used < cells:
            end_before_ellipsis = len(kept)
    return "".join(kept)


def pad(text: str, cells: int) -> str:
    """`text` cut or filled with spaces to exactly `cells` terminal cells."""
    short = cut(text, cells)
    return short + " " * (cells - cell_len(short))


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """The text's character clusters, each with its width in cells; marks beyond 24 characters are left out."""
    start, chars = 0, len(text)
    while start < chars:
        end = _cluster_end(text, start)
        cluster = text[start : min(end, start + _MAX_CLUSTER_CHARS)]
        yield cluster, cell_len(cluster)
        start = end


def _cluster_end(text: str, start: int) -> int:
    end, chars = start + 1, len(text)
    if _is_flag_letter(text[start]) and end < chars and _is_flag_letter(text[end]):
        end += 1
    while end < chars:
        char = text[end]
        if char == "\u200d":
            end += 2  # the joined character belongs to it
        elif (char > "\u02ff" and cell_len(char) == 0) or _SKIN_TONE_CHAR.match(char) or _is_conjunct(text, end):
            end += 1
        else:
            break
    return min(end, chars)


_SKIN_TONE_CHAR = re.compile(_SKIN_TONE)


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_conjunct(text: str, at: int) -> bool:
    """Whether the consonant here hangs on the virama before it, as in Devanagari क्ष."""
    char = text[at]
    return char >= "\u0900" and unicodedata.combining(text[at - 1]) == 9 and unicodedata.category(char) == "Lo"


def _row_sign(found: re.Match[str]) -> str:
    if found["emoji"]:
        return _WIDENERS.sub("", found[0])
    if found[0] in ("\n", "\r\n"):
        return "⏎"
    return "⇥" if found[0] == "\t" else _sign(found[0])


def _body_sign(found: re.Match[str]) -> str:
    if found["emoji"] or found[0] in "\t\n":
        return found[0]
    return "\n" if found[0] == "\r\n" else _sign(found[0])


def _sign(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹{code:04X}›"
