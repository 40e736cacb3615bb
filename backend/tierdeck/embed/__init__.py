"""Who makes the vectors of memories, and the queue of texts still to embed.

Importing this package stays light: numpy, openai and wordllama come in only with the modules that use them.
"""

from tierdeck.embed.embedder import Embedder
from tierdeck.embed.make import ModelChoice, chosen_model, make_embedder

__all__ = ["Embedder", "ModelChoice", "chosen_model", "make_embedder"]
