"""A restore that was asked of a running session: looked up anew, and refused when it is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.checkpoint.folder import Request, SessionFolder, open_session_folder
from tierdeck.checkpoint.running import rewind
from tierdeck.checkpoint.running.asked_restore import asked_restore, go_back_as_asked
from tierdeck.errors import ConflictError, NotFoundError
from tierdeck.session import open_session


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    """A session that ended after three turns, each of them saved."""
    with open_session(None, "s", checkpoints=tmp_path, every=1) as session:
        for number in range(3):
            session.turn({"n": number})
            session.checkpoint()
    return open_session_folder(tmp_path, "s")


def request_for(folder: SessionFolder, file: str) -> Request:
    return Request("rewind", file, "now", 0, "ann", folder.clock_ns(), request_id="0123abcd")


def test_it_is_read_whole_and_head_stays_until_it_is_gone_back_to(folder: SessionFolder) -> None:
    first = folder.listed()[0]
    asked = asked_restore(folder, request_for(folder, first.file))
    assert (asked.file, asked.target.repl_state) == (first.file, {"n": 0})
    assert folder.switched_head() is None
    stands = go_back_as_asked(folder, asked, branch=None, now=None)
    head = folder.switched_head()
    assert head is not None
    assert (head.file, head.branch, head.last_request) == (first.file, stands.branch, "0123abcd")


def test_a_checkpoint_that_is_gone_is_named(folder: SessionFolder) -> None:
    first = folder.listed()[0]
    first.path.unlink()
    with pytest.raises(NotFoundError, match=f"{first.file}: it is not there any more"):
        asked_restore(folder, request_for(folder, first.file))


def test_a_request_from_before_head_was_switched_is_refused(folder: SessionFolder) -> None:
    first, second, *_ = folder.listed()
    rewind(folder, second.file, by="bob")
    with pytest.raises(ConflictError, match=r"HEAD was switched .* \(generation 1, seen was 0\)"):
        asked_restore(folder, request_for(folder, first.file))
