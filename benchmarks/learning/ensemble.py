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
    steps = events(folder)
    if steps:
        last = steps[-1]
        report.save(steps=last["step"], seconds=last["seconds"])
        print(f"{last['step']} steps of {options.runs} runs in {last['seconds']:.0f} s of work in all pieces")


if __name__ == "__main__":
    main()
