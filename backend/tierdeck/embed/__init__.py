"""Vectors of memories: who makes them, the file that holds them, and the queue of texts still to embed.

Importing this package stays light: numpy, openai and wordllama come in only with the modules that use them.
"""

from tierdeck.embed.embedder import Embedder
from tierdeck.embed.make import ModelChoice, chosen_model, make_embedder
from tierdeck.index.path import index_path

__all__ = ["Embedder", "ModelChoice", "chosen_model", "index_path", "make_embedder"]
