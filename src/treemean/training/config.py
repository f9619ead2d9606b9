"""Training configurations: TOML files, presets that they extend, and dotted overrides."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from treemean.errors import FormatError, InvalidOption, nearest
from treemean.grammars.config import PUBLISHED
from treemean.training.sections import TrainingConfig, flat

#: Whole numbers of more bits are too large for every setting, and Python may not even print them.
_MOST_BITS = 128
#: How origins begin that are presets.
_PRESET = "preset "
#: Sections that training leaves to `experiments.config`.
_ELSEWHERE = ("ensemble",)
#: How much of a wrong value is shown.
_SHOWN = 60
Config = TypeVar("Config", bound=TrainingConfig)


@dataclass
class Resolved(Generic[Config]):
    """A configuration, and for every setting, by dotted name, where its value comes from."""

    config: Config
    origins: Mapping[str, str]

    def to_toml(self) -> str:
        """Return the complete configuration as TOML, with the origins as comments."""
        return to_toml(self.config, self.origins)


@dataclass
class _Settings:
    """Settings on their way together: values and origins by dotted name."""

    kind: type[TrainingConfig]
    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def set(self, key: str, value: Any, origin: str) -> None:
        self.values[key], self.origins[key] = value, origin

    def is_elsewhere(self, section: str) -> bool:
        """Tell whether a section is left to others, who check it."""
        return section in _ELSEWHERE and section not in self.sections

    @cached_property
    def sections(self) -> dict[str, Any]:
        """The types of the sections by name."""
        return get_type_hints(self.kind)

    @cached_property
    def known(self) -> dict[str, _Known]:
        """All settings that there are, by dotted name."""
        found = {}
        for section, type_ in self.sections.items():
            hints = get_type_hints(type_)
            for entry in fields(type_):
                found[f"{section}.{entry.name}"] = _Known(hints[entry.name], bool(entry.metadata.get("path")))
        return found


def preset_names() -> list[str]:
    """Return the names of the presets.

    >>> "tn-lcfrs" in preset_names()
    True
    """
    folder = files("treemean.training").joinpath("presets")
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def load_config(source: str | os.PathLike[str], overrides: Iterable[str] = ()) -> TrainingConfig:
    """Return the configuration of a TOML file or of a preset, see `resolve`.

    >>> load_config("tn-lcfrs", ["training.epochs=3"]).training.epochs
    3
    """
    return resolve(source, overrides).config


def resolve(source: str | os.PathLike[str], overrides: Iterable[str] = ()) -> Resolved[TrainingConfig]:
    """Bring a configuration together and tell where each value comes from.

    Parameters
    ----------
    source : a TOML file, or the name of a preset. A file may say `extends = "…"`, with the name of a preset
        or another file, whose settings hold where the file has none of its own. Files to train on are sought
        from the folder of the configuration that names them.
    overrides : texts such as `training.epochs=3`, which count more than all files; files to train on are
        sought from the current folder.

    Raises `InvalidOption` for settings that do not exist, with a suggestion, and for wrong kinds of values.
    """
    return resolve_as(TrainingConfig, source, overrides)


def resolve_as(
    kind: type[Config], source: str | os.PathLike[str], overrides: Iterable[str] = ()
) -> Resolved[Config]:
    """Do what `resolve` does, for configurations with more sections than those of training."""
    settings = _Settings(kind)
    _add_file(os.fspath(source), settings, seen={})
    for text in overrides:
        _add_override(text, settings)
    config = _build(kind, settings, os.fspath(source))
    origins = {key: settings.origins.get(key, "default") for key in flat(config.to_dict())}
    return Resolved(config, origins)


# ---- files ------------------------------------------------------------------------------------------


def _add_file(source: str, settings: _Settings, seen: Mapping[str, str]) -> None:
    """Add the settings of a file after those of what it extends; `seen` names the files on the way to it."""
    text, name, folder = _content(source, [*seen.values()][-1:])
    itself = os.path.realpath(name)
    if itself in seen:
        circle = " → ".join([*seen.values(), name])
        raise InvalidOption(f"configurations extend each other in a circle: {circle}")
    data = _parsed(text, name)
    extended = data.pop("extends", None)
    if extended is not None:
        if not isinstance(extended, str):
            raise InvalidOption(
                f"{name}: extends should be the name of a preset or of a file, in quotation marks"
            )
        beside = folder / extended if folder else None
        found = str(beside) if beside and beside.is_file() else extended
        _add_file(found, settings, {**seen, itself: name})
    known = settings.known
    for section, content in data.items():
        if settings.is_elsewhere(section):
            continue
        if not isinstance(content, dict):
            if section in settings.sections:
                raise InvalidOption(
                    f"{name}: {section} is a section: write [{section}] and its settings below that"
                )
            raise InvalidOption(_unknown(section, name, [*known, "extends"]))
        if section not in settings.sections:
            raise InvalidOption(_unknown(section, name, list(settings.sections)))
        for key, value in content.items():
            dotted = f"{section}.{key}"
            if dotted not in known:
                raise InvalidOption(_unknown(dotted, name, list(known)))
            settings.set(dotted, _converted(dotted, value, known[dotted], folder or Path(), name), name)


def _parsed(text: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file; raise `FormatError`, with the name of the file, if it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        advice = f"; to train on it, give a preset and --override data.train={name}"
        hint = "" if name.endswith(".toml") else advice
        raise FormatError(f"not valid TOML: {error}{hint}", path=name) from error
    except RecursionError as error:
        raise FormatError("not a configuration: brackets are nested too deeply", path=name) from error
    except ValueError as error:  # from Python, which makes no whole numbers of thousands of digits
        lines = enumerate(text.splitlines(), 1)
        line = next((number for number, line in lines if re.search(r"[\d_]{1000}", line)), None)
        raise FormatError("a number has too many digits", path=name, line=line) from error


def _content(source: str, extended_by: Sequence[str]) -> tuple[str, str, Path | None]:
    """Return the text of a file or preset, what to call it, and the folder from which a file names others."""
    path = Path(source)
    in_preset = any(name.startswith(_PRESET) for name in extended_by)  # presets extend presets only
    if path.is_file() and not in_preset:
        try:
            return path.read_text("utf-8-sig"), source, path.parent
        except UnicodeDecodeError as error:
            raise FormatError(
                f"not valid UTF-8: {error.reason}; save the file as UTF-8", path=source
            ) from error
    names = preset_names()
    if source in names:
        text = files("treemean.training").joinpath("presets", f"{source}.toml").read_text("utf-8")
        return text, f"{_PRESET}{source}", None
    what = "that is a folder" if path.is_dir() else "no such file"
    message = f"there is no configuration {source!r}: {what}; presets are {', '.join(names)}"
    raise InvalidOption(": ".join([*extended_by, message + nearest(source, names)]))


def _add_override(text: str, settings: _Settings) -> None:
    key, separator, raw = (part.strip() for part in text.partition("="))
    if not separator:
        raise InvalidOption(f"an override looks like training.epochs=3, not like {text!r}")
    if settings.is_elsewhere(key.partition(".")[0]):
        return
    known = settings.known
    if key not in known:
        raise InvalidOption(_unknown(key, "override", list(known)))
    try:
        value = tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        value = raw  # a text without quotation marks
    except (RecursionError, ValueError) as error:
        raise InvalidOption(f"override: {key} cannot be {_shown(raw)}") from error
    if known[key].hint is str and not isinstance(value, str):
        value = raw
    settings.set(key, _converted(key, value, known[key], Path(), "override"), "override")


# ---- values -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Known:
    """A setting that there is: its type, and whether it names files."""

    hint: Any
    path: bool


def _converted(key: str, value: Any, known: _Known, folder: Path, origin: str) -> Any:
    if any(item.bit_length() > _MOST_BITS for item in _whole_numbers(value)):
        raise InvalidOption(f"{origin}: {key} has too many digits")
    fits, result = _fit(value, known.hint)
    if not fits:
        choices = get_args(known.hint) if get_origin(known.hint) is Literal else ()
        near = nearest(value, map(str, choices))
        raise InvalidOption(f"{origin}: {key} should be {_described(known.hint)}, not {_shown(value)}{near}")
    if known.path and result:
        one = isinstance(result, str)
        found = [_path(key, item, folder, origin) for item in ([result] if one else result)]
        return found[0] if one else tuple(found)
    return result


def _path(key: str, item: str, folder: Path, origin: str) -> str:
    """Return a file as it is found from everywhere."""
    if not item:
        raise InvalidOption(f"{origin}: {key} has an empty file name: give the name of a file")
    if "\0" in item:
        raise InvalidOption(f"{origin}: {key} has a name that no file can have: it contains \\u0000")
    try:
        return os.path.abspath(folder / Path(item).expanduser())
    except RuntimeError as error:
        raise InvalidOption(f"{origin}: {key} names the home folder of an unknown user: {item!r}") from error


def _whole_numbers(value: Any) -> Iterator[int]:
    """Yield the whole numbers in a value of TOML, however deep."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(item)


def _shown(value: Any) -> str:
    """Return a wrong value as it is shown in a message: not more than its beginning."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _fit(value: Any, hint: Any) -> tuple[bool, Any]:
    """Return whether a value of TOML is of a type, and the value as that type."""
    origin = get_origin(hint)
    if origin is Literal:
        return value in get_args(hint), value
    if origin in (Union, types.UnionType):
        for option in get_args(hint):
            fits, result = _fit(value, option)
            if fits:
                return True, result
        return False, None
    if _is_tuple(hint):
        return _fit_tuple(value, hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool), value
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool), value
    return isinstance(hint, type) and isinstance(value, hint), value


def _is_tuple(hint: Any) -> bool:
    return get_origin(hint) is tuple or (isinstance(hint, type) and issubclass(hint, tuple))


def _fit_tuple(value: Any, hint: Any) -> tuple[bool, Any]:
    arguments = get_args(hint) or tuple(get_type_hints(hint).values())  # of a NamedTuple
    if arguments[-1:] == (Ellipsis,):
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list | tuple):
            return False, None
        arguments = (arguments[0],) * len(listed)
    else:
        listed = value
    if not isinstance(listed, list | tuple) or len(listed) != len(arguments):
        return False, None
    fitted = [_fit(item, option) for item, option in zip(listed, arguments)]
    items = (result for _, result in fitted)
    make = hint._make if hasattr(hint, "_make") else tuple
    return all(fits for fits, _ in fitted), make(items)


def _described(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    if hint in names:
        return names[hint]
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_described(option) for option in get_args(hint) if option is not type(None))
    if _is_tuple(hint):
        arguments = get_args(hint) or tuple(get_type_hints(hint).values())
        if arguments[-1:] == (Ellipsis,):
            return "a list of texts" if arguments[0] is str else "a list of whole numbers"
        return f"a list of {len(arguments)} numbers"
    return str(hint)


def _build(kind: type[Config], settings: _Settings, source: str) -> Config:
    sections = {}
    for section, type_ in settings.sections.items():
        chosen = {
            key.partition(".")[2]: value
            for key, value in settings.values.items()
            if key.partition(".")[0] == section
        }
        if section == "grammar" and "kind" not in chosen:
            raise InvalidOption(
                f'{source}: the configuration names no grammar.kind: extend a preset (extends = "tn-lcfrs")'
            )
        try:
            if section == "grammar":
                _check_sizes(chosen, settings.origins)
            sections[section] = type_(**chosen)
        except InvalidOption as error:
            named = [key for key in chosen if re.search(rf"\b{key}\b", str(error))] or list(chosen)
            origins = dict.fromkeys(settings.origins[f"{section}.{key}"] for key in named)
            raise InvalidOption(f"{' and '.join(origins)}, section {section}: {error}") from error
    return kind(**sections)


def _check_sizes(grammar: Mapping[str, Any], origins: Mapping[str, str]) -> None:
    """Raise `InvalidOption` for sizes of 0 that a user asks for; `GrammarConfig` takes them for left out.

    Presets say 0 for what their grammars do not have. Where the kind is changed, that is left out indeed.
    """
    for name in PUBLISHED.get(grammar["kind"], {}):
        if grammar.get(name) == 0 and not origins[f"grammar.{name}"].startswith(_PRESET):
            hint = " (PCFGs have none)" if name == "discontinuous" else ""
            raise InvalidOption(f"{name} must be 1 or more for {grammar['kind']}, not 0{hint}")


def _unknown(key: str, origin: str, known: Sequence[str]) -> str:
    suggestion = nearest(key, known)
    if not suggestion:  # perhaps only the section is wrong, or missing
        last = key.rpartition(".")[2]
        homes = [name for name in known if name.rpartition(".")[2] == last]
        suggestion = f". Did you mean {homes[0]}?" if homes else ""
    return f"{origin}: there is no setting {key}{suggestion or '; known are ' + ', '.join(known)}"


# ---- writing ----------------------------------------------------------------------------------------


def to_toml(config: TrainingConfig, origins: Mapping[str, str] | None = None) -> str:
    """Return a configuration as a complete TOML file that `resolve` reads as the same."""
    lines = []
    for section, content in config.to_dict().items():
        lines.append(f"[{section}]")
        for name, value in content.items():
            if value is None:  # TOML has no way to say so; the default says it too
                continue
            line = f"{name} = {_toml_value(value)}"
            origin = (origins or {}).get(f"{section}.{name}")
            lines.append(f"{line:<44}# {origin}" if origin else line)
        lines.append("")
    return "\n".join(lines)


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf or nan, which JSON writes otherwise
    # What JSON writes for texts, finite numbers and truth values is TOML too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
