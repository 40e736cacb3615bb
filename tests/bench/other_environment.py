"""An environment of a benchmark's own for what others make, so that none of it is a dependency of this project."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path


def other_python(folder: Path, packages: Sequence[str]) -> Path:
    """The interpreter of the environment with the packages; made when it is not there."""
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *packages], check=True)
        # After its own packages, which therefore go first.
        theirs = sysconfig.get_path("purelib", vars={"base": str(folder)})
        line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        (Path(theirs) / "zz_project.pth").write_text(line)
        done.touch()
    return python


def is_other_python(folder: Path) -> bool:
    """Whether this process runs in it."""
    return Path(sys.prefix) == folder
