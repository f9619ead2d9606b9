"""Average the trees of the ten runs that ensemble trained, and score everything as the paper does.

    python -m benchmarks.learning.average FOLDER --data out/gpu-data --out FOLDER

FOLDER has ensemble.json, which says where the runs were trained, and trees.zip with dev-run01.jsonl, … and
test-run01.jsonl, …. The five best runs on the development set are averaged, weighted by their development F1
on discontinuous constituents, and again with equal weights, they and all runs; and all runs with hits that
are fitted to the development trees (docs/fitting.md). The test set is for scores only.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from treemean.evaluation import evaluate
from treemean.evaluation.results import METRICS, Evaluation
from treemean.experiments.main_results import Ensembles, main_results
from treemean.experiments.selection import select
from treemean.files.output import write_file
from treemean.fitting import fit
from treemean.formats import read
from treemean.trees import Treebank

LONGEST = 40
#: Models of `treemean.fitting`, each of all runs.
FITTED = ("typed", "logistic", "boosted")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="that ensemble wrote into")
    parser.add_argument("--data", type=Path, default=Path("out/gpu-data"))
    parser.add_argument("--out", type=Path, default=Path("out/gpu"), help="folder for average.json")
    parser.add_argument("--keep", type=int, default=5, help="how many runs are averaged")
    options = parser.parse_args(words)
    gold, trees, device = {}, {}, trained_on(options.folder)
    with TemporaryDirectory() as unpacked:
        shutil.unpack_archive(options.folder / "trees.zip", unpacked)
        for part in ("dev", "test"):
            everything = read(options.data / f"{part}.jsonl")
            gold[part], trees[part] = short(everything, runs_of(Path(unpacked), part))
    development = [evaluate(bank, gold["dev"], "paper") for bank in trees["dev"].values()]
    selection = select(development, options.keep)
    ensembles = Ensembles.of(list(trees["test"].values()), selection)
    results = main_results(trees["test"], ensembles, selection, gold["test"])
    print(results.table("Alpino test sentences of at most 40 words").to_markdown())
    told = {"device": device} | results.to_dict()
    for kind in ("baselines", "individuals", "ensembles"):
        told[kind] = {name: scores(found) for name, found in getattr(results, kind).items()}
    told["equal_weights"] = {
        f"{keep} runs": scores(
            evaluate(equal_average(trees["test"], development, keep), gold["test"], "paper")
        )
        for keep in sorted({options.keep, len(development)})
    }
    for model in FITTED:
        fitted = fit(list(trees["dev"].values()), gold["dev"], model)
        found = evaluate(fitted.average(list(trees["test"].values())), gold["test"], "paper")
        told.setdefault("fitted", {})[model] = scores(found)
    told["development"] = {name: scores(found) for name, found in zip(trees["dev"], development)}
    options.out.mkdir(parents=True, exist_ok=True)
    write_file(options.out / "average.json", json.dumps(told, indent=1).encode() + b"\n")


def trained_on(folder: Path) -> str:
    """Return the device of the runs; end with an error unless all that is needed is there."""
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}")
    for name in ("ensemble.json", "trees.zip"):
        if not (folder / name).exists():
            sys.exit(f"there is no {name} in {folder}: ensemble writes it, trees.zip when all runs are over")
    return str(json.loads((folder / "ensemble.json").read_text())["device"])


def short(gold: Treebank, runs: Mapping[str, Treebank]) -> tuple[Treebank, dict[str, Treebank]]:
    """Return the sentences of at most 40 words; the trees of the runs have no punctuation to count."""
    places = np.flatnonzero(next(iter(runs.values())).lengths <= LONGEST)
    return gold.take(places), {name: bank.take(places) for name, bank in runs.items()}


def runs_of(folder: Path, part: str) -> dict[str, Treebank]:
    """Return the trees of all runs by name."""
    files = sorted(folder.glob(f"{part}-run*.jsonl"))
    if not files:
        sys.exit(f"trees.zip has no trees of the {part} set")
    return {f"run {int(path.stem[-2:])}": read(path) for path in files}


def equal_average(runs: Mapping[str, Treebank], development: Sequence[Evaluation], keep: int) -> Treebank:
    """Return the average of the runs that are best on the development set, all of the same weight."""
    return Ensembles.of(list(runs.values()), select(development, keep, "equal")).non_binary


def scores(found: Evaluation) -> dict[str, float]:
    """Return F1 of all constituents, of continuous and of discontinuous ones."""
    return {metric: found.counts(metric).f1 for metric in METRICS}


if __name__ == "__main__":
    main()
