"""An export is whole or not there, private, and of one moment; a stream never holds the store."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tierdeck.errors import InvalidValueError, TransferError
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_nodes, open_store
from tierdeck.transfer.jsonl_export import export_jsonl


def fill(store: Store, count: int = 20) -> None:
    add_nodes(store, [NodeDraft(f"text {n}", id=f"n-{n}") for n in range(count)])


def test_a_file_is_private_and_says_what_it_holds(store: Store, tmp_path: Path) -> None:
    fill(store)
    report = export_jsonl(store, tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert (lines[0]["kind"], lines[0]["format"], lines[0]["version"]) == ("header", "tierdeck-export", 1)
    assert lines[0]["counts"]["node"] == report.rows["node"] == 20
    assert len(lines) == 1 + sum(report.rows.values())
    assert report.size_bytes == (tmp_path / "out.jsonl").stat().st_size
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_stays_unless_it_may_be_overwritten(store: Store, tmp_path: Path) -> None:
    fill(store)
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    with pytest.raises(InvalidValueError, match="it exists"):
        export_jsonl(store, out)
    assert out.read_text() == "mine"
    export_jsonl(store, out, overwrite=True)
    assert out.read_bytes().startswith(b'{"kind":"header"')
    with pytest.raises(InvalidValueError, match="folder"):
        export_jsonl(store, tmp_path, overwrite=True)


def test_an_export_that_is_broken_off_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    fill(store, 3_000)
    (tmp_path / "out").mkdir()

    def stop(done: int, _total: int) -> None:
        if done >= 2_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_jsonl(store, tmp_path / "out" / "out.jsonl", on_progress=stop)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error_of_ours(store: Store, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match=r"no/out\.jsonl"):
        export_jsonl(store, tmp_path / "no" / "out.jsonl")


def test_a_stream_gets_the_same_bytes_as_a_file(store: Store, tmp_path: Path) -> None:
    fill(store)
    out = io.BytesIO()
    report = export_jsonl(store, out)
    export_jsonl(store, tmp_path / "out.jsonl")
    assert out.getvalue() == (tmp_path / "out.jsonl").read_bytes()
    assert (report.path, report.size_bytes) == (None, len(out.getvalue()))


def test_an_export_is_of_one_moment_though_others_write_meanwhile(store: Store, tmp_path: Path) -> None:
    fill(store, 3_000)

    def write(done: int, _total: int) -> None:
        with open_store(store.path) as other:
            add_nodes(other, [NodeDraft(f"late: {done} rows were out")])

    export_jsonl(store, tmp_path / "out.jsonl", on_progress=write)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert lines[0]["counts"]["node"] == sum(line["kind"] == "node" for line in lines) == 3_000


def test_a_store_that_is_only_read_keeps_its_folder_as_it_is(family_store_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    with open_store(family_store_path) as store:
        assert export_jsonl(store, io.BytesIO()).rows["node"] == 8
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


def test_progress_counts_every_row_once(store: Store) -> None:
    fill(store, 2_500)
    told: list[tuple[int, int]] = []
    export_jsonl(store, io.BytesIO(), on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1_000, 2_500), (2_000, 2_500), (2_500, 2_500)]
