"""`tierdeck --version`: our version, and those of what decides how a store behaves."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from tierdeck_tui.cli.output import put, put_json


def versions() -> dict[str, str]:
    """The versions by name, without loading what is slow to load."""
    import apsw

    return {
        "tierdeck": _installed("tierdeck"),
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        "sqlite-vec": _installed("sqlite-vec"),
    }


def put_versions(*, is_json: bool) -> None:
    """Write the versions, one a line or as JSON."""
    found = versions()
    if is_json:
        put_json(found)
        return
    put("\n".join(f"{name} {number}" for name, number in found.items()))


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
