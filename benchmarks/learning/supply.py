"""What do individuals of other kinds add? Right discontinuous candidates, and what fitted hits make of them.

    python -m benchmarks.learning.supply --trees out/dutch/starts --out out/dutch

Takes the trees of the Dutch experiment (`benchmarks.learning.dutch`). For several sets of individuals it
counts the discontinuous candidates of the test sentences and how many of them are right, and scores the
average with hits that are fitted (boosted) to the development trees; then likewise with fewer development
trees, drawn at random several times.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import show
from benchmarks.learning.gaps import Gapped, discontinuous
from treemean.evaluation import evaluate
from treemean.evaluation.alignment import align
from treemean.evaluation.protocols import get_protocol
from treemean.evaluation.results import METRICS
from treemean.files.output import write_file
from treemean.fitting import fit
from treemean.formats import read
from treemean.trees import Individual, Treebank, bitsets

#: How many development trees are drawn.
SIZES = (25, 50, 100, 300)
#: What is averaged, by name; `curve` also takes tables of spans.
Trees = dict[str, Treebank]
Individuals = Mapping[str, Individual]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trees", type=Path, default=Path("out/dutch/starts"), help="with dev and test")
    parser.add_argument("--out", type=Path, default=Path("out/dutch"), help="folder for supply.json")
    parser.add_argument("--model", default="boosted", help="of treemean fit")
    parser.add_argument("--draws", type=int, default=5, help="how often fewer trees are drawn, if at all")
    options = parser.parse_args(words)
    dev, test = (trees_of(options.trees / part) for part in ("dev", "test"))
    sets = sets_of(list(test[1]))
    told: dict[str, Any] = {"model": options.model, "supply": {}, "curve": {}}
    for name, members in sets.items():
        counts = supply([test[1][run] for run in members], test[0])
        scores = fitted_scores(options.model, members, dev, test)
        told["supply"][name] = {"runs": len(members), **counts, **scores}
    shown = ("runs", "candidates", "correct", *METRICS)
    rows = [[name, *(found[key] for key in shown)] for name, found in told["supply"].items()]
    gold = next(iter(told["supply"].values()))["gold"]
    title = f"candidates with a gap on test sentences (gold trees have {gold}), and F1 of fitted hits"
    show(["individuals", *shown], rows, title)
    for name in (next(iter(sets)), next(reversed(sets))) if options.draws else ():
        points = curve(options.model, sets[name], dev, test, options.draws)
        told["curve"][name] = [*points, point_of(len(dev[0]), [told["supply"][name]])]
    if told["curve"]:
        show(*curve_table(told["curve"]))
    options.out.mkdir(parents=True, exist_ok=True)
    write_file(options.out / "supply.json", json.dumps(told, indent=1).encode() + b"\n")


def trees_of(folder: Path) -> tuple[Treebank, Trees]:
    """Return the gold trees of a part, and those of its runs by name."""
    if not (folder / "gold.jsonl").exists():
        sys.exit(f"there is no gold.jsonl in {folder}: benchmarks.learning.dutch writes it")
    return read(folder / "gold.jsonl"), {path.stem: read(path) for path in sorted(folder.glob("run*.jsonl"))}


def sets_of(runs: Sequence[str]) -> dict[str, list[str]]:
    """Return the sets of runs that are compared, by name: the ten alone, each other kind, they together, all.

    >>> list(sets_of(["run-c-lcfrs", "run-n-pcfg", "run01", "run02"]))
    ['2 TN-LCFRS', 'C-LCFRS', 'N-PCFG', '2 and C-LCFRS', '2 and N-PCFG', 'all 4']
    >>> sets_of(["run-starts", "run-starts-02", "run01"])["1 and 2 starts"]
    ['run01', 'run-starts', 'run-starts-02']
    """
    alike, kinds = [run for run in runs if "-" not in run], groupby(runs, kind_of)
    others = {kind: list(own) for kind, own in kinds if kind}
    named = {kind if len(own) == 1 else f"{len(own)} {kind.lower()}": own for kind, own in others.items()}
    return {
        f"{len(alike)} TN-LCFRS": alike,
        **named,
        **{f"{len(alike)} and {name}": [*alike, *own] for name, own in named.items()},
        f"all {len(runs)}": list(runs),
    }


def kind_of(run: str) -> str:
    """Return the kind in the name of a run, without its number.

    >>> [kind_of("run01"), kind_of("run-c-lcfrs"), kind_of("run-starts-02")]
    ['', 'C-LCFRS', 'STARTS']
    """
    return re.sub(r"-\d+$", "", run).partition("-")[2].upper()


def supply(runs: Sequence[Treebank], gold: Treebank) -> dict[str, int]:
    """Count the discontinuous candidates of some runs, and those that gold trees have, each set once."""
    candidates: Gapped = set()
    in_gold: Gapped = set()
    for run in runs:
        pair = align(run, gold, get_protocol("paper"))
        candidates |= discontinuous(pair.predicted)
        found = discontinuous(pair.gold)
        in_gold = {(number, mask) for number, mask in found if bitsets.fan_out_of(mask) == 2}
    return {"candidates": len(candidates), "correct": len(candidates & in_gold), "gold": len(in_gold)}


def fitted_scores(
    model: Any,
    members: Sequence[str],
    dev: tuple[Treebank, Individuals],
    test: tuple[Treebank, Individuals],
    places: Any = None,
) -> dict[str, float]:
    """Return F1 on test sentences of the average with hits fitted to (some) development trees."""
    gold, runs = dev[0], [dev[1][run] for run in members]
    if places is not None:
        gold, runs = gold.take(places), [run.take(places) for run in runs]
    average = fit(runs, gold, model).average([test[1][run] for run in members])
    found = evaluate(average, test[0], "paper")
    return {metric: getattr(found, metric).f1 for metric in METRICS}


def curve(
    model: Any,
    members: Sequence[str],
    dev: tuple[Treebank, Individuals],
    test: tuple[Treebank, Individuals],
    draws: int,
) -> list[dict[str, Any]]:
    """Return means and deviations of F1 by the number of development trees, fewer than there are."""
    points = []
    for size in (size for size in SIZES if size < len(dev[0])):
        scores = [
            fitted_scores(model, members, dev, test, _drawn(len(dev[0]), size, seed)) for seed in range(draws)
        ]
        points.append(point_of(size, scores))
        print(f"{len(members)} runs, {size} trees: {points[-1]['overall']['mean']:.2f}", flush=True)
    return points


def point_of(trees: int, scores: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return the mean of some scores, and how far they spread if there are several."""
    point: dict[str, Any] = {"trees": trees, "draws": len(scores)}
    for metric in METRICS:
        values = [found[metric] for found in scores]
        deviation = statistics.stdev(values) if len(values) > 1 else None
        point[metric] = {"mean": statistics.fmean(values), "deviation": deviation}
    return point


def _drawn(among: int, size: int, seed: int) -> Any:
    return np.sort(np.random.default_rng(seed).permutation(among)[:size])


def curve_table(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[str], list[list[Any]], str]:
    """Return the learning curves as a table."""
    rows = []
    for name, points in curves.items():
        for point in points:
            rows.append([name, point["trees"], *(_cell(point[metric]) for metric in METRICS)])
    return ["individuals", "development trees", *METRICS], rows, "F1 on test sentences by development trees"


def _cell(value: Mapping[str, Any]) -> str:
    spread = "" if value["deviation"] is None else f" ± {value['deviation']:.2f}"
    return f"{value['mean']:.2f}{spread}"


if __name__ == "__main__":
    main()
