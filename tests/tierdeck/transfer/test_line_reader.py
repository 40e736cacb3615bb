"""A file's lines: what is broken is told of, by number and reason, and the next line is read all the same."""

from __future__ import annotations

import codecs
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.errors import TransferError
from tierdeck.transfer.line_reader import Line, Rejected, read_lines


def read(data: bytes, limit_bytes: int = 1_000_000) -> list[Line]:
    return list(read_lines(io.BytesIO(data), limit_bytes=limit_bytes))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": 1', "it is not JSON"),
        (b"text", "it is not JSON"),
        (b'{"a": NaN}', "it is not JSON"),
        (b'{"a": -Infinity}', "it is not JSON"),
        (b'{"a": 1e999}', "it is not JSON"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "it is not JSON"),
        (b'{"a": "\xff"}', "it is not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "it is not UTF-8"),
        (b'{"a": "\x00"}', "it is not JSON"),
        (b"[1, 2]", "it is not a JSON object"),
        (b'"text"', "it is not a JSON object"),
        (b"null", "it is not a JSON object"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a":' * 100_000, "it is nested too deeply"),
        (b'{"a": 1} {"b": 2}', "it is not JSON"),
    ],
)
def test_a_broken_line_gives_its_reason_and_the_next_is_read(line: bytes, reason: str) -> None:
    first, broken, last = read(b'{"n": 1}\n' + line + b'\n{"n": 3}\n')
    assert isinstance(broken.content, Rejected)
    assert (broken.number, broken.content.reason) == (2, reason)
    assert (first.content, last.content) == ({"n": 1}, {"n": 3})


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_no_fault() -> None:
    lines = read(codecs.BOM_UTF8 + b'{"n": 1}\r\n\r\n   \n{"n": 4}')
    assert [(line.number, line.content) for line in lines] == [(1, {"n": 1}), (4, {"n": 4})]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_another_encoding_is_refused_with_the_way_to_convert_it(encoding: str) -> None:
    data = '{"n": 1}\n'.encode(encoding)
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF32_LE)):
        data = codecs.BOM_UTF16_BE + data
    with pytest.raises(TransferError) as caught:
        read(data)
    assert "iconv" in (caught.value.hint or "")


class HugeFile(io.BytesIO):
    """One line of 3 GB, made as it is read, then a good line; notes the most that was asked for at once."""

    def __init__(self) -> None:
        super().__init__(b'{"n": 2}\n')
        self.left = 3_000_000_000
        self.asked_most = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        self.asked_most = max(self.asked_most, size)
        if self.left <= 0:
            return super().readline(size)
        self.left -= size
        return b"x" * size if self.left > 0 else b"x\n"


def test_a_line_beyond_the_limit_is_passed_over_without_being_held() -> None:
    file = HugeFile()
    broken, good = read_lines(file, limit_bytes=1_000)
    assert isinstance(broken.content, Rejected)
    assert broken.content.reason == "the line is longer than 1,000 bytes"
    assert broken.size_bytes > 2_900_000_000
    assert file.asked_most <= 1 << 20
    assert (good.number, good.content) == (2, {"n": 2})


@pytest.mark.parametrize("size", [98, 99, 100, 101, 102, 103])
def test_the_limit_counts_the_line_without_its_end(size: int) -> None:
    text = b'{"a": "' + b"x" * (size - 9) + b'"}'
    assert len(text) == size
    (line, _) = read(text + b'\n{"n": 2}\n', limit_bytes=101)
    assert isinstance(line.content, Rejected) == (size > 101)


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=6))
def test_every_object_comes_back_under_its_number(objects: list[dict[str, str]]) -> None:
    data = b"".join(json.dumps(each, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for each in objects)
    lines = read(data)
    assert [line.number for line in lines] == list(range(1, len(objects) + 1))
    assert sum(line.size_bytes for line in lines) == len(data)
