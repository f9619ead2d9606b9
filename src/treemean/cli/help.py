"""What `--help` prints: names on the left, what they mean on the right, in 80 columns or more."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from treemean.cli import usage

if TYPE_CHECKING:
    from rich.console import Console

Function = TypeVar("Function", bound=Callable[..., Any])
#: Lines are no longer than this, however wide the terminal is.
_WIDEST = 100
#: Names that are longer take several lines.
_NAMES = 26
#: Options that name files, although standard input or output is meant by - and they are no paths.
_FILES = ("output", "gold")
_METAVARS = {int: "N", float: "X", str: "TEXT", Path: "FILE"}


class Command(TyperCommand):
    """A command with this help; interrupted, it says what that means."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Those that go on where they were say so themselves."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted; files are as before, and the same command begins anew", err=True)
            raise

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments; what is wrong with them is said in our words, whatever the version of Typer."""
        typed = list(args)  # Typer empties the other
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if (message := self._explained(error, typed)) is not None:
                error.format_message = lambda: message  # type: ignore[attr-defined]
            raise

    def missing(self, ctx: Any, name: str) -> Exception:
        """Return the error about a parameter that is missing."""
        found = next(one for one in _parameters(self.callback) if one.name == name)
        error = typer.BadParameter("", ctx=ctx)
        error.format_message = lambda: self._missing(found)  # type: ignore[method-assign]
        return error

    def _missing(self, found: _Parameter) -> str:
        """Return what to say about a parameter that is missing, with an example."""
        lines = (line.strip() for line in (self.help or "").splitlines())
        example = next((line for line in lines if line.startswith("treemean ")), "")
        return usage.missing(found.left, found.text, found.kind, example)

    def _explained(self, error: Exception, typed: list[str]) -> str | None:
        """Return what is wrong with an argument, None if we do not know better."""
        name = getattr(getattr(error, "param", None), "name", None)
        found = next((one for one in _parameters(self.callback) if one.name == name), None)
        if found is None:
            return None
        if type(error).__name__ == "MissingParameter":
            return self._missing(found)
        names = getattr(error.param, "opts", [])  # type: ignore[attr-defined]
        given = usage.typed_value([] if found.is_argument else names, typed, getattr(error, "message", ""))
        wrong = usage.wrong_value(found.kind, found.least, found.most, given)
        called = found.left if found.is_argument else "/".join(names)
        return None if wrong is None else f"{called}: {wrong}"

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what stands behind the name of the command, in the help and in errors of usage."""
        arguments = [parameter for parameter in _parameters(self.callback) if parameter.is_argument]
        return [*(argument.left for argument in arguments), "[OPTIONS]"]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        console = _console()
        parameters = list(_parameters(self.callback))
        arguments = [parameter for parameter in parameters if parameter.is_argument]
        usage = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        console.print(f"[bold]Usage:[/bold] {_escaped(usage)}\n", soft_wrap=True)
        _print_text(console, inspect.cleandoc(self.help or ""))
        _print_names(console, "Arguments", arguments)
        chosen = [parameter for parameter in parameters if not parameter.is_argument]
        _print_names(console, "Options", [*chosen, _HELP])


class Group(TyperGroup):
    """A group of commands with this help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        console = _console()
        console.print(f"[bold]Usage:[/bold] {ctx.command_path} COMMAND …\n", soft_wrap=True)
        _print_text(console, inspect.cleandoc(self.help or ""))
        commands = []
        for name in sorted(self.list_commands(ctx)):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                told, *_ = inspect.cleandoc(command.help or "").split("\n\n")
                commands.append(_Parameter(name, " ".join(told.split())))
        _print_names(console, "Commands", commands)
        options = list(_parameters(self.callback))
        if ctx.parent is None:
            options += [
                _Parameter("--install-completion", "Let the shell complete commands, options and choices."),
                _Parameter("--show-completion", "Print what that installs."),
            ]
        _print_names(console, "Options", [*options, _HELP])
        if self.epilog:
            console.print(self.epilog)


class App(typer.Typer):
    """A Typer application that has this help, as its commands have."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **options: Any) -> None:
        super().__init__(cls=cls, **options)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **options: Any
    ) -> Callable[[Function], Function]:
        """Register a command."""
        return super().command(name, cls=cls or Command, **options)


@dataclass(frozen=True)
class _Parameter:
    """What stands on the left, and what on the right, as Rich markup."""

    left: str
    right: str
    is_argument: bool = False
    # From the signature of a command: its name there, its type, what is said of it, its bounds.
    name: str = ""
    kind: Any = None
    text: str = ""
    least: float | None = None
    most: float | None = None


_HELP = _Parameter("-h, --help", "Show this help, and exit.")


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.width <= _WIDEST else Console(highlight=False, width=_WIDEST)


def _print_text(console: Console, text: str) -> None:
    """Print paragraphs, filled; of examples, which are indented, each stays on a line of its own."""
    was_example = False
    for paragraph in text.split("\n\n"):
        is_example = paragraph.startswith("  ")
        if was_example and not is_example:
            console.print()
        if is_example:
            console.print(paragraph, soft_wrap=True)
        else:
            console.print(" ".join(line.strip() for line in paragraph.splitlines()))
            if not paragraph.startswith("[bold]Example"):
                console.print()
        was_example = is_example
    if was_example:
        console.print()


def _print_names(console: Console, title: str, parameters: list[_Parameter]) -> None:
    from rich.table import Table

    if not parameters:
        return
    console.print(f"[bold]{title}[/bold]")
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    widest = max(len(parameter.left) for parameter in parameters)
    table.add_column(width=0)  # indents what follows
    table.add_column(width=min(widest, _NAMES))
    table.add_column(ratio=1)
    for parameter in parameters:
        table.add_row("", f"[cyan]{_escaped(parameter.left)}[/cyan]", parameter.right)
    console.print(table)
    console.print()


# ---- from the function of a command to texts ---------------------------------------------------------


def _parameters(callback: Any) -> Iterator[_Parameter]:
    """Yield what the signature of a command says; it is annotated with options and arguments of Typer."""
    if callback is None:
        return
    callback = inspect.unwrap(callback)
    hints = get_type_hints(callback, include_extras=True)
    for name, parameter in inspect.signature(callback).parameters.items():
        if get_origin(hints[name]) is not Annotated:
            continue  # the context
        kind, *details = get_args(hints[name])
        info = next(detail for detail in details if isinstance(detail, OptionInfo | ArgumentInfo))
        default = parameter.default if parameter.default is not inspect.Parameter.empty else ...
        if getattr(info, "hidden", False):
            continue
        if isinstance(info, ArgumentInfo):
            text = info.metavar or name.upper()
            if get_origin(_without_none(kind)) is list and "..." not in text:
                text += "..."
            optional = default is not ... and not text.startswith("[")
            left = f"[{text}]" if optional else text
            yield _Parameter(left, info.help or "", True, name, _without_none(kind), info.help or "")
        else:
            yield _option(name, _without_none(kind), default, info)


def _option(name: str, kind: Any, default: Any, info: OptionInfo) -> _Parameter:
    # Annotated options have their first name where others have their default.
    names = [*([info.default] if isinstance(info.default, str) else []), *(info.param_decls or ())]
    if not names:
        plain = f"--{name.replace('_', '-')}"
        names = [f"{plain}/--no-{plain[2:]}" if kind is bool else plain]
    names.sort(key=len)  # short ones first
    left = ", ".join(name.replace("/", ", ") for name in names)
    if kind is not bool:
        item = get_args(kind)[0] if get_origin(kind) is list else kind
        usual = "FILE" if name in _FILES else _METAVARS.get(item, name.split("_")[-1].upper())
        left += f" {info.metavar or usual}"
    notes = []
    if choices := _choices(kind):
        notes.append(f"One of {', '.join(choices)}.")
    if default is ...:
        notes.append("Required.")
    elif default is not None and kind is not bool and default != "" and info.show_default is not False:
        notes.append(f"Default: {default}.")
    if info.max is not None:
        notes.append(f"From {info.min:g} to {info.max:g}.")
    told = f" [dim]{_escaped(' '.join(notes))}[/dim]" if notes else ""
    text = info.help or ""
    return _Parameter(left, text + told, False, name, kind, text, info.min, info.max)


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


def _choices(kind: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
