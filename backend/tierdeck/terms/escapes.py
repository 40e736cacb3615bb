r"""Escape sequences of terminals, as pasted logs hold them: no part of a word for whoever reads the text. Pure.

FTS5's tokenizer drops the escape character and makes one word of the rest: `31merror` of `\x1b[31merror`. Commands
that end in a character of their own (titles, links) disturb no word.
"""

from __future__ import annotations

import re

# Colours also where the escape character was lost, or is spelled (`\u001b[31m`, `^[[31m`).
_COLOUR = r"\[[0-9]{1,3}(?:[;:][0-9]{1,3}){0,12}m"
# Those with a space in them move no text, and a space mostly ends what was cut off.
_SEQUENCE = r"\x1b(?:\[[0-?]*[!-/]*[@-~]|[!-/]+[0-~]|[0-Z\\^-~])|\x9b[0-?]*[!-/]*[@-~]"
_IN_TEXT = re.compile(f"{_SEQUENCE}|{_COLOUR}")
_TYPED = re.compile(_SEQUENCE)
# Category C and not ASCII: what stands beside it is looked for as glued to it.
_VEIL = "\x9c"


def veiled(text: str) -> str:
    """The text with another control character in place of each one of its escape sequences; as long as before."""
    return _IN_TEXT.sub(lambda match: _VEIL * len(match[0]), text)


def without_escapes(text: str) -> str:
    """The text with a space for each escape sequence that a terminal would take for one."""
    return _TYPED.sub(" ", text)
