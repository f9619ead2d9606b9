"""`--help` of every command fits into 80 columns, and choices are completed."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import typer

from treemean.cli import app
from treemean.names import FormatName, MethodName

ROOT = typer.main.get_command(app)


def paths(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, part in getattr(command, "commands", {}).items():
        yield from paths(part, (*path, name))


def help_of(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        ROOT([*path, "--help"], prog_name="treemean", standalone_mode=False)
    return out.getvalue()


@pytest.mark.parametrize("path", list(paths()), ids=" ".join)
def test_help_fits(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    text = help_of(path, monkeypatch)
    assert max(map(len, text.splitlines())) <= 80
    assert "<bool>" not in text
    assert text.startswith(f"Usage: {' '.join(['treemean', *path])} ")
    assert "-h, --help" in text


def test_help_tells_names_choices_and_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = help_of(("convert",), monkeypatch, columns=100).splitlines()
    text = " ".join(" ".join(lines).split())
    assert (
        "--keep-label LABEL Which label of a collapsed chain stays. One of top, bottom, join. Default: top."
        in text
    )
    assert any(line.strip().startswith("--from FORMAT ") for line in lines)
    assert any("--binarise, --binarize" in line for line in lines)
    (line,) = (line for line in help_of(("average",), monkeypatch).splitlines() if "-o, --output" in line)
    assert "Required." in line


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("treemean convert a b --to ", set(get_args(FormatName))),
        ("treemean average a --method ", set(get_args(MethodName))),
        ("treemean convert a b --functions ", {"keep", "drop", "join", "split"}),
        ("treemean train tn-lcfrs-", {"tn-lcfrs-small", "tn-lcfrs-text"}),
    ],
)
def test_choices_are_completed(typed: str, expected: set[str]) -> None:
    words = typed.split()
    environment = {
        **os.environ,
        "_TREEMEAN_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - (not typed.endswith(" "))),
    }
    code = "import sys; sys.argv = ['treemean']; from treemean.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert set(done.stdout.split()) == expected, done.stderr


def test_usage_is_the_same_in_errors_and_in_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ROOT(["fit"], prog_name="treemean")
    assert "Usage: treemean fit RUN... [OPTIONS]\n" in capsys.readouterr().err
