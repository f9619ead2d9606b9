"""The Dutch experiment by one command: `make dutch` makes the tables and figures of docs/results.md.

    python -m benchmarks.page.results --out out/dutch

Takes the trees that `benchmarks.learning.dutch` keeps, and gives the commands that the page names, one after
another. What a command made before is not made again.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT
from benchmarks.learning import dutch
from benchmarks.learning.ensemble import PRESETS
from benchmarks.learning.prepare import dutch_folder, parts_of_treebank
from benchmarks.page.__main__ import fill
from treemean.evaluation.results import METRICS
from treemean.files.output import write_file
from treemean.reporting.tables import Table

#: How runs are weighed, in the order of the table, and what is to be said of each.
MODELS = {
    "paper": "five best, weighted by discontinuous F1, as in the paper",
    "equal": "five best, equal weights",
    "agreement": "all, weighted by agreement: no gold trees",
    "typed": "all, fitted: weights by kind of constituent",
    "logistic": "all, fitted: logistic",
    "boosted": "all, fitted: boosted",
}
#: Those that are tried with individuals of several kinds, too.
OF_KINDS = ("agreement", "logistic", "boosted")
FIGURES = ("correlation", "individuals", "pruning", "run-time", "labels", "agreement")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/dutch"), help="folder for everything")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args(words)
    out = options.out
    dutch.unpack(parts_of_treebank(dutch_folder()), out)
    for folder, models in ((out, MODELS), (out / "kinds", OF_KINDS)):
        for model in models:
            trees = ("--dev", folder / "dev", "--test", folder / "test")
            give("ensemble", *trees, "-o", folder / model, "--model", model)
    give("experiment", "all", "--from", out / "paper", "-o", out / "experiment")
    give("report", out / "boosted", "-o", out / "report.html")
    page = options.docs / "results.md"
    write_file(page, fill(page.read_text(), tables(out)).encode())
    for name in FIGURES:
        shutil.copyfile(out / "experiment" / f"{name}.svg", options.docs / "images" / f"dutch-{name}.svg")


def give(*words: str | Path) -> None:
    """Give a command to treemean, and show it."""
    print(f"treemean {' '.join(map(str, words))}", flush=True)
    program = [sys.executable, "-m", "treemean", *map(str, words)]
    finished = subprocess.run(program, stdout=subprocess.DEVNULL, check=False)
    if finished.returncode:
        sys.exit(f"treemean {words[0]} ended with {finished.returncode}")


def tables(out: Path) -> dict[str, str]:
    """Return the tables of the page by their marks."""
    results = {model: _results(out / model) for model in MODELS}
    kinds = {model: _results(out / "kinds" / model) for model in OF_KINDS}
    return {
        "main": _without_title((out / "experiment" / "main.md").read_text()),
        "positives": _without_title((out / "experiment" / "positives.md").read_text()),
        "grammars": grammars_table(kinds["boosted"]),
        "models": models_table(results, kinds),
    }


def _results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def _without_title(text: str) -> str:
    return re.sub(r"\A\*\*.*\*\*\n\n", "", text).strip()


def grammars_table(of_kinds: Mapping[str, Any]) -> str:
    """Return the scores of runs by grammar: one of each, and the mean of the ten."""
    scores = of_kinds["results"]["individuals"]
    rows: list[list[str | float | None]] = []
    for preset in PRESETS:
        own = [found for name, found in scores.items() if _grammar_of(name) == preset]
        if not own:
            continue
        means = [sum(found[metric]["f1"] for found in own) / len(own) for metric in METRICS]
        rows.append([preset.upper(), str(len(own)), *(f"{mean:.2f}" for mean in means)])
    return Table(["grammar", "runs", *METRICS], rows).to_markdown().strip()


def _grammar_of(run: str) -> str:
    return run.partition("-")[2] or PRESETS[0]


def models_table(results: Mapping[str, Any], kinds: Mapping[str, Any]) -> str:
    """Return the scores of averages: of ten runs of one kind, and of all fifteen."""
    rows: list[list[str | float | None]] = []
    for found, individuals in ((results, "ten TN-LCFRS"), (kinds, "all fifteen")):
        for model, told in found.items():
            scores = told["results"]["ensembles"]["non-binary ensemble"]
            cells = [f"{scores[metric]['f1']:.2f}" for metric in METRICS]
            rows.append([individuals, f"`{model}`", MODELS[model], *cells])
    return Table(["individuals", "model", "runs and weights", *METRICS], rows).to_markdown().strip()


if __name__ == "__main__":
    main()
