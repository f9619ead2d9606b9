"""Evaluation speed: ours against sets of Python objects, on the ten LASSY runs or on the sample."""

from __future__ import annotations

import treemean
from benchmarks.common import data_folder, show, times
from treemean.reporting.tables import Cell
from treemean.trees import Tree


def naive_overall(predicted: list[Tree], gold: list[Tree]) -> tuple[int, int]:
    """Count matched and predicted constituents of the `paper` protocol, tree by tree."""
    matched = total = 0
    for p, g in zip(predicted, gold, strict=True):
        whole = (1 << len(p)) - 1
        found = {m for m in p.masks if m & (m - 1) and m != whole}
        wanted = {c.mask for c in g if len(c) > 1 and c.mask != whole and c.fan_out <= 2}
        matched += len(found & wanted)
        total += len(found)
    return matched, total


def main() -> None:
    data = data_folder()
    if data is not None:
        folder = data / "lassy-predictions" / "test"
        gold = treemean.read(folder / "gold.discbracket.gz")
        runs = [treemean.read(path) for path in sorted(folder.glob("run*"))]
    else:
        gold = treemean.transforms.remove_punctuation(treemean.sample.gold())
        runs = treemean.sample.runs()
    gold_trees = list(gold)
    run_trees = [list(run) for run in runs]
    for run, trees in zip(runs, run_trees, strict=True):
        overall = treemean.evaluate(run, gold, "paper").overall
        assert (overall.matched, overall.predicted) == naive_overall(trees, gold_trees)
    fast = times(lambda: [treemean.evaluate(run, gold, "paper") for run in runs], 3)[0]
    slow = times(lambda: [naive_overall(trees, gold_trees) for trees in run_trees], 3)[0]
    rows: list[list[Cell]] = [
        [f"evaluate, all scores, {len(runs)} runs", len(gold), 1e3 * fast],
        ["naive overall counts only, trees made before", len(gold), 1e3 * slow],
    ]
    show(["", "sentences", "ms"], rows, "Evaluation (best of three, one run; both count the same)")


if __name__ == "__main__":
    main()
