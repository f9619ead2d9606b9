"""The demo from several initialisations: what small parsers and their average reach on the sample.

Prints a table, and writes all results below out/sample-ensemble; what was done before is not done again.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from benchmarks.common import show
from treemean.evaluation.results import METRICS
from treemean.experiments.config import load_config
from treemean.experiments.demo import write_demo
from treemean.experiments.main_results import BINARY, NON_BINARY, MainResults
from treemean.experiments.pipeline import run_ensemble
from treemean.files.output import write_file
from treemean.reporting.tables import Cell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the initialisations")
    parser.add_argument("--out", type=Path, default=Path("out/sample-ensemble"))
    options = parser.parse_args()
    config = write_demo(options.out)
    results = {}
    for seed in options.seeds:
        print(f"initialisation {seed}", flush=True)
        chosen = load_config(config, [f"run.init_seed={seed}"])
        folder = options.out / f"seed{seed}"
        results[seed] = run_ensemble(chosen, folder, tell=lambda text: print(f"  {text}", flush=True)).results
    show(
        ["initialisation", *(f"F1 {metric}" for metric in METRICS)],
        [row for seed, result in results.items() for row in _rows(seed, result)],
        "Test scores on the sample (100 Dutch sentences)",
    )
    told = {seed: result.to_dict() for seed, result in results.items()}
    write_file(options.out / "results.json", json.dumps(told, indent=1).encode() + b"\n")


def _rows(seed: int, results: MainResults) -> list[list[Cell]]:
    best = max(results.baselines, key=lambda name: results.baselines[name].overall.f1)
    scores = {m: [e.counts(m).f1 for e in results.chosen.values()] for m in METRICS}
    means = [f"{statistics.fmean(values):.2f} ± {statistics.stdev(values):.2f}" for values in scores.values()]
    rows: list[list[Cell]] = [
        [f"{seed}: {best}", *(results.baselines[best].counts(m).f1 for m in METRICS)],
        [f"{seed}: mean of the runs ± standard deviation", *means],
    ]
    for name in (BINARY, NON_BINARY):
        rows.append([f"{seed}: {name}", *(results.ensembles[name].counts(m).f1 for m in METRICS)])
    return rows


if __name__ == "__main__":
    main()
