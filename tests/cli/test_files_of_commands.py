"""No command writes over what it reads, and every command says which files are which."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

import treemean
from treemean.cli import app
from treemean.cli.commands import files_of
from treemean.cli.debug import debug_app

#: Parameters that look like files to read or write and are not guarded by their annotation, and why.
EXCEPTIONS = {
    ("train", "config"): "the folder of runs holds a configuration of its own, which may be given again",
    ("ensemble", "config"): "likewise; files of data that it names are protected when it is read",
    ("fit", "pareto"): "a figure, or a sign that it stands beside the hits; the command looks at it itself",
}

COMMANDS: dict[str, Callable[..., Any]] = {
    command.name or command.callback.__name__: command.callback.__wrapped__  # type: ignore[union-attr]
    for commands in (app, debug_app)
    for command in commands.registered_commands
}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_file_of_a_command_is_read_or_written(name: str) -> None:
    function = COMMANDS[name]
    said = files_of(function)
    for parameter, hint in get_type_hints(function, include_extras=True).items():
        if parameter == "return":
            continue
        told = getattr(hint, "__metadata__", ())
        is_argument = any(type(entry).__name__ == "ArgumentInfo" for entry in told)
        is_path = Path in (hint.__origin__, *getattr(hint.__origin__, "__args__", ()))
        is_text = hint.__origin__ in (str, list[str], str | None)
        named = any(getattr(entry, "metavar", None) in ("FILE", "[FILE]", "DIR") for entry in told)
        if is_path or (is_text and (is_argument or named)):
            assert (parameter in said) != ((name, parameter) in EXCEPTIONS), parameter


def call(*arguments: object) -> None:
    app([str(argument) for argument in arguments], standalone_mode=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    treemean.write(treemean.sample.gold()[:20], "x.dbr")
    treemean.write(treemean.sample.gold()[:20], "y.dbr")
    Path("ids").write_text("1\n")
    os.link("x.dbr", "hard.dbr")
    os.symlink("x.dbr", "soft.dbr")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "draw x.dbr -o x.dbr",
        "draw x.dbr -o hard.dbr",
        "draw y.dbr --gold x.dbr -o soft.dbr",
        "convert x.dbr x.dbr",
        "convert x.dbr ./x.dbr",
        "convert x.dbr hard.dbr",
        "convert x.dbr soft.dbr",
        "convert soft.dbr hard.dbr",
        "convert . x.dbr",
        "convert y.dbr ids --ids ids --to ptb",
        "convert y.dbr z.dbr --skip-bad --bad-file x.dbr --ids x.dbr",
        "convert y.dbr z.dbr --skip-bad --bad-file z.dbr",
        "average y.dbr x.dbr -o x.dbr",
        "average y.dbr y.dbr -o z.dbr --stats z.dbr",
        "average y.dbr y.dbr -o x.dbr --hits x.dbr",
        "average y.dbr y.dbr -o x.dbr --ties x.dbr",
        "evaluate y.dbr y.dbr --prm x.dbr --per-sentence x.dbr",
        "evaluate x.dbr y.dbr --per-sentence x.dbr",
        "agree x.dbr y.dbr -o x.dbr",
        "agree x.dbr y.dbr --disputed x.dbr",
        "fit x.dbr y.dbr --model equal -o x.dbr",
        "fit x.dbr y.dbr --model equal -o z.json --pareto x.dbr",
        "fit y.dbr y.dbr --gold x.dbr -o z.json --reliability x.dbr",
        "stats x.dbr --skip-bad --bad-file x.dbr",
        "parse . x.dbr -o x.dbr",
        "parse model x.dbr -o hard.dbr",
    ],
)
def test_inputs_stay(here: Path, line: str) -> None:
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    with pytest.raises((typer.BadParameter, treemean.TreemeanError)) as raised:
        call(*line.split())
    if "--pareto" not in line:
        assert "is also an input, or another output, of this command" in str(raised.value)
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def test_in_place(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trees = treemean.read("x.dbr")
    call("convert", "x.dbr", "--in-place", "--remove-punctuation")
    assert treemean.read("x.dbr") == treemean.transforms.remove_punctuation(trees)
    call("convert", "y.dbr", "y.dbr", "--in-place", "--to", "jsonl")  # the name does not decide
    assert Path("y.dbr").read_bytes().startswith(b'{"words"')
    Path("y.dbr").rename("unnamed")
    call("convert", "unnamed", "--in-place", "--sentences", "1")  # in the format that it has
    assert len(treemean.read("unnamed", format="jsonl")) == 1
    assert "1 sentences written to unnamed" in capfd.readouterr().err
    for wrong in (["x.dbr"], ["x.dbr", "z.dbr", "--in-place"], [".", "--in-place"], ["-", "--in-place"]):
        with pytest.raises(typer.BadParameter):
            call("convert", *wrong)


def test_the_sample_of_a_user_stays(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(treemean.TreemeanError, match=r"^x\.dbr: this file exists with other content"):
        call("sample", "x.dbr", "--generate", "3")
    with pytest.raises(treemean.TreemeanError, match=r"^x\.unknown: the name does not say which format"):
        call("sample", "x.unknown", "--generate", "3")
    call("sample", "x.dbr", "--generate", "3", "--overwrite")
    call("sample", "x.dbr", "--generate", "3")
    assert len(treemean.read("x.dbr")) == 3


def test_data_of_a_configuration_stay(here: Path) -> None:
    """A run writes files into its folder, one of which is what it is to learn from."""
    pytest.importorskip("torch")
    from treemean.experiments.config import files_of as data_of
    from treemean.experiments.config import load_config
    from treemean.files.inputs import protected
    from treemean.files.output import write_file

    config = load_config(
        "tn-lcfrs", ['data.train=["x.dbr"]', "data.development=y.dbr", "ensemble.test=soft.dbr"]
    )
    assert len(data_of(config)) == 3
    with protected(data_of(config)), pytest.raises(treemean.TreemeanError, match="overwrite an input"):
        write_file("hard.dbr", b"")
