"""The first bytes of a file: which version it is, and that nobody changed them."""

from __future__ import annotations

import msgpack
import pytest

from tests.tierdeck.checkpoint.sample import file_bytes, forged, opened
from tierdeck.checkpoint.file.header import MAGIC
from tierdeck.checkpoint.version import checked_version, parse_version
from tierdeck.errors import DamagedCheckpointError, NewerCheckpointError


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.case("C12")
def test_a_file_of_a_newer_version_is_named_as_one_with_both_versions() -> None:
    newer = MAGIC + (99).to_bytes(2, "little") + (3).to_bytes(2, "little") + b"other bytes from then on" * 9
    with pytest.raises(NewerCheckpointError, match=r"newer version \(99\.3\); this one reads up to 1\.x"):
        opened(newer)
    with pytest.raises(NewerCheckpointError, match=r"2\.0"):
        opened(forged(file_bytes(), major=2))


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.case("C12")
def test_a_version_hit_by_damage_is_damage_and_not_a_newer_version() -> None:
    data = bytearray(file_bytes())
    data[8] ^= 0x40
    with pytest.raises(DamagedCheckpointError, match="version was changed"):
        opened(bytes(data))
    with pytest.raises(DamagedCheckpointError, match=r"no format 0\.0"):
        opened(forged(file_bytes(), major=0))


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.case("C12")
@pytest.mark.parametrize("value", [None, "abc", "", True, [1], "1.2.3", "-1", 1.5e300, "1\n"], ids=repr)
def test_a_version_that_is_none_is_said_to_be_none(value: object) -> None:
    with pytest.raises(DamagedCheckpointError, match="version"):
        parse_version(value, "x")


@pytest.mark.case("C12")
@pytest.mark.parametrize("value", [99, "9.0", "2", 3.0], ids=repr)
def test_a_version_written_in_another_file_is_compared_as_numbers(value: object) -> None:
    major, minor = parse_version(value, "x")
    with pytest.raises(NewerCheckpointError, match=f"{major}.{minor}"):
        checked_version(major, minor, "x")


def test_a_flag_that_must_be_known_makes_a_reader_refuse_and_another_does_not() -> None:
    with pytest.raises(NewerCheckpointError, match="0x20000"):
        opened(forged(file_bytes(), flags=0x20000))
    opened(forged(file_bytes(), flags=0x100))


@pytest.mark.parametrize("data", [b"", b"\x80\x04\x95", b"{}", MAGIC[:5], b"\x89PNG\r\n\x1a\n" * 20], ids=repr)
def test_what_is_no_checkpoint_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(DamagedCheckpointError, match="no checkpoint file"):
        opened(data)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session", ""), ("session", 5), ("turn", -1), ("turn", True), ("cost_usd", 1), ("created_ns", "now"),
        ("origin", []), ("pending", {"sent": 1}), ("pending", {"done": -1}), ("writer", {"a": 1}),
        ("label", "x" * 201), ("branch", "x"), ("table_digest", b""), ("reason", None),
    ],
)  # fmt: skip
def test_a_summary_with_a_field_that_can_not_be_is_damage(name: str, value: object) -> None:
    data = file_bytes()
    end = 48 + int.from_bytes(data[16:20], "little")
    fields = msgpack.unpackb(data[48:end], unicode_errors="surrogatepass")
    changed = msgpack.packb(fields | {name: value}, unicode_errors="surrogatepass")
    made = bytearray(data[:16] + len(changed).to_bytes(4, "little") + data[20:48] + changed + data[end:])
    made[24:32] = len(made).to_bytes(8, "little")
    with pytest.raises(DamagedCheckpointError, match="summary is damaged"):
        opened(forged(bytes(made)))


def test_a_key_that_a_newer_minor_version_put_into_the_summary_is_passed_over() -> None:
    data = file_bytes()
    end = 48 + int.from_bytes(data[16:20], "little")
    fields = msgpack.unpackb(data[48:end], unicode_errors="surrogatepass")
    changed = msgpack.packb(fields | {"new": [1, 2]}, unicode_errors="surrogatepass")
    made = bytearray(data[:16] + len(changed).to_bytes(4, "little") + data[20:48] + changed + data[end:])
    made[24:32] = len(made).to_bytes(8, "little")
    assert opened(forged(bytes(made), minor=1)).head.summary.turn == 5
