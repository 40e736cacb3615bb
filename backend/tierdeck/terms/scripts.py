"""Where one script ends and another begins inside a word: whoever reads the text sees two words there. Pure.

FTS5's tokenizer makes one word of `文件存到S3上`, of `APIключ`, and of `done🤖`.
"""

from __future__ import annotations

import re
import unicodedata

from tierdeck.terms.words import is_letter

_UNSPACED_CHARS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Scripts whose runs of letters are no words: Thai to Khmer, kana, Han, Hangul (whose particles cling to words).
UNSPACED = re.compile(f"[{_UNSPACED_CHARS}]+")
# Latin letters and the digits of all who write with them.
_LATIN_CHARS = "\x00-\u024f\u1e00-\u1eff"
_LAST_OF_MOST_LATIN = "\u024f"
_DIACRITICS = "\u0300-\u036f"  # ride on the letter before
_LATIN, _OTHER = re.compile(f"[{_LATIN_CHARS}]"), f"[^{_LATIN_CHARS}{_UNSPACED_CHARS}{_DIACRITICS}]"
_RUN = re.compile(
    "|".join(f"(?:{one}[{_DIACRITICS}]*)+" for one in (f"[{_LATIN_CHARS}]", f"[{_UNSPACED_CHARS}]", _OTHER))
)


def script_runs(word: str) -> list[str]:
    """A word's runs of one script, in order: `v2以後` is v2, 以後."""
    return [word] if word.isascii() else _RUN.findall(word)


def changes_script(before: str, after: str) -> bool:
    """Whether two letters that stand side by side are of two scripts."""
    if before <= _LAST_OF_MOST_LATIN and after <= _LAST_OF_MOST_LATIN:
        return False
    return _script(before) != _script(after)


def is_run_edge(text: str, at: int) -> bool:
    """Whether a run of one script may begin or end before that character."""
    if at <= 0 or at >= len(text):
        return True
    if "\u0300" <= text[at] <= "\u036f":
        return not _letter_before(text, at)
    return not is_letter(text[at]) or not (before := _letter_before(text, at)) or changes_script(before, text[at])


def is_glued(text: str, start: int, end: int) -> bool:
    """Whether a run touches what unicode61 takes for more of the same word, and a reader does not."""
    before = _letter_before(text, start) if start else ""
    after = text[end] if end < len(text) else ""
    return bool(
        (before and changes_script(before, text[start]))
        or (after and is_letter(after) and changes_script(text[start], after))
        or is_odd(text, start - 1)
        or is_odd(text, end)
    )


def is_odd(text: str, at: int) -> bool:
    """Whether there stands a character that unicode61, knowing Unicode 6.1 only, may take for a letter."""
    if not 0 <= at < len(text) or text[at].isascii() or is_letter(text[at]):
        return False
    return unicodedata.category(text[at])[0] in "SCM"


def goes_on(text: str, at: int) -> bool:
    """Whether the letters on both sides of a place are of one word and one script."""
    before, after = text[at - 1], text[at]
    return is_letter(before) and is_letter(after) and not changes_script(before, after)


def _letter_before(text: str, at: int) -> str:
    """The letter that stands there, or under the diacritics there; empty when none does."""
    while at > 1 and "\u0300" <= text[at - 1] <= "\u036f":
        at -= 1
    return text[at - 1] if is_letter(text[at - 1]) else ""


def _script(char: str) -> str:
    return "latin" if _LATIN.match(char) else "unspaced" if UNSPACED.match(char) else "other"
