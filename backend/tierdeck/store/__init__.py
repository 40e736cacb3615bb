"""Memories, their relations and their history: rows of the store file to values and back."""

from tierdeck.migrate import StoreKind
from tierdeck.store.store import Store, default_path, open_store

__all__ = ["Store", "StoreKind", "default_path", "open_store"]
