"""The wheel holds both packages with all their data files, and not one file more of the repository."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
_BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-c", _BUILD, str(out)], cwd=REPO, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def data_files(package: Path) -> set[str]:
    """Every file of a package as the wheel should name it."""
    return {
        str(file.relative_to(package.parent))
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_the_wheel_holds_every_file_of_both_packages(wheel_names: set[str]) -> None:
    wanted = data_files(REPO / "backend/tierdeck") | data_files(REPO / "tui/tierdeck_tui")
    assert wanted - wheel_names == set()


def test_the_wheel_holds_schema_and_console_style(wheel_names: set[str]) -> None:
    assert "tierdeck/schema/0001_memory.own.sql" in wheel_names
    assert "tierdeck/py.typed" in wheel_names
    assert any(name.startswith("tierdeck_tui/") and name.endswith(".tcss") for name in wheel_names)


def test_the_wheel_holds_nothing_else(wheel_names: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tierdeck", "tierdeck_tui"}
