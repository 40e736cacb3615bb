"""What looks like a secret, taken out of a JSON document before it is written."""

from __future__ import annotations

from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.view.json_form import json_form


def masked_form(value: object, *, reveal: bool) -> object:
    """The JSON form of a value with every text in it masked, names of keys included, unless `reveal`."""
    form = json_form(value)
    return form if reveal else _masked(form)


def _masked(form: object) -> object:
    if isinstance(form, str):
        return mask_secrets(form)
    if isinstance(form, list):
        return [_masked(each) for each in form]
    if isinstance(form, dict):
        return {mask_secrets(str(name)): _masked(each) for name, each in form.items()}
    return form
