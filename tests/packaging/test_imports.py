"""What a bare import costs: none of the heavy packages is on the path of the library or of a keyword search."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

HEAVY = ("textual", "openai", "numpy", "wordllama")


def loaded_after(code: str) -> set[str]:
    """Which heavy packages a fresh interpreter has loaded after running the code."""
    probe = f"{code}\nimport sys\nprint('loaded:', *[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].removeprefix("loaded:").split())


def test_importing_the_library_loads_nothing_heavy() -> None:
    assert loaded_after("import tierdeck") == set()


@pytest.mark.parametrize("package", ["tierdeck", "tierdeck.promote"])
def test_every_public_name_of_the_library_is_importable_and_listed(package: str) -> None:
    face = import_module(package)
    assert list(face.__all__) == sorted(face.__all__)
    for name in face.__all__:
        assert getattr(face, name) is not None


def test_what_the_library_loads_only_when_asked_for_is_all_listed() -> None:
    import tierdeck

    assert set(tierdeck._LATER) <= set(tierdeck.__all__)
    assert set(tierdeck._PROMOTION) <= set(import_module("tierdeck.promote").__all__)


def test_importing_the_checkpoints_loads_nothing_heavy() -> None:
    assert loaded_after("import tierdeck.checkpoint") == set()


@pytest.mark.case("T22")
def test_importing_the_command_line_leaves_the_console_out() -> None:
    assert loaded_after("import tierdeck_tui.cli") == set()
