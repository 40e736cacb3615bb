"""Values that hold no other values of ours: numbers, ranges, ids, paths, patterns. Pure.

Each `_x_node` gives `[tag, operands…]`; each `_make_x` takes the operands and raises ValueError or TypeError when
they are none it wrote. A thing this machine lacks comes back as a Placeholder.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Rounded
from fractions import Fraction
from uuid import UUID, SafeUUID

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.records import Placeholder

Node = list[object]
MIN_INT = -(1 << 63)
MAX_INT = (1 << 64) - 1
MAX_COMPILE_MS = 2_000  # of one regular expression, by `compile_ms`
_WIDE = re.compile(r"[^\x00-\xff]|\\[uUN]")
_PATTERN_FLAGS = int(re.IGNORECASE | re.LOCALE | re.MULTILINE | re.DOTALL | re.UNICODE | re.VERBOSE | re.ASCII)
_PATHS: dict[str, type[pathlib.PurePath]] = {
    "PurePosixPath": pathlib.PurePosixPath,
    "PureWindowsPath": pathlib.PureWindowsPath,
    "PosixPath": pathlib.PosixPath,
    "WindowsPath": pathlib.WindowsPath,
}


def int_node(value: int) -> object:
    """An int as msgpack carries it, or tagged when it has more than 64 bits."""
    if MIN_INT <= value <= MAX_INT:
        return value
    return [tags.INT, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)]


def checked_int(value: object, least: int | None = None) -> int:
    """The operand when it is an int, and at least so much."""
    if type(value) is not int or (least is not None and value < least):
        raise ValueError(f"{str(value)[:40]!r} is no number that stands here")
    return value


def checked_text(value: object) -> str:
    """The operand when it is text."""
    if type(value) is not str:
        raise ValueError(f"a {type(value).__name__} stands where text does")
    return value


def checked_bytes(value: object) -> bytes:
    """The operand when it is bytes."""
    if type(value) is not bytes:
        raise ValueError(f"a {type(value).__name__} stands where bytes do")
    return value


def _big_int(value: int) -> Node:
    node = int_node(value)
    assert isinstance(node, list)  # noqa: S101  # called for ints beyond 64 bits only
    return node


def _make_int(data: object) -> int:
    value = int.from_bytes(checked_bytes(data), "little", signed=True)
    if MIN_INT <= value <= MAX_INT:
        raise ValueError("an int of 64 bits stands as a larger one")
    return value


def _make_complex(real: object, imaginary: object) -> complex:
    if type(real) is not float or type(imaginary) is not float:
        raise ValueError("a complex number is two floats")
    return complex(real, imaginary)


def _exact_context() -> Context:
    # A context of its own: str(Decimal) follows the caller's `capitals`, and its traps.
    return Context(
        MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, flags=[],
        traps=[InvalidOperation, Inexact, Rounded],
    )  # fmt: skip


def _decimal_node(value: Decimal) -> Node:
    return [tags.DECIMAL, _exact_context().to_sci_string(value)]


def _make_decimal(text: object) -> Decimal:
    try:
        return _exact_context().create_decimal(checked_text(text))
    except ArithmeticError as e:
        raise ValueError("no decimal number") from e


def _fraction_node(value: Fraction) -> Node:
    parts = value.numerator, value.denominator
    if any(type(part) is not int for part in parts) or parts[1] < 1:
        raise UnsaveableError("a fraction whose parts are no plain numbers")
    return [tags.FRACTION, *map(int_node, parts)]


def _make_fraction(numerator: object, denominator: object) -> Fraction:
    # By its slots: the constructor takes the greatest common divisor, hours of work for two hostile numbers.
    value = object.__new__(Fraction)
    for slot, part in (
        ("_numerator", checked_int(numerator)),
        ("_denominator", checked_int(denominator, 1)),
    ):
        object.__setattr__(value, slot, part)
    return value


def _range_node(value: range) -> Node:
    return [tags.RANGE, int_node(value.start), int_node(value.stop), int_node(value.step)]


def _make_range(start: object, stop: object, step: object) -> range:
    return range(checked_int(start), checked_int(stop), checked_int(step))


def _uuid_node(value: UUID) -> Node:
    return [tags.UUID, value.bytes, value.is_safe.value]


def _make_uuid(data: object, safety: object) -> UUID:
    return UUID(bytes=checked_bytes(data), is_safe=SafeUUID(safety))


def _path_node(value: pathlib.PurePath) -> Node:
    text = str(value)
    if type(value)(text) != value:
        raise UnsaveableError(f"the path {text[:60]!r} is another one when it is read")
    return [tags.PATH, type(value).__name__, text]


def _make_path(name: object, text: object) -> pathlib.PurePath | Placeholder:
    kind = _PATHS.get(checked_text(name))
    if kind is None:
        raise ValueError(f"{str(name)[:40]!r} is no kind of path")
    try:
        return kind(checked_text(text))
    except NotImplementedError:
        return Placeholder(tags.PATH, (name, text), f"a {name} can't be made on this system")


def compile_ms(pattern: str | bytes) -> int:
    """About how long a regular expression takes to compile at most, as measured with Python 3.11.

    5 µs a character, 0.13 ms a set, and 2.5 ms a set that reaches beyond Latin-1, each of which is laid out as a
    map of 65,536 characters: a pattern of a megabyte can be made to take minutes.
    """
    if isinstance(pattern, bytes):
        return len(pattern) // 200 + pattern.count(b"[") // 8
    sets = pattern.count("[")
    return len(pattern) // 200 + (sets * 5 // 2 if _WIDE.search(pattern) else sets // 8)


def _pattern_node(value: re.Pattern[str] | re.Pattern[bytes]) -> Node:
    if compile_ms(value.pattern) > MAX_COMPILE_MS:
        raise UnsaveableError(f"a pattern of {len(value.pattern):,} characters takes too long to compile again")
    if type(value.pattern) not in (str, bytes) or value.flags & ~_PATTERN_FLAGS:
        raise UnsaveableError("a pattern that was not compiled from plain text and flags")
    return [tags.PATTERN, value.pattern, value.flags]


def _make_pattern(pattern: object, flags: object) -> re.Pattern[str] | re.Pattern[bytes] | Placeholder:
    number = checked_int(flags, 0)
    if not isinstance(pattern, str | bytes) or number & ~_PATTERN_FLAGS:
        raise ValueError("no regular expression")
    try:
        return re.compile(pattern, number)
    except (re.error, RecursionError, OverflowError, Warning) as e:
        return Placeholder(tags.PATTERN, (pattern, flags), f"this Python does not compile it: {e}")


SCALAR_NODES: dict[type, Callable[..., Node]] = {
    int: _big_int,
    complex: lambda value: [tags.COMPLEX, value.real, value.imag],
    Decimal: _decimal_node,
    Fraction: _fraction_node,
    range: _range_node,
    UUID: _uuid_node,
    re.Pattern: _pattern_node,
} | dict.fromkeys(_PATHS.values(), _path_node)

MAKE_SCALAR: dict[int, Callable[..., object]] = {
    tags.INT: _make_int,
    tags.COMPLEX: _make_complex,
    tags.DECIMAL: _make_decimal,
    tags.FRACTION: _make_fraction,
    tags.RANGE: _make_range,
    tags.UUID: _make_uuid,
    tags.PATH: _make_path,
    tags.PATTERN: _make_pattern,
}
