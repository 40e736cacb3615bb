"""An agent's process: `python -m tests.tierdeck.adapters.rlms.agent BASE_URL FOLDER SESSION [EVERY]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.tierdeck.adapters.rlms.sums import CONTEXT, QUESTION, TURNS
from tierdeck.adapters.rlms import SavedRLM
from tierdeck.session import open_session


def main(base_url: str, folder: str, session_id: str, every: str = "1") -> None:
    """Go on with the session where it is, and print its answer and account."""
    with open_session(None, session_id, checkpoints=Path(folder), every=int(every)) as session:
        back = session.resume()
        print("begins after turn", session.turns, flush=True)
        rlm = SavedRLM(
            session,
            resumed=back,
            backend="openai",
            backend_kwargs={"model_name": "m", "base_url": base_url, "api_key": "-", "max_retries": 0},
            max_iterations=TURNS,
        )
        done = rlm.completion(CONTEXT, root_prompt=QUESTION)
        session.end()
        usage = done.usage_summary.model_usage_summaries["m"]
        print("answer:", done.response)
        print("calls:", usage.total_calls, "tokens:", session.spending.session_tokens)
        print("cost:", round(session.spending.session or 0, 6))


if __name__ == "__main__":
    main(*sys.argv[1:])
