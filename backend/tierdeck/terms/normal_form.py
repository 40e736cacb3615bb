"""Words that are written with other characters and read as the same: each text has one normal form. Pure.

FTS5's tokenizer compares characters, so that a name as macOS writes it (`한` in three characters, `й` in two) is
not found by what a keyboard types, nor `Ｒｅｄｉｓ` by `Redis`, `ｶﾀｶﾅ` by `カタカナ`, or `שָׁלוֹם` by the word without
points. Only letters and digits are brought to the normal form: full-width commas stand in every Chinese text, and
end a word as others do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

# Letters and digits of another width, ligatures, letters of formulas, the shapes that Arabic letters take, Roman
# numbers, doubled Han. Not raised or circled ones, nor fractions: `10²` is not read as `102`. Nor single Korean
# letters (`ㅋㅋ`) and Thai `ำ`, of which whole texts would change for nothing.
_COMPATIBLE = (
    "\u00b5\u0132\u0133\u013f\u0140\u0149\u017f\u01c4-\u01cc\u01f1-\u01f3\u0374\u037a\u03d0-\u03d6\u03f0-\u03f2"
    "\u03f4\u03f5\u03f9\u0587\u0675-\u0678\u0958-\u095f\u09dc-\u09df\u0a33\u0a36\u0a59-\u0a5e\u0b5c\u0b5d"
    "\u0edc\u0edd\u0f43-\u0f69\u1e9a\u1e9b\u1f71-\u1ffb\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126"
    "\u2128\u212a-\u212d\u212f-\u2139\u213c-\u213f\u2145-\u2149\u2160-\u217f\u3038-\u303a\u309f\u30ff"
    "\uf900-\ufad9\ufb00-\ufdfb\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f"
    "\U0001d400-\U0001d7ff\U0001ee00-\U0001eebb\U0001fbf0-\U0001fbf9\U0002f800-\U0002fa1d"
)
# What is read with the letter before it, and makes one character with it.
_JOINED = (
    "\u0300-\u036f\u093c\u09bc\u09be\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e"
    "\u0d57\u0dca\u0dcf\u0ddf\u102e\u1b35\u3099\u309a\uff9e\uff9f"
)
# What is left out where a word is typed: points of Hebrew and Arabic, the stroke that draws Arabic words out, soft
# hyphens and their like, and which variant of a character is drawn.
_DROPPED = (
    "\u00ad\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff\u2060\ufe00-\ufe0d\ufeff"
    "\U000e0100-\U000e01ef"
)
_SYLLABLE = "[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[\uac00-\ud7a3][\u11a8-\u11ff]"
_CLUSTER = re.compile(f"(?:{_SYLLABLE})[{_JOINED}{_DROPPED}]*|[^\\W_][{_JOINED}{_DROPPED}]+|[{_COMPATIBLE}]")
# Tells in a third of the time that there is nothing to do.
_ODD = re.compile(f"[\u1100-\u11ff{_JOINED}{_DROPPED}{_COMPATIBLE}]")
_DROP = re.compile(f"[{_DROPPED}]+")

Place = Callable[[int, int], tuple[int, int]]


def normal_form(text: str) -> str:
    """The text as a reader would type its words; two texts that read the same have the same one.

    The same object where nothing changes: of ASCII for nothing, of other text for 20 ns a character.
    """
    if text.isascii() or _ODD.search(text) is None:
        return text
    changed = _CLUSTER.sub(_of_match, text)
    return text if changed == text else changed


def normal_places(text: str) -> Place:
    """Tells of a part of a text's normal form, as (start, end) in characters, what it is the form of."""
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in _CLUSTER.finditer(text):
        starts += range(at, match.start())
        ends += range(at + 1, match.start() + 1)
        at = match.end()
        chars = len(_normal(match[0]))
        starts += [match.start()] * chars
        ends += [at] * chars
    starts += range(at, len(text))
    ends += range(at + 1, len(text) + 1)
    return lambda start, end: (starts[start], ends[end - 1])


def _of_match(match: re.Match[str]) -> str:
    return _normal(match[0])


@lru_cache(4_096)
def _normal(cluster: str) -> str:
    joined = unicodedata.normalize("NFKC", cluster)  # first: a hamza that makes a letter with its alef is no point
    return unicodedata.normalize("NFKC", _DROP.sub("", joined))
