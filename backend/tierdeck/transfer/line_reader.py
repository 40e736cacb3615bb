"""A JSONL file read line by line, each bounded: a broken line is told of and never stops the rest. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from tierdeck.errors import TransferError
from tierdeck.store.finite_json import parse_json

# A 10 MB text of control characters takes 60 MB in JSON, and 70 MB again inside a revision's JSON.
MAX_LINE_BYTES = 80_000_000
_CHUNK = 1 << 20
_OTHER_ENCODINGS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a line can't be taken: a reason that many lines may share, and what is particular to this one."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank: its number from 1, its size, and the object in it or why there is none."""

    number: int
    size_bytes: int
    content: dict[str, object] | Rejected


def read_lines(file: BinaryIO, *, limit_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """The lines of a file, blank ones left out; a line beyond the limit is passed over without being held.

    Raises:
        TransferError: the file begins as UTF-16 or UTF-32.
    """
    number = 0
    while data := file.readline(limit_bytes + 1):
        number += 1
        if number == 1:
            if data.startswith(_OTHER_ENCODINGS):
                raise TransferError("import: the file is UTF-16 or UTF-32", hint="convert it: iconv -t UTF-8")
            data = data.removeprefix(codecs.BOM_UTF8)
        if len(data) > limit_bytes and not data.endswith(b"\n"):
            size = len(data) + _skip_line(file)
            yield Line(number, size, Rejected(f"the line is longer than {limit_bytes:,} bytes", f"{size:,} bytes"))
            continue
        text = data.strip(b" \t\r\n")
        if text:
            yield Line(number, len(data), _parse(text))


def _skip_line(file: BinaryIO) -> int:
    skipped = 0
    while chunk := file.readline(_CHUNK):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped


def _parse(data: bytes) -> dict[str, object] | Rejected:
    try:
        # From text, not bytes: of bytes the json module guesses other encodings.
        found = parse_json(data.decode("utf-8"))
    except UnicodeDecodeError as e:
        return Rejected("it is not UTF-8", f"byte {e.start}")
    except RecursionError:
        return Rejected("it is nested too deeply")
    except ValueError as e:
        return Rejected("it is not JSON", str(e))
    if not isinstance(found, dict):
        return Rejected("it is not a JSON object", f"a {type(found).__name__}")
    return found
