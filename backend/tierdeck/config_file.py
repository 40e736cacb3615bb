"""Reads and checks the settings file (TOML) and the variables that override it; writes the explained default.

The file is a person's: whatever is wrong in it is refused with the file, the key, the value and what is allowed,
and never half used. A provider's key is never read from it, only the name of the variable that holds one.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tierdeck.config import DEFAULT_ORIGIN, Origin, Settings
from tierdeck.config_keys import BY_NAME, KEYS, TABLES, SettingKey, settings_of, values_of
from tierdeck.config_rules import Value
from tierdeck.errors import ConfigError, InvalidValueError

CONFIG_VARIABLE = "TIERDECK_CONFIG"
MAX_FILE_BYTES = 1_000_000
_HEAD = """\
# Settings of tierdeck. A line that begins with #name shows a default: take the # away to change it.
# What is said nearer wins: flag, environment variable, the store's own model and dimensions, this file, default.
"""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings of one run, where each value comes from, and the file that was read or would have been.

    `origins` holds every name of `config_keys.KEYS`, in that order.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    path: Path
    has_file: bool

    def with_value(self, name: str, value: object, origin: Origin) -> LoadedSettings:
        """The same with one value from somewhere nearer, checked by the setting's own rule.

        Raises:
            InvalidValueError: the rule refuses the value; names the setting and what is allowed.
        """
        try:
            accepted = BY_NAME[name].rule.accept(value)
        except InvalidValueError as e:
            raise InvalidValueError(f"set {origin.name or name}: {e.message}") from e
        values = {**values_of(self.settings), name: accepted}
        return replace(self, settings=settings_of(values), origins={**self.origins, name: origin})


def default_path() -> Path:
    """Where the settings file is looked for without a flag: `TIERDECK_CONFIG`, else the platform's place.

    Raises:
        ConfigError: the variable names no path.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError as e:
            raise ConfigError(f"read {CONFIG_VARIABLE}: {named[:200]} names no user that there is") from e
    from platformdirs import user_config_dir

    return Path(user_config_dir("tierdeck", appauthor=False)) / "config.toml"


def read_settings(path: Path | None = None) -> LoadedSettings:
    """The settings in force before any flag: defaults, then the file, then environment variables.

    Args:
        path: the file; None looks in `default_path()`, where it may be absent. A file that was named, here or by
            `TIERDECK_CONFIG`, must be there.

    Raises:
        ConfigError: the file can't be read, or a key or value in it or in a variable is not one of ours.
    """
    must_exist = path is not None or bool(os.environ.get(CONFIG_VARIABLE))
    file = (path or default_path()).expanduser()
    text = _read_text(file, must_exist=must_exist)
    values: dict[str, Value] = {}
    origins = {key.name: DEFAULT_ORIGIN for key in KEYS}
    for key, value in _items(_parse(text or "", file), file):
        values[key.name] = _accept(key, value, f"read {file}: {key.name} =")
        origins[key.name] = Origin("file", str(file))
    for key in KEYS:
        if key.env and (raw := os.environ.get(key.env)):
            values[key.name] = _accept(key, key.rule.read(raw), f"read {key.env}:")
            origins[key.name] = Origin("environment", key.env)
    return LoadedSettings(settings_of(values), origins, file, has_file=text is not None)


def default_text() -> str:
    """The settings file that changes nothing: every key with its default, commented out and explained."""
    defaults = values_of(Settings())
    lines = [_HEAD]
    for table in TABLES:
        lines.append(f"[{table}]")
        for key in KEYS:
            if key.table == table:
                lines += [f"# {line}" for line in key.about.splitlines()]
                lines.append(f"# {_allowed_line(key)}")
                lines += [f"#{key.key} = {_toml(defaults[key.name])}", ""]
    return "\n".join(lines)


def write_default(path: Path) -> None:
    """Write `default_text` into a new file (0600; folders 0700). A file that is there stays as it is.

    Raises:
        ConfigError: it exists already, or can't be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as e:
        raise ConfigError(f"write {path}: it exists already and was left as it is", hint="edit it") from e
    except OSError as e:
        raise ConfigError(f"write {path}: {e.strerror}") from e
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(default_text())


def _read_text(path: Path, *, must_exist: bool) -> str | None:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError as e:
        if not must_exist:
            return None
        raise ConfigError(f"read {path}: there is no such file", hint="`tierdeck config --init` writes one") from e
    except (OSError, ValueError) as e:  # ValueError: a NUL in the path
        raise ConfigError(f"read {path}: {getattr(e, 'strerror', None) or e}") from e
    if len(raw) > MAX_FILE_BYTES:
        raise ConfigError(f"read {path}: it is longer than {MAX_FILE_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig")  # some editors put a byte order mark first
    except UnicodeDecodeError as e:
        raise ConfigError(f"read {path}: byte {e.start:,} is not UTF-8", hint="save the file as UTF-8") from e


def _parse(text: str, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as e:  # its TOMLDecodeError, and a plain one for a number of over 4,300 digits
        raise ConfigError(
            f"read {path}: not TOML: {e}", hint='a line reads name = value, a text "in quotes"'
        ) from e
    except RecursionError as e:
        raise ConfigError(f"read {path}: not TOML that can be read: nested too deeply") from e


def _items(tables: Mapping[str, object], path: Path) -> Iterator[tuple[SettingKey, object]]:
    for table, content in tables.items():
        if table not in TABLES:
            raise ConfigError(f"read {path}: [{table}] is unknown; the tables are {', '.join(TABLES)}")
        if not isinstance(content, dict):
            raise ConfigError(f"read {path}: {table} is not a table", hint=f"write [{table}] on a line of its own")
        for name, value in content.items():
            key = BY_NAME.get(f"{table}.{name}")
            if key is None:
                raise _unknown_key(path, table, str(name))
            yield key, value


def _unknown_key(path: Path, table: str, name: str) -> ConfigError:
    # The value is left out: what stands under a made-up name such as api_key is most likely a secret.
    known = ", ".join(key.key for key in KEYS if key.table == table)
    hint = None
    if "key" in name.lower() or "token" in name.lower():
        hint = "keys are never read from the file: put the key into a variable and name it in embedding.api_key_env"
    return ConfigError(f"read {path}: {table}.{name} is unknown; [{table}] takes {known}", hint=hint)


def _accept(key: SettingKey, value: object, said: str) -> Value:
    try:
        return key.rule.accept(value)
    except InvalidValueError as e:
        raise ConfigError(f"{said} {e.message}", hint=e.hint) from e


def _allowed_line(key: SettingKey) -> str:
    variable = f" Variable: {key.env}." if key.env else ""
    return f"{key.rule.allowed[0].upper()}{key.rule.allowed[1:]}.{variable}"


def _toml(value: Value) -> str:
    if value is None:
        return '""'
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(name)} = {_toml(each)}" for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return json.dumps(value)
