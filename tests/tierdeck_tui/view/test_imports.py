from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

from tierdeck_tui import view


@pytest.mark.case("T22")
def test_what_lays_text_out_needs_no_terminal_library() -> None:
    names = [f"{view.__name__}.{module.name}" for module in pkgutil.iter_modules(view.__path__)]
    assert len(names) > 10
    code = f"import sys, {', '.join(names)}; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
