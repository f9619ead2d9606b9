"""On a plain install, without extras, everything else works, and commands that need an extra name it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from commands import python

ROOT = Path(__file__).resolve().parents[1]

#: Runs commands in one process in which the packages of all extras cannot be imported.
_PROGRAM = """
import json, sys

for name in "torch safetensors triton sklearn scipy matplotlib pyarrow ray pandas polars".split():
    sys.modules[name] = None
from treemean.cli import app
from treemean.errors import MissingDependency

said = []
for command in json.loads(sys.argv[1]):
    try:
        app(command.split(), standalone_mode=False)
        said.append("")
    except MissingDependency as error:
        said.append(str(error))
print("\\n" + json.dumps(said))
"""

WORKING = [
    "average run1.discbracket run2.discbracket run3.discbracket -o mean.discbracket",
    "evaluate mean.discbracket gold.discbracket",
    "compare mean.discbracket run1.discbracket gold.discbracket",
    "agree run1.discbracket run2.discbracket",
    "draw mean.discbracket --sentence 7 -o tree.svg",
    "fit run1.discbracket run2.discbracket --gold gold.discbracket --model logistic -o hits.json",
    "ensemble --dev . --test . -o out",
]
NEEDING = {
    "average run1.discbracket run2.discbracket -o mean.parquet": "parquet",
    "draw gold.discbracket --sentence 7 -o tree.png": "plots",
    "fit run1.discbracket run2.discbracket --gold gold.discbracket --model boosted -o hits.json": "fit",
    "average run1.discbracket run2.discbracket -o m.dbr --method integer-programming": "solve",
    "demo": "train",
    "train tn-lcfrs-small": "train",
    "parse model gold.discbracket -o trees.dbr": "train",
    "ensemble tn-lcfrs-small -o trained": "train",
    "debug config tn-lcfrs": "train",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from treemean import sample, write

    folder = tmp_path_factory.mktemp("plain")
    for name, trees in {
        "gold": sample.gold(),
        **{f"run{i + 1}": r for i, r in enumerate(sample.runs())},
    }.items():
        write(trees[:60], folder / f"{name}.discbracket")
    return folder


def test_commands_work_or_name_the_extra(folder: Path) -> None:
    commands = [*WORKING, *NEEDING]
    done = python("-c", _PROGRAM, json.dumps(commands), cwd=folder)
    said = dict(zip(commands, json.loads(done.stdout.splitlines()[-1]), strict=True))
    for command in WORKING:
        assert said[command] == "", command
    for command, extra in NEEDING.items():
        assert f"pip install 'treemean[{extra}]'" in said[command], command


def test_all_has_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    ((_, _, listed),) = (text.removesuffix("]").partition("[") for text in extras["all"])
    assert extras.keys() - {"all", "dev"} <= set(listed.split(","))
