"""Do span posteriors add anything to trees, as votes or as features of fitted hits?

    python -m benchmarks.learning.posteriors collect MODEL … --out FOLDER
    python -m benchmarks.learning.posteriors compare FOLDER

`collect` parses the development and test sentences with models and writes the MBR tree of each and all its
spans above a small posterior. It runs where nothing is installed, not even PyArrow, so tables of spans are
arrays of NumPy here; FOLDER/posteriors.zip has all files. `compare` averages trees and tables without gold
trees, and with hits fitted to the development trees, all of them or some that are drawn at random.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.common import show
from benchmarks.learning.ensemble import PARTS
from treemean.formats import read, write
from treemean.parsing import Model, parse
from treemean.parsing.parse import LABEL
from treemean.parsing.text import sentences_of
from treemean.trees import CodedStrings, Individual, SpanTable, Treebank

#: Longer sentences are left out, as they are in the Dutch experiment.
LONGEST = 40


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    task = tasks.add_parser("collect", help="write trees and spans")
    task.add_argument("models", type=Path, nargs="+", help="folders of models")
    task.add_argument("--names", nargs="+", help="of their files, run…; by default run01, run02, …")
    task.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="with dev.jsonl, test.jsonl")
    task.add_argument("--out", type=Path, default=Path("out/posteriors"), help="folder for the files")
    task.add_argument("--least", type=float, default=0.02, help="posterior of a span that is written")
    task = tasks.add_parser("compare", help="compare averages")
    task.add_argument("folder", type=Path, help="where the files are, and gold trees: dev/gold.jsonl, …")
    task.add_argument("--model", default="boosted", help="of treemean fit")
    task.add_argument("--draws", type=int, default=5, help="how often fewer trees are drawn, if at all")
    options = parser.parse_args(words)
    if options.task == "collect":
        names = options.names or [f"run{number:02d}" for number in range(1, len(options.models) + 1)]
        for name, model in zip(names, options.models, strict=True):
            collect(name, model, options)
        shutil.make_archive(str(options.out / "posteriors"), "zip", options.out, ".")
    else:
        compare(options.folder, options.model, options.draws)


# ---- collecting ---------------------------------------------------------------------------------


def collect(name: str, path: Path, options: argparse.Namespace) -> None:
    """Write the MBR trees and the spans of one model."""
    model = Model.load(path, device="cuda" if torch.cuda.is_available() else "cpu")
    for part in PARTS:
        sentences = sentences_of([read(options.data / f"{part}.jsonl")], model.normalisation)
        kept = [sentence for sentence in sentences if 0 < len(sentence.kept) <= LONGEST]
        tables: list[SpanTable] = []
        trees = list(parse(model, kept, spans=tables.append, span_threshold=options.least))
        target = options.out / part / f"{name}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        write(Treebank.concatenate(trees), target, warn=False)
        save_spans(SpanTable.concatenate(tables), target.with_suffix(".npz"))
        print(f"{name}: {len(kept)} sentences of {part}", flush=True)


def save_spans(table: SpanTable, path: Path) -> None:
    """Write the spans of a table, without the words of its sentences."""
    columns = table.columns
    np.savez_compressed(
        path,
        offsets=columns.constituent_offsets,
        bits=columns.bits,
        posteriors=table.posteriors,
        expected=table.expected,
    )


def load_spans(path: Path, trees: Treebank) -> SpanTable:
    """Read what `save_spans` wrote, of sentences whose trees are known."""
    with np.load(path) as file:
        count = int(file["offsets"][-1])
        return SpanTable(
            trees.with_columns(
                constituent_offsets=file["offsets"],
                bits=file["bits"],
                labels=CodedStrings.constant(LABEL, count),
                functions=CodedStrings.constant("", count),
                constituent_values={"posterior": file["posteriors"]},
                sentence_values={"expected": file["expected"]},
            )
        )


# ---- comparing ----------------------------------------------------------------------------------


def compare(folder: Path, model: Any, draws: int) -> None:
    """Print F1 on test sentences of averages of trees and of tables of spans, without and with gold trees."""
    from benchmarks.learning.supply import curve, curve_table, fitted_scores, point_of, trees_of
    from treemean.averaging import average
    from treemean.evaluation import evaluate
    from treemean.evaluation.results import METRICS

    gold: dict[str, Treebank] = {}
    individuals: dict[str, dict[str, Individual]] = {}
    for part in PARTS:
        gold[part], runs = trees_of(folder / part)
        tables = {name: load_spans(folder / part / f"{name}.npz", run) for name, run in runs.items()}
        individuals[part] = {**runs, **{f"{name}-spans": table for name, table in tables.items()}}
    dev, test = ((gold[part], individuals[part]) for part in PARTS)
    trees, spans = list(runs), [f"{name}-spans" for name in runs]
    sets = {"trees": trees, "tables of spans": spans, "trees and tables": [*trees, *spans]}
    rows = []
    for called, members in sets.items():
        found = evaluate(average([test[1][name] for name in members]), gold["test"], "paper")
        rows.append([called, *(getattr(found, metric).f1 for metric in METRICS)])
    counts = f"{len(gold['test'])} test sentences, {len(runs)} models"
    show(["equal votes", *METRICS], rows, f"F1 on {counts}")
    curves = {}
    for called in ("trees", "trees and tables"):
        points = curve(model, sets[called], dev, test, draws) if draws else []
        everything = fitted_scores(model, sets[called], dev, test)
        curves[called] = [*points, point_of(len(gold["dev"]), [everything])]
    show(*curve_table(curves))


if __name__ == "__main__":
    main()
