"""What an operator has asked of the running session, done at a turn's end and answered."""

from __future__ import annotations

from collections.abc import Callable

from tierdeck.checkpoint.folder import Request, SessionFolder
from tierdeck.checkpoint.running.troubles import Troubles, sentence
from tierdeck.errors import TierdeckError


def serve_request(
    folder: SessionFolder,
    troubles: Troubles,
    act: Callable[[Request], str | None],
    *,
    only_rewinds: bool = False,
) -> None:
    """Do the request that waits, if there is one, and say what became of it: one `stat` when there is none.

    Args:
        act: does it and gives the name of the checkpoint it led to; what it raises is why it was refused.
        only_rewinds: leave any other waiting.
    """
    try:
        request = folder.pending_request()
        if request is None or (only_rewinds and request.kind != "rewind"):
            return
        folder.claim(request.request_id)
    except TierdeckError as e:
        troubles.tell(sentence(e))
        return
    file, why = None, None
    try:
        file = act(request)
    except TierdeckError as e:
        why = sentence(e)
    except Exception as e:  # noqa: BLE001  # memory, a value nobody foresaw: who asked is told, the agent goes on
        why = f"restore checkpoint: {type(e).__name__}: {e}"
    if why is not None:
        troubles.tell(f"refuse request of {request.by}: {why}")
    try:
        folder.answer(request.request_id, "applied" if why is None else "refused", why, file=file)
    except TierdeckError as e:
        troubles.tell(sentence(e))
