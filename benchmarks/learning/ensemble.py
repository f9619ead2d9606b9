"""Ten runs of ten epochs with decoding of the development set after each: how long does the ensemble take?

    python benchmarks/learning/ensemble.py --out FOLDER

Called again with the same --work it goes on where it was.
"""

from __future__ import annotations

from common import Report, arguments, config_for, events, folder_for
from study import Group, study

from gpu.timing import Budget
from treemean.training.together import Job


def main() -> None:
    parser = arguments(__doc__ or "", seconds=520)
    parser.add_argument("--corpus", default="full")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    budget, report = Budget(options.seconds), Report(options.out, "ensemble")
    given = (f"training.epochs={options.epochs}", "training.report_every=50", "checkpoint.seconds=0")
    config = config_for(options.data, options.corpus, *given, *options.override)
    folder = folder_for(options.work, "ensemble", options.data, options.corpus)
    group = Group("ensemble", {f"run {run}": Job(config, folder, run) for run in range(1, options.runs + 1)})
    study([group], budget, report)
    kinds = ("step", "epoch")
    rows = [row for run in range(1, options.runs + 1) for kind in kinds for row in events(folder, run, kind)]
    if rows:
        steps, seconds = (max(row[name] for row in rows) for name in ("step", "seconds"))
        report.save(steps=steps, seconds=seconds)
        print(f"{steps} steps of {options.runs} runs took {seconds:.0f} s, all pieces and measuring included")


if __name__ == "__main__":
    main()
