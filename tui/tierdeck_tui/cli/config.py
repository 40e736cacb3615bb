"""`tierdeck config`: every setting, its value in force, and where the value comes from."""

from __future__ import annotations

import click

from tierdeck.config import Origin
from tierdeck.config_file import LoadedSettings, default_path, default_text, write_default
from tierdeck.config_keys import KEYS, values_of
from tierdeck.config_rules import Value
from tierdeck.embed.make import DIMENSIONS_KEY, MODEL_KEY, PROVIDER_KEY, ModelChoice, chosen_model
from tierdeck.errors import StoreError
from tierdeck.secret_scan import mask_secrets
from tierdeck.store import get_setting, open_store
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.line import Line, Piece, line

_STORE_KEYS = {
    "embedding.provider": PROVIDER_KEY,
    "embedding.model": MODEL_KEY,
    "embedding.dimensions": DIMENSIONS_KEY,
}
# Only a remote model's: while another is in use, nobody reads them.
_REMOTE_KEYS = frozenset(
    f"embedding.{key}" for key in ("model", "dimensions", "base_url", "api_key_env", "send_secrets", "prices_usd")
)


@click.command("config", cls=Verb)
@click.option("--path", "shows_path", is_flag=True, help="Print where the settings file is looked for.")
@click.option(
    "--init", "writes_file", is_flag=True, help="Write a file that explains every setting; never over one."
)
@click.option("--default", "shows_default", is_flag=True, help="Print that file instead of writing it.")
@click.pass_obj
def config_verb(run: Run, /, shows_path: bool, writes_file: bool, shows_default: bool) -> None:
    """Show every setting, its value in force and where it comes from.

    Nearer wins: flag, environment variable, the store's own model and dimensions, settings file, default.
    A key is never read from the file nor shown: the file names the variable that holds it.
    """
    path = path_of(run.config) if run.config else default_path()
    if writes_file:
        write_default(path)
        talk(f"wrote {path}; every line in it is a comment until you change it")
    if writes_file or shows_path:
        put_json({"path": path, "exists": path.exists()}) if run.is_json else put(str(path))
        return
    if shows_default:
        put_json({"text": default_text()}) if run.is_json else put(default_text().rstrip("\n"))
        return
    loaded, model = _with_store(run)
    if run.is_json:
        document = _document(loaded, model)
        put_json({**document, "store_path": run.store_path, "model": model.reason, "model_in_use": model})
        return
    put_lines(_lines(loaded, model))
    missing = "" if run.store_path.exists() else " (not there yet)"
    put(f"\nstore in use  {run.store_path}{missing}\nmodel in use  {model.reason}")


def _with_store(run: Run) -> tuple[LoadedSettings, ModelChoice]:
    """The settings with what the store itself says of its model, and the model in force."""
    loaded = run.loaded
    if not run.store_path.exists():
        return loaded, chosen_model(loaded.settings.embedding)
    try:
        with open_store(run.store_path, read_only=True) as store:
            model = chosen_model(loaded.settings.embedding, store)
            own = {name: get_setting(store, key) for name, key in _STORE_KEYS.items()}
    except StoreError as e:
        talk(f"the store's own settings are not shown: {e.message}")
        return loaded, chosen_model(loaded.settings.embedding)
    if loaded.settings.embedding.provider == "auto":
        for name, text in own.items():
            if text is not None:
                value = int(text) if name.endswith("dimensions") and text.isdigit() else text
                loaded = loaded.with_value(name, value, Origin("store", str(run.store_path)))
    return loaded, model


def _document(loaded: LoadedSettings, model: ModelChoice) -> dict[str, object]:
    values = values_of(loaded.settings)
    return {
        "path": loaded.path,
        "exists": loaded.has_file,
        "settings": {
            key.name: {
                "value": _masked(values[key.name]),
                "origin": loaded.origins[key.name],
                "variable": key.env,
                "is_used": _is_used(key.name, model),
            }
            for key in KEYS
        },
    }


def _is_used(name: str, model: ModelChoice) -> bool:
    return model.is_remote or name not in _REMOTE_KEYS


def _lines(loaded: LoadedSettings, model: ModelChoice) -> list[Line]:
    values = {name: _shown(_masked(value)) for name, value in values_of(loaded.settings).items()}
    names = max(len(name) for name in values)
    widest = max(len(text) for text in values.values() if len(text) <= 40)
    state = "" if loaded.has_file else " (not there: defaults)"
    lines = [line("settings file ", Piece(f"{loaded.path}{state}", "strong"))]
    for name, text in values.items():
        origin = loaded.origins[name]
        shown = Piece(str(origin), "muted" if origin.kind == "default" else "good")
        instead = model.name or "none"
        unused = "" if _is_used(name, model) else f" · not used: the model is {instead}"
        lines.append(line(f"{name.ljust(names)}  {text.ljust(widest)}  ", shown, Piece(unused, "muted")))
    return lines


def _shown(value: object) -> str:
    if value is None or value == {}:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    return str(value)


def _masked(value: Value) -> object:
    """The value without what looks like a key, should somebody have written one into a text."""
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, bool | int | float) or value is None:
        return value
    return {
        mask_secrets(name): mask_secrets(each) if isinstance(each, str) else each for name, each in value.items()
    }
