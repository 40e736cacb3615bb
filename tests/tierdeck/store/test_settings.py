"""Settings kept in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.errors import ReadOnlyStoreError
from tierdeck.store import Store, get_setting, open_store, set_setting


def test_a_setting_is_kept_and_replaced(store: Store) -> None:
    assert get_setting(store, "model") is None
    set_setting(store, "model", "a")
    set_setting(store, "model", "b")
    assert get_setting(store, "model") == "b"
    with open_store(store.path) as again:
        assert get_setting(again, "model") == "b"


def test_another_programs_store_has_no_settings_and_takes_none(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert get_setting(store, "schema_version") is None
        with pytest.raises(ReadOnlyStoreError):
            set_setting(store, "model", "a")
