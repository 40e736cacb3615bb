"""Where checkpoints lie: what is said nearest wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.checkpoint.folder import checkpoints_root
from tierdeck.errors import InvalidValueError


@pytest.mark.spec("SPEC-09.22")
def test_the_flag_wins_over_the_variable_and_that_over_the_platform(
    isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checkpoints_root() == isolated_environment / "state" / "tierdeck" / "checkpoints"
    monkeypatch.setenv("RLM_CHECKPOINT_DIR", "~/kept")
    assert checkpoints_root() == isolated_environment / "kept"
    assert checkpoints_root("here") == Path("here")
    monkeypatch.setenv("RLM_CHECKPOINT_DIR", "")
    assert checkpoints_root().name == "checkpoints"


@pytest.mark.parametrize("given", ["", "~nobody-has-this-name/x", "a\0b"])
def test_what_names_no_path_is_refused(given: str) -> None:
    with pytest.raises(InvalidValueError, match="find checkpoints"):
        checkpoints_root(given)
