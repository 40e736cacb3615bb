"""A checkpoint asked of the agent that runs: when it is one, and when nobody is there to save it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.running import request_checkpoint
from tierdeck.errors import ConflictError, InvalidValueError
from tierdeck.session import open_session


@pytest.mark.spec("SPEC-09.25")
def test_a_checkpoint_is_asked_of_the_agent_that_runs_and_has_the_label(tmp_path: Path) -> None:
    folder = open_session_folder(tmp_path, "s", create=True)
    with open_session(None, "s", checkpoints=tmp_path, every=0) as session:
        asked = request_checkpoint(folder, by="ann", label="before lunch")
        with pytest.raises(ConflictError, match="ann asked for checkpoint before"):
            request_checkpoint(folder, by="bob")
        session.turn({"x": 1})
        answer = folder.answer_to(asked.request_id)
        assert answer is not None
        [saved] = folder.listed()
        assert (answer.state, answer.file, saved.label) == ("applied", saved.file, "before lunch")
        with pytest.raises(InvalidValueError, match="label can't be"):
            request_checkpoint(folder, by="ann", label=" ")


def test_where_no_agent_runs_nothing_is_asked(tmp_path: Path) -> None:
    folder = open_session_folder(tmp_path, "s", create=True)
    with pytest.raises(ConflictError, match="no agent runs session s"):
        request_checkpoint(folder, by="ann")
    assert folder.pending_request() is None
