"""What every screen of the console stands on: the open store, the settings, and the meaning side as it comes up.

Screens ask it from worker threads. Nothing here knows a widget, so that a screen can be tried with any store.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tierdeck.config import Settings
from tierdeck.embed.embedder import Embedder
from tierdeck.errors import TierdeckError
from tierdeck.migrate import StoreKind
from tierdeck.store import Store
from tierdeck_tui.operator_name import operator_name

if TYPE_CHECKING:
    from tierdeck.vectors.vector_index import VectorIndex

MeaningWord = Literal["loading…", "ready", "keyword only"]
Access = Literal["rw", "ro", "ro: not adopted"]


@dataclass(frozen=True, slots=True)
class MeaningState:
    """Whether search by meaning works: a word, why, and what to do about it; `brief` is the why in a few words."""

    word: MeaningWord
    detail: str
    hint: str = ""
    brief: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether a query can be compared by meaning."""
        return self.word == "ready"

    @property
    def degraded(self) -> str:
        """What the header says is missing; empty when nothing is."""
        return f"{self.word}: {self.brief}" if self.word == "keyword only" else ""


LOADING = MeaningState("loading…", "the embedding model is being loaded")


class Console:
    """One run of the console on one store. Its methods may be called from any thread.

    Args:
        store: open; `close` closes it.
        read_only: the operator asked for it; a store opened for reading is read-only in any case.
    """

    def __init__(self, store: Store, settings: Settings, read_only: bool = False) -> None:
        self.store = store
        self.settings = settings
        self.read_only = read_only or store.read_only
        self._lock = threading.Lock()
        # Apart from the other: an index takes up to seconds to open, and a screen that only asks for the state must
        # not wait for it.
        self._index_lock = threading.Lock()
        self._embedder: Embedder | None = None
        self._choice: tuple[str, str, int] | None = None
        self._index: VectorIndex | None = None
        self._meaning = LOADING
        self._is_closed = False

    @property
    def access(self) -> Access:
        """What may be done with the store, as the header says it."""
        if self.store.kind is StoreKind.FOREIGN:
            return "ro: not adopted"
        return "ro" if self.read_only else "rw"

    def embedder(self) -> Embedder | None:
        """The loaded embedding model; None while it loads and where there is none (see `meaning_state`)."""
        with self._lock:
            return self._embedder

    def meaning_state(self) -> MeaningState:
        """Whether search by meaning works at this moment, and why not."""
        with self._lock:
            return self._meaning

    def index(self) -> VectorIndex | None:
        """The open index of vectors; None as long as there is none, or when it can't be used.

        A file that can't be used is told by `meaning_state`, never raised.
        """
        with self._index_lock:
            if self._index is None and not self._is_closed:
                self._index = self._opened_index()
            return self._index

    def load_meaning(self) -> Embedder | None:
        """Load the embedding model, in a worker for it takes up to seconds; a missing one is told, not raised."""
        from tierdeck.embed.make import make_embedder  # numpy and the model only when they are wanted

        try:
            choice = self._chosen_model()
            with self._lock:
                self._choice = choice
            embedder = make_embedder(self.settings.embedding, self.store)
        except TierdeckError as e:
            with self._lock:
                self._embedder = None
                # On the screen the sentence stands below the word Meaning; what was being done is clear.
                why = e.message.removeprefix("embed: ")
                self._meaning = MeaningState("keyword only", why, e.hint or "", "no embedding model")
            return None
        with self._lock:
            self._embedder = embedder
            self._meaning = MeaningState("ready", embedder.name)
        return embedder

    def has_other_model(self) -> bool:
        """Whether somebody gave the store to another model since this one was loaded; asks the store, 0.1 ms."""
        with self._lock:
            choice = self._choice
        try:
            return choice is not None and choice != self._chosen_model()
        except TierdeckError:
            return False  # whoever reads the store next says so

    def _chosen_model(self) -> tuple[str, str, int]:
        from tierdeck.embed.make import chosen_model

        choice = chosen_model(self.settings.embedding, self.store)
        return choice.provider, choice.name, choice.dimensions

    def operator(self) -> str:
        """Who signs what a person changes."""
        return operator_name(self.settings.console)

    def close(self) -> None:
        """Close the index and the store; closing twice is allowed."""
        with self._index_lock:
            self._is_closed = True
            if self._index is not None:
                self._index.close()
                self._index = None
        self.store.close()

    def _opened_index(self) -> VectorIndex | None:
        from tierdeck.vectors.vector_index import open_vector_index

        try:
            index = open_vector_index(self.store)
        except TierdeckError as e:
            hint = e.hint or "`tierdeck doctor` says more"
            with self._lock:
                self._meaning = MeaningState("keyword only", e.message, hint, "the index can't be used")
            return None
        with self._lock:
            if self._embedder is not None:  # it may have been made anew since it could not be used
                self._meaning = MeaningState("ready", self._embedder.name)
        return index
