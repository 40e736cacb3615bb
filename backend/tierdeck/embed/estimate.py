"""What a run would send, where to, and what it costs at most: said before anything is sent."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

from tierdeck.config import EmbeddingSettings
from tierdeck.embed.make import ModelChoice, base_url, chosen_model
from tierdeck.embed.pending_texts import LookedThrough, look_through
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.embed.text_fit import MAX_TEXT_TOKENS, token_bound
from tierdeck.embed.weighing import filled_model
from tierdeck.errors import ModelUnavailableError
from tierdeck.index.file import index_errors, open_for_reading
from tierdeck.index.path import index_path
from tierdeck.store import Store
from tierdeck.vectors.model_record import Model, has_probe


@dataclass(frozen=True, slots=True)
class EmbedEstimate:
    """`texts` different texts of at most `tokens_upper` tokens would go to `where`.

    The tokens include the 64 fixed sentences that a model's first run embeds too. `usd` is the most it costs; None
    when the model's price is not among the settings. `where` is the server's host, or "this machine".
    """

    texts: int
    tokens_upper: int
    usd: float | None
    where: str
    model: str


def estimate(store: Store, settings: EmbeddingSettings) -> EmbedEstimate:
    """What `run_indexer` would send now; nothing is written or sent.

    Bytes stand for tokens: no text has more tokens than bytes, so the price is an upper bound.

    Raises:
        ModelUnavailableError: no model is in force.
        IndexFileError: the index file can't be used.
    """
    choice = chosen_model(settings, store)
    if choice.provider == "off":
        raise ModelUnavailableError(
            f"estimate: {choice.reason}", hint="search by word works; see `tierdeck config`"
        )
    seen, is_begun = _seen(store, choice)
    to_do = [*seen.to_do.values(), *(seen.secret.values() if settings.send_secrets else ())]
    tokens = sum(min(size, MAX_TEXT_TOKENS) for size in to_do)
    if to_do and not is_begun:
        tokens += sum(map(token_bound, PROBE_SENTENCES))
    if not choice.is_remote:
        return EmbedEstimate(len(to_do), tokens, 0.0, "this machine", choice.name)
    price = settings.prices_usd.get(choice.name)
    usd = None if price is None else tokens * price / 1_000_000
    return EmbedEstimate(len(to_do), tokens, usd, _server_of(base_url(settings)), choice.name)


def _server_of(url: str) -> str:
    """The host of an address, with its port when one is given, and never a name or password in front."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _seen(store: Store, choice: ModelChoice) -> tuple[LookedThrough, bool]:
    """The store held against the index, and whether the model's probe sentences are embedded already."""
    conn = open_for_reading(store)
    if conn is None:
        return look_through(None, store, Model(choice.name, choice.dimensions)), False
    with closing(conn), index_errors(index_path(store)):
        model = filled_model(conn, choice.name, choice.dimensions)
        return look_through(conn, store, model), has_probe(conn, model)
