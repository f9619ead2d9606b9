"""Averages whose continuous constituents come from some runs, and the discontinuous ones from others.

    python -m benchmarks.learning.parted --gold FILE --continuous RUN … --discontinuous RUN …

No gold tree is used but for F1. A ratio of 2 gives all votes for discontinuous constituents together twice
the weight of those for continuous ones; with 0 there are none.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import show
from treemean.averaging import average
from treemean.evaluation import evaluate
from treemean.evaluation.results import METRICS
from treemean.formats import read
from treemean.trees import Treebank

RATIOS = (0.0, 0.5, 1.0, 1.5, 2.0)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--continuous", type=Path, nargs="+", required=True, metavar="RUN")
    parser.add_argument("--discontinuous", type=Path, nargs="+", required=True, metavar="RUN")
    parser.add_argument("--ratios", type=float, nargs="+", default=RATIOS)
    options = parser.parse_args(words)
    gold = read(options.gold)
    first, second = ([read(path) for path in paths] for paths in (options.continuous, options.discontinuous))
    rows: list[list[str]] = []
    for ratio in options.ratios:
        found = evaluate(parted_average(first, second, ratio), gold, "paper")
        rows.append([f"{ratio:g}", *(f"{getattr(found, metric).f1:.2f}" for metric in METRICS)])
    show(["ratio", *METRICS], rows, f"{len(first)} runs for continuous, {len(second)} for the others")


def parted_average(
    continuous: Sequence[Treebank], discontinuous: Sequence[Treebank], ratio: float
) -> Treebank:
    """Return the average in which each kind of constituent has the votes of its own runs."""
    first, second = len(continuous), len(discontinuous)
    weights = {
        "continuous": [1 / first] * first + [0.0] * second,
        "discontinuous": [0.0] * first + [ratio / second] * second,
    }
    return average([*continuous, *discontinuous], weights)


if __name__ == "__main__":
    main()
