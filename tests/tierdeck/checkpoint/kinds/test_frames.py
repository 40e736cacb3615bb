"""Frames of pandas and polars come back exactly, or are lost; a stream with a type of its own is refused unread."""

from __future__ import annotations

import sys
from typing import Any

import msgpack
import pytest

from tests.tierdeck.checkpoint.every_value import round_trip
from tierdeck.checkpoint.kinds.frames import make_frame
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.limits import MB
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_unit
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source
from tierdeck.errors import DamagedCheckpointError


def read(raw: bytes) -> object:
    return decode_unit(raw, form=0, budget=Budget(MB, reads_frames=True))


def without_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("tierdeck.checkpoint.kinds.frames.find_spec", lambda name: None)


def test_a_frame_is_a_placeholder_where_its_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without_arrow(monkeypatch)
    raw = msgpack.packb([42, "pandas", "DataFrame", b"ARROW..."])
    found: Any = read(raw)
    assert type(found) is Placeholder
    assert "pyarrow" in found.why
    [unit] = encode_units([Source("x", found)]).units
    assert unit.raw == raw
    assert not [name for name in sys.modules if name.split(".")[0] == "pyarrow"]


@pytest.mark.case("K21")
@pytest.mark.parametrize(
    ("library", "kind"), [("os", "system"), ("torch", "Tensor"), ("pandas", "read_pickle"), (5, None)], ids=repr
)
def test_no_library_but_the_known_ones_is_ever_asked_to_read(library: object, kind: object) -> None:
    with pytest.raises(ValueError, match="is no frame"):
        make_frame(library, kind, b"")


@pytest.mark.case("K21")
def test_a_stream_that_names_an_extension_type_is_refused_before_it_is_read() -> None:
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")

    class Evil(arrow.ExtensionType):  # type: ignore[misc, name-defined]  # the package may be missing
        def __init__(self) -> None:
            super().__init__(arrow.int64(), "evil")

        def __arrow_ext_serialize__(self) -> bytes:
            return b"payload"

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: object, payload: bytes) -> Evil:
            raise AssertionError("code of the file's type was run")

    arrow.register_extension_type(Evil())
    try:
        table = arrow.table({"a": arrow.ExtensionArray.from_storage(Evil(), arrow.array([1, 2]))})
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        raw = msgpack.packb([42, "pandas", "DataFrame", sink.getvalue().to_pybytes()])
        with pytest.raises(DamagedCheckpointError, match="extension type"):
            read(raw)
    finally:
        arrow.unregister_extension_type("evil")


def test_frames_of_pandas_come_back_exactly_or_are_lost() -> None:
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2020-01-01", "2021-01-01"])
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": days, "d": [0.5, float("nan")]}).set_index("a")
    found: Any = round_trip(x=frame, y=[frame])
    pandas.testing.assert_frame_equal(found["x"], frame)
    assert found["y"][0] is found["x"]
    objects = pandas.DataFrame({"a": [object(), {1}]})
    encoded = encode_units([Source("bad", objects), Source("ok", 1)])
    assert [unit.facts.name for unit in encoded.units] == ["ok"]
    assert encoded.losses[0].path == "bad"


def test_frames_of_polars_come_back_exactly_or_are_lost() -> None:
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, None], "b": ["x", "y"], "c": [[1], [2, 3]]})
    found: Any = round_trip(x=frame, s=polars.Series("n", [1, 2]))
    assert found["x"].equals(frame)
    assert found["x"].schema == frame.schema
    assert found["s"].equals(polars.Series("n", [1, 2]))


@pytest.mark.parametrize("raw", [b"", b"\xff\xff\xff\xff", b"garbage" * 100])
def test_bytes_that_are_no_stream_are_damage(raw: bytes) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    with pytest.raises(DamagedCheckpointError):
        read(msgpack.packb([42, "pandas", "DataFrame", raw]))


def test_the_console_leaves_frames_unread() -> None:
    found: Any = decode_unit(msgpack.packb([42, "pandas", "DataFrame", b"ARROW..."]), form=0)
    assert type(found) is Placeholder
    assert "own process" in found.why


def test_a_frame_of_pandas_whose_objects_or_attributes_would_come_back_as_others_is_lost() -> None:
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"a": pandas.Series([bytearray(b"x"), b"y"], dtype=object)})
    described = pandas.DataFrame({"a": [1]})
    described.attrs["shape"] = (1, 2)
    labelled = pandas.DataFrame({"a": [1]})
    labelled.attrs["unit"] = "m"
    encoded = encode_units([Source("mixed", mixed), Source("described", described), Source("labelled", labelled)])
    assert [unit.facts.name for unit in encoded.units] == ["labelled"]
    assert [loss.path for loss in encoded.losses] == ["mixed", "described"]
    found: Any = round_trip(x=labelled)
    assert found["x"].attrs == {"unit": "m"}


@pytest.mark.parametrize("way", ["rows", "columns", "spans", "zone", "none"])
def test_a_frame_of_pandas_keeps_the_steps_and_names_of_its_axes(way: str) -> None:
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2020-01-01", periods=3, freq="D", tz="Europe/Rome" if way == "zone" else None)
    axis = {"spans": pandas.timedelta_range("1h", periods=3, freq="h"), "none": days[[0, 2, 1]]}.get(way, days)
    frame = (
        pandas.DataFrame([[1.5, 2, 3]], columns=days) if way == "columns" else pandas.DataFrame({"a": [1, 2, 3]})
    )
    if way != "columns":
        frame.index = axis
    frame.index.name = "when"
    found: Any = round_trip(x=frame)
    pandas.testing.assert_frame_equal(found["x"], frame, check_freq=True)
    for one, other in ((found["x"].index, frame.index), (found["x"].columns, frame.columns)):
        assert getattr(one, "freq", None) == getattr(other, "freq", None)


def test_a_step_that_is_none_is_damage_and_runs_nothing() -> None:
    arrow = pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    table = arrow.Table.from_pandas(pandas.DataFrame({"a": [1, 2]}, index=pandas.to_datetime(["2020", "2022"])))
    for steps in (b'["D"]', b'["nonsense"]', b"[", b"{}5", b"[" * 100_000):
        sink = arrow.BufferOutputStream()
        told = table.replace_schema_metadata({**table.schema.metadata, b"tierdeck.freq": steps})
        with arrow.ipc.new_stream(sink, told.schema) as writer:
            writer.write_table(told)
        with pytest.raises(DamagedCheckpointError):
            read(msgpack.packb([42, "pandas", "DataFrame", sink.getvalue().to_pybytes()]))
