"""What is mapped of a file is given to the process in one go, and only that changes."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tests.tierdeck.vectors.few_bits import begin_early
from tests.waiting import until
from tierdeck.index.path import beside_index_path
from tierdeck.store import Store
from tierdeck.vectors import mapped_pages
from tierdeck.vectors.mapped_pages import map_pages

SIZE = 4 << 20


def resident_bytes(path: Path) -> int:
    """How much of what this process has mapped of the file has been given to it."""
    given, is_of_file = 0, False
    for line in Path("/proc/self/smaps").read_text(errors="surrogateescape").splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_of_file = line.endswith(f" {path.resolve()}")
        elif is_of_file and line.startswith("Rss:"):
            given += 1024 * int(line.split()[1])
    return given


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
        yield pages


@pytest.fixture
def path(tmp_path: Path) -> Path:
    if not Path("/proc/self/smaps").exists():
        pytest.skip("this system does not tell what a process has mapped")
    made = tmp_path / "a file, 名前.bin"
    made.write_bytes(bytes(range(256)) * (SIZE // 256))
    with mapped(made) as pages:
        try:
            pages.madvise(mapped_pages._MADV_POPULATE_READ)
        except OSError as e:
            pytest.skip(f"this system gives no pages ahead: {e}")
    return made


def test_every_page_is_given_before_it_is_read(path: Path) -> None:
    with mapped(path) as pages:
        assert resident_bytes(path) == 0
        assert map_pages(path, lambda: False) == SIZE
        assert resident_bytes(path) == SIZE
        assert pages[:256] == bytes(range(256))


def test_a_file_cut_off_under_its_map_ends_it_without_harm(path: Path) -> None:
    with mapped(path):
        with path.open("r+b") as file:
            file.truncate(0)
        assert map_pages(path, lambda: False) == 0


def test_a_file_that_is_not_mapped_or_not_there_is_passed_over(path: Path) -> None:
    assert map_pages(path, lambda: False) == 0
    assert map_pages(path.with_name("not there"), lambda: False) == 0


def test_larger_files_are_left_as_they_are(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_pages, "MAX_MAPPED_BYTES", SIZE - 1)
    with mapped(path):
        assert map_pages(path, lambda: False) == 0
        assert resident_bytes(path) == 0


def test_it_ends_between_two_pieces_when_it_is_told_to(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_pages, "_BYTES_AT_ONCE", SIZE // 4)
    told = iter([False, False, True])
    with mapped(path):
        assert map_pages(path, lambda: next(told)) == SIZE // 2


@pytest.mark.usefixtures("path")
def test_the_second_search_has_all_of_the_index_given(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_early(monkeypatch)
    model = ChosenVectors({}, dimensions=600)
    remember(store, *(f"memory {n}" for n in range(1_100)))
    file = beside_index_path(store.path)
    with embed_all(store, model) as index:
        query = model.embed(["memory 7"])[0]
        once = index.nearest(query, 10)
        after_one = resident_bytes(file)
        assert index.nearest(query, 10) == once
        until(lambda: resident_bytes(file) >= file.stat().st_size > after_one)
        assert index.nearest(query, 10) == once
