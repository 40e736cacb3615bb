"""The kinds of value that a setting takes: each says what it allows and checks it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from tierdeck.errors import InvalidValueError

Value = str | int | float | bool | None | Mapping[str, str] | Mapping[str, float]

MAX_TEXT_CHARS = 4_096
_SHOWN_CHARS = 60
_SWITCH_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


class Rule(Protocol):
    """What values a setting takes."""

    @property
    def allowed(self) -> str:
        """The values it takes, in words that follow "is not"."""

    def accept(self, value: object) -> Value:
        """The value as it is kept.

        Raises:
            InvalidValueError: the rule does not take it; says the value and what is allowed.
        """

    def read(self, text: str) -> object:
        """The value that an environment variable's text means, unchecked."""


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number within bounds, both included."""

    low: float
    high: float
    is_whole: bool = False

    @property
    def allowed(self) -> str:
        return f"a {'whole ' if self.is_whole else ''}number from {self.low:g} to {self.high:,g}"

    def accept(self, value: object) -> Value:
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            raise refused(value, self.allowed)
        if not self.low <= value <= self.high:  # false for NaN
            raise refused(value, self.allowed)
        return value if self.is_whole else float(value)

    def read(self, text: str) -> object:
        try:
            return int(text) if self.is_whole else float(text)
        except ValueError:
            return text


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(self.words)

    def accept(self, value: object) -> Value:
        if not isinstance(value, str) or value not in self.words:
            raise refused(value, self.allowed)
        return value

    def read(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class Switch:
    """Yes or no."""

    allowed: str = "true or false"

    def accept(self, value: object) -> Value:
        if not isinstance(value, bool):
            raise refused(value, self.allowed)
        return value

    def read(self, text: str) -> object:
        return _SWITCH_WORDS.get(text.lower(), text)


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; where `may_be_empty`, empty means "not set" and is kept as None."""

    allowed: str = f"one line of text, 1 to {MAX_TEXT_CHARS:,} characters"
    may_be_empty: bool = False

    def accept(self, value: object) -> Value:
        if value == "" and self.may_be_empty:
            return None
        if (
            not isinstance(value, str)
            or not value.strip()
            or len(value) > MAX_TEXT_CHARS
            or not value.isprintable()
        ):
            raise refused(value, self.allowed)
        return value

    def read(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path as the system takes it, odd characters and undecodable bytes included; empty means "not set"."""

    allowed: str = f"a path of at most {MAX_TEXT_CHARS:,} characters"

    def accept(self, value: object) -> Value:
        if value == "":
            return None
        if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS or "\0" in value:
            raise refused(value, self.allowed)
        return value

    def read(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class VariableName:
    """The name of an environment variable. What was given instead is never repeated: it may be the key itself."""

    allowed: str = "the name of an environment variable (letters, digits and _)"

    def accept(self, value: object) -> Value:
        if not isinstance(value, str) or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,127}", value) is None:
            raise InvalidValueError(f"what it holds is not {self.allowed}; it is not shown, since it may be a key")
        return value

    def read(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address; empty means "not set"."""

    allowed: str = "an http:// or https:// address without a user or password in it"

    def accept(self, value: object) -> Value:
        if value == "":
            return None
        if not isinstance(value, str) or not value.isprintable() or " " in value or not _is_web_address(value):
            has_password = isinstance(value, str) and "@" in value
            raise refused("an address with a user or password" if has_password else value, self.allowed)
        return value.rstrip("/")

    def read(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class Words:
    """A table of texts."""

    allowed: str = 'a table of texts, as { alpha_up = "plus" }'

    def accept(self, value: object) -> Value:
        if not isinstance(value, Mapping):
            raise refused(value, self.allowed)
        one = Text()
        return {str(name): str(one.accept(word)) for name, word in value.items()}

    def read(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class Prices:
    """A table of prices; `base` stays where it is not overridden."""

    base: Mapping[str, float]
    allowed: str = 'a table of US dollars per million tokens, as { "text-embedding-3-small" = 0.02 }'

    def accept(self, value: object) -> Value:
        if not isinstance(value, Mapping):
            raise refused(value, self.allowed)
        price = Number(0, 1_000_000)
        prices = dict(self.base)
        for name, each in value.items():
            price.accept(each)
            prices[str(name)] = float(each)
        return prices

    def read(self, text: str) -> object:
        return text


def refused(value: object, allowed: str) -> InvalidValueError:
    """The error for a value that a rule does not take; a long value is cut."""
    text = repr(value)
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text):,} characters)"
    return InvalidValueError(f"{shown} is not {allowed}")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:  # a malformed host or port
        return False
