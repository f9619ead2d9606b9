"""Is every epoch of a run an individual of its own? Fitted hits of last epochs, of first ones, and of all.

    python -m benchmarks.learning.epochs FOLDER --gold out/dutch/dev/gold.jsonl

FOLDER has the trees of one variant of `benchmarks.learning.discontinuity`, as its archive has them:
epoch1-run01.jsonl and so on, of the development sentences. Hits are fitted to one half of these and tried on
the other, and the other way round; means of both.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import show
from treemean.averaging import average
from treemean.evaluation import evaluate
from treemean.evaluation.results import METRICS
from treemean.fitting import fit
from treemean.formats import read
from treemean.reporting.tables import Cell
from treemean.trees import Treebank


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="with epoch1-run01.jsonl, …")
    parser.add_argument("--gold", type=Path, default=Path("out/dutch/dev/gold.jsonl"))
    parser.add_argument("--model", default="boosted", help="of treemean fit")
    options = parser.parse_args(words)
    gold, epochs = read(options.gold), defaultdict(list)
    for path in sorted(options.folder.glob("epoch*-run*.jsonl")):
        found = re.match(r"epoch(\d+)-", path.name)
        assert found is not None
        epochs[int(found[1])].append(read(path))
    last = max(epochs)
    sets = {f"epoch {last}": epochs[last], "epoch 1": epochs[1]}
    sets["all epochs"] = [trees for epoch in sorted(epochs) for trees in epochs[epoch]]
    rows: list[list[Cell]] = []
    for name, runs in sets.items():
        equal = evaluate(average(runs), gold, "paper")
        fitted = fitted_by_halves(runs, gold, options.model)
        rows.append([name, len(runs), equal.overall.f1, equal.discontinuous.f1, *fitted])
    columns = ["individuals", "trees", "equal: overall", "discontinuous", *(f"fitted: {m}" for m in METRICS)]
    show(columns, rows, f"F1 on {len(gold)} development sentences")


def fitted_by_halves(runs: Sequence[Treebank], gold: Treebank, model: Any) -> list[float]:
    """Return F1 of averages with hits that were fitted to the other half of the sentences."""
    places = np.random.default_rng(0).permutation(len(gold))
    halves = np.sort(places[: len(gold) // 2]), np.sort(places[len(gold) // 2 :])
    scores = []
    for seen, unseen in (halves, halves[::-1]):
        hits = fit([run.take(seen) for run in runs], gold.take(seen), model)
        found = evaluate(hits.average([run.take(unseen) for run in runs]), gold.take(unseen), "paper")
        scores.append([getattr(found, metric).f1 for metric in METRICS])
    means: list[float] = np.mean(scores, 0).tolist()
    return means


if __name__ == "__main__":
    main()
