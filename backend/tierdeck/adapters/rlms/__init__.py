"""The `rlms` package (imported as `rlm`): a run that is saved at each turn, and goes on in a new process.

with open_session(None, "run-41", checkpoints=checkpoints_root(), every=1) as session:
    rlm = SavedRLM(session, resumed=session.resume(), backend="openai", backend_kwargs={...})
    print(rlm.completion(text, root_prompt="Which incidents repeat?").response)
"""

try:
    from rlm import RLM as _RLM  # noqa: F401  # nothing below can be imported without it
except ImportError as e:
    raise ImportError("import tierdeck.adapters.rlms: it needs the extra: pip install 'tierdeck[rlms]'") from e

from tierdeck.adapters.rlms.saved_rlm import SavedRLM

__all__ = ["SavedRLM"]
