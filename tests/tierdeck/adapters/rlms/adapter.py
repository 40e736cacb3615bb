"""The adapter for the tests here, and what they do with it; without the package `rlms` all of them are skipped.

`rlms` wants pytest 9, the snapshot plug-in of the console's tests an older one: CI makes a second environment, and
has TIERDECK_NEEDS_EXTRAS=1 there, which makes a missing package an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("rlm") is None and os.environ.get("TIERDECK_NEEDS_EXTRAS") != "1":
    pytest.skip(
        "rlms is not installed here: CI runs these tests in an environment of its own", allow_module_level=True
    )

from tests.tierdeck.adapters.rlms.chat_server import ChatServer
from tierdeck.adapters.rlms import SavedRLM
from tierdeck.checkpoint import load_checkpoint, open_checkpoint
from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.session import Session, open_session

# The package leaves the socket of its handler, and those of its batches, to the garbage collector.
UNCLOSED = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning"),
]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to."""

    answer: str
    rlm: Any
    session: Session
    usage: Mapping[str, Any]


class Runs:
    """Runs of one session against one server; each call of `go_on` is as a new process would do it."""

    def __init__(self, server: ChatServer, folder: Path) -> None:
        self.server = server
        self.folder = folder

    def go_on(
        self,
        prompt: object = "a context",
        *,
        session_id: str = "s",
        every: int = 1,
        root_prompt: str | None = None,
        **settings: Any,
    ) -> Ran:
        """Go on with the session where it is, to its end."""
        with open_session(None, session_id, checkpoints=self.folder, every=every) as session:
            rlm = self.rlm(session, resumed=session.resume(), **settings)
            done = rlm.completion(prompt, root_prompt)
        return Ran(done.response, rlm, session, done.usage_summary.model_usage_summaries)

    def rlm(self, session: Session, **settings: Any) -> Any:
        """One that talks to the server."""
        given = {"model_name": "m", "base_url": self.server.base_url, "api_key": "-", "max_retries": 0}
        return SavedRLM(session, backend="openai", backend_kwargs=given, **settings)

    def newest(self, session_id: str = "s") -> Checkpoint:
        """The session's newest checkpoint, read whole."""
        path = open_session_folder(self.folder, session_id).listed()[-1].path
        with open_checkpoint(path, limits=AGENT_LIMITS) as file:
            return load_checkpoint(file)
