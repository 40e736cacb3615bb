"""Files written by each released version are read for ever, and hold what they held.

python -m tests.tierdeck.checkpoint.file.test_golden        # writes those of this version that are missing
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.every_value import same
from tests.tierdeck.checkpoint.sample import TIGHT, file_bytes, opened, sample, variables
from tierdeck.checkpoint import load_checkpoint, open_checkpoint

FOLDER = Path(__file__).parent / "golden"
KEY = b"golden key"
SMALL = {"repl_state": {"x": 1}, "label": None, "origin": None, "pending_operations": (), "losses": ()}


@pytest.mark.spec("SPEC-09.26")
def test_the_golden_file_of_version_1_0_holds_all_it_held() -> None:
    with open_checkpoint(FOLDER / "1.0-everything.rlmckpt", limits=TIGHT) as file:
        found = load_checkpoint(file)
    assert same(list(found.repl_state.values()), list(variables().values()))
    assert found.losses == sample().losses
    assert found.pending_operations == sample().pending_operations
    assert same(found.messages, sample().messages)


@pytest.mark.spec("SPEC-09.26")
def test_the_small_and_the_keyed_golden_file_are_read() -> None:
    with open_checkpoint(FOLDER / "1.0-small.rlmckpt", limits=TIGHT) as file:
        assert load_checkpoint(file).repl_state == {"x": 1}
    with open_checkpoint(FOLDER / "1.0-keyed.rlmckpt", limits=TIGHT, key=KEY) as file:
        assert load_checkpoint(file).repl_state == {"x": 1}


def test_this_version_still_writes_what_it_wrote() -> None:
    """The raw bytes, not the file: another zstd compresses otherwise."""
    with open_checkpoint(FOLDER / "1.0-everything.rlmckpt", limits=TIGHT) as file:
        old = [(unit.name, unit.digest) for unit in file.table().units]
    assert [(unit.name, unit.digest) for unit in opened(file_bytes()).table().units] == old


def main() -> None:
    """Write what is missing; a file that is there is never written anew."""
    FOLDER.mkdir(exist_ok=True)
    for name, data in (
        ("1.0-everything", file_bytes()),
        ("1.0-small", file_bytes(sample(**SMALL))),
        ("1.0-keyed", file_bytes(sample(**SMALL), key=KEY)),
    ):
        path = FOLDER / f"{name}.rlmckpt"
        if not path.exists():
            path.write_bytes(data)


if __name__ == "__main__":
    main()
