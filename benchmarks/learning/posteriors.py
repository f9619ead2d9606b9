"""Do span posteriors add anything to trees, as votes or as features of fitted hits?

    python -m benchmarks.learning.posteriors collect MODEL … --out FOLDER
    python -m benchmarks.learning.posteriors compare FOLDER

`collect` parses the development and test sentences with models and writes, beside the MBR tree of each, its
spans above a small posterior. These cross, so they are written as several trees, *layers*: a span goes, the
most probable first, into the first layer that it does not cross. Candidates that are in no MBR tree become
available so. FOLDER/posteriors.zip has all files, such as dev/run01-2.jsonl for the second layer; run01-0 has
MBR trees. It runs where nothing is installed. `compare` averages trees, and layers by their posteriors,
without gold trees; and both with hits fitted to the development trees.
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
from treemean.parsing import Model
from treemean.parsing.batches import cut_for
from treemean.parsing.parse import LABEL, POSTERIOR
from treemean.parsing.text import Sentence, sentences_of
from treemean.trees import Constituent, Tree, Treebank

#: Longer sentences are left out, as they are in the Dutch experiment.
LONGEST = 40
#: A span and its posterior.
Span = tuple[int, float]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    task = tasks.add_parser("collect", help="write trees and layers")
    task.add_argument("models", type=Path, nargs="+", help="folders of models")
    task.add_argument("--names", nargs="+", help="of their files, run…; by default run01, run02, …")
    task.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="with dev.jsonl, test.jsonl")
    task.add_argument("--out", type=Path, default=Path("out/posteriors"), help="folder for the files")
    task.add_argument("--least", type=float, default=0.02, help="posterior of a span that is written")
    task.add_argument("--layers", type=int, default=4, help="how many; what fits in none is left out")
    task = tasks.add_parser("compare", help="compare averages")
    task.add_argument("folder", type=Path, help="where the files are, and gold trees: dev/gold.jsonl, …")
    task.add_argument("--model", default="boosted", help="of treemean fit")
    options = parser.parse_args(words)
    if options.task == "collect":
        names = options.names or [f"run{number:02d}" for number in range(1, len(options.models) + 1)]
        for name, model in zip(names, options.models, strict=True):
            collect(name, model, options)
        shutil.make_archive(str(options.out / "posteriors"), "zip", options.out, ".")
    else:
        compare(options.folder, options.model)


# ---- collecting ---------------------------------------------------------------------------------


def collect(name: str, path: Path, options: argparse.Namespace) -> None:
    """Write the MBR trees and the layers of one model."""
    model = Model.load(path, device="cuda" if torch.cuda.is_available() else "cpu")
    for part in PARTS:
        sentences = list(sentences_of([read(options.data / f"{part}.jsonl")], model.normalisation))
        rows = [(s, model.numbers(s)) for s in sentences]
        rows = [(sentence, row) for sentence, row in rows if 0 < len(row) <= LONGEST]
        layers: list[list[list[Constituent]]] = [[[] for _ in rows] for _ in range(options.layers + 1)]
        lengths = np.array([len(row) for _, row in rows])
        with torch.no_grad():
            for places in cut_for(model.grammar, lengths):
                known = torch.tensor(lengths[places], device=model.device)
                ids = torch.zeros(len(places), int(known.max()), dtype=torch.long, device=model.device)
                for line, place in enumerate(places):
                    ids[line, : lengths[place]] = torch.tensor(rows[place][1])
                best, posteriors = model.grammar.mbr(ids, known), model.grammar.posteriors(ids, known)
                found = posteriors.to("cpu").above(options.least)
                for place, tree, spans in zip(places, best, found):
                    worth = dict(spans)
                    layers[0][place] = [_constituent(mask, worth.get(mask, 0.0)) for mask in tree]
                    for layer, own in zip(layers[1:], in_layers(spans, options.layers)):
                        layer[place] = [_constituent(*span) for span in own]
        for number, layer in enumerate(layers):
            trees = [_tree(sentence, own) for (sentence, _), own in zip(rows, layer)]
            target = options.out / part / f"{name}-{number}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            write(Treebank.from_trees(trees), target, warn=False)
        print(f"{name}: {len(rows)} sentences of {part}", flush=True)


def _constituent(mask: int, posterior: float) -> Constituent:
    return Constituent(mask, LABEL, "", {POSTERIOR: min(1.0, round(posterior, 4))})


def _tree(sentence: Sentence, constituents: list[Constituent]) -> Tree:
    words = [sentence.words[place] for place in sentence.kept]
    whole = (1 << len(words)) - 1
    if not any(constituent.mask == whole for constituent in constituents):
        constituents = [_constituent(whole, 1.0), *constituents]
    return Tree(words, constituents, id=sentence.id)


def in_layers(spans: Sequence[Span], count: int) -> list[list[Span]]:
    """Put each span, the most probable first, into the first of some layers where it crosses nothing.

    >>> in_layers([(0b011, 0.6), (0b110, 0.4), (0b111, 1.0), (0b101, 0.1)], 2)
    [[(7, 1.0), (3, 0.6)], [(6, 0.4)]]
    """
    layers: list[list[Span]] = [[] for _ in range(count)]
    for mask, posterior in sorted(spans, key=lambda span: (-span[1], span[0])):
        for layer in layers:
            if not any(_cross(mask, other) for other, _ in layer):
                layer.append((mask, posterior))
                break
    return layers


def _cross(first: int, second: int) -> bool:
    return first & second not in (0, first, second)


# ---- comparing ----------------------------------------------------------------------------------


def compare(folder: Path, model: Any) -> None:
    """Print F1 on test sentences of averages of trees, and of layers."""
    from benchmarks.learning.supply import trees_of
    from treemean.averaging import average
    from treemean.evaluation import evaluate
    from treemean.evaluation.results import METRICS
    from treemean.fitting import fit

    parts = {part: trees_of(folder / part) for part in PARTS}
    names = list(parts["test"][1])
    trees = [name for name in names if name.endswith("-0")]
    layers = [name for name in names if not name.endswith("-0")]
    gold, runs = parts["test"]
    averages = {
        "trees, equal": lambda: average([runs[name] for name in trees]),
        "trees, by posterior": lambda: average([runs[name] for name in trees], hits=POSTERIOR),
        "layers, largest sum of posteriors": lambda: average(
            [runs[name] for name in layers], hits=POSTERIOR, additive=True
        ),
    }
    for called, own in (("trees", trees), ("layers", layers), ("trees and layers", names)):
        averages[f"{called}, fitted"] = lambda own=own: fit(
            [parts["dev"][1][name] for name in own], parts["dev"][0], model
        ).average([runs[name] for name in own])
    rows = []
    for called, make in averages.items():
        found = evaluate(make(), gold, "paper")
        rows.append([called, *(getattr(found, metric).f1 for metric in METRICS)])
        print(f"{called}: {found.overall.f1:.2f}", flush=True)
    show(["average", *METRICS], rows, f"F1 on {len(gold)} test sentences, {len(trees)} models")


if __name__ == "__main__":
    main()
