"""A memory's text from the command line: an argument, stdin or a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from tierdeck.errors import InvalidValueError
from tierdeck.model import MAX_CONTENT_BYTES
from tierdeck_tui.cli.path_argument import path_of


def read_text(given: str | None, file: str | None) -> str | None:
    """The text that was given; None when nothing was.

    Args:
        given: the text itself, or `-` for stdin.
        file: the path of a file; not together with `given`.

    Returns:
        Of stdin and of a file, the text without its one last newline, which `echo` and editors add.

    Raises:
        InvalidValueError: both were given, the file can't be read, or what was read is not UTF-8 or too long.
    """
    if file is not None:
        if given is not None:
            raise InvalidValueError("read text: a text and --file were given", hint="give one of them")
        return _from_file(path_of(file))
    if given != "-":
        return given
    if sys.stdin is None:
        raise InvalidValueError("read stdin: it is closed", hint="give the text, or --file FILE")
    return _decoded(sys.stdin.buffer, "stdin")


def _from_file(path: Path) -> str:
    try:
        with path.open("rb") as source:
            return _decoded(source, str(path))
    except OSError as e:
        raise InvalidValueError(f"read {path}: {e.strerror}") from e


def _decoded(source: BinaryIO, name: str) -> str:
    data = source.read(MAX_CONTENT_BYTES + 2)  # one more for the last newline, one to know that it is too long
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        if e.end == len(data) > MAX_CONTENT_BYTES:  # cut inside a character: the length is what is wrong
            text = data.decode("utf-8", "ignore") + "…"
        else:
            raise InvalidValueError(f"read {name}: byte {e.start:,} is not UTF-8") from e
    if len(data) > MAX_CONTENT_BYTES and not (len(data) == MAX_CONTENT_BYTES + 1 and text.endswith("\n")):
        raise InvalidValueError(
            f"read {name}: it has more than {MAX_CONTENT_BYTES:,} bytes, the most that a memory may have",
            hint="split it, or keep the file where it is and remember where",
        )
    return text.removesuffix("\n").removesuffix("\r")
