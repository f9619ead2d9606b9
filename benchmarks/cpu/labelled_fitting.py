"""Fitting with labels on corrupted copies of a treebank: is it nearer to gold than averages that need no fit?

    python -m benchmarks.cpu.labelled_fitting [--gold FILE] [--seeds N]

The noise is that of `benchmarks.cpu.labelled`. Models are fitted to the copies of the first 500 sentences,
and scored on the next 1,000: labelled F1 of the protocol `standard`. Mean and standard deviation over seeds,
which are seeds of the noise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import mean, stdev

import treemean
from benchmarks.common import show
from benchmarks.cpu.labelled import COPIES, RATES, copies_of, read_gold
from treemean.averaging import average
from treemean.fitting import fit
from treemean.reporting.tables import Cell
from treemean.trees import Treebank

DEVELOPMENT, TEST = slice(0, 500), slice(500, 1500)


def scores(gold: Treebank, count: int, rates: tuple[float, float], seed: int) -> dict[str, float]:
    """Return the labelled F1 of every scheme on the test sentences."""
    copies = copies_of(gold, count, *rates, seed=seed)
    seen, unseen = ([copy[part] for copy in copies] for part in (DEVELOPMENT, TEST))

    def f1(trees: Treebank) -> float:
        return treemean.evaluate(trees, gold[TEST], labelled=True).overall.f1

    def fitted(model: str, labelled: bool) -> Treebank:
        hits = fit(seen, gold[DEVELOPMENT], model, protocol="standard", target="overall", labelled=labelled)
        return hits.average(unseen)

    return {
        "best copy": max(map(f1, unseen)),
        "vote": f1(average(unseen)),
        "joint": f1(average(unseen, labelled=True)),
        "boosted, vote": f1(fitted("boosted", False)),
        "logistic, labelled": f1(fitted("logistic", True)),
        "boosted, labelled": f1(fitted("boosted", True)),
    }


def main(arguments: Sequence[str]) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gold", help="the Alpino treebank under $TREEMEAN_DATA if not given")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(arguments)
    gold = read_gold(parser, options.gold)[: TEST.stop]
    rows: list[list[Cell]] = []
    for rates in RATES:
        for count in COPIES:
            found = [scores(gold, count, rates, seed) for seed in range(options.seeds)]
            columns = [[one[name] for one in found] for name in found[0]]
            cells = [
                f"{mean(column):.1f}" + (f" ± {stdev(column):.1f}" if len(column) > 1 else "")
                for column in columns
            ]
            rows.append([str(count), f"{rates[0]:.0%}", f"{rates[1]:.0%}", *cells])
    show(
        ["copies", "labels changed", "constituents changed", *found[0]], rows, "labelled F1 on test sentences"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
