"""Long runs, with and without schedule, warm-up and averaged weights: do they diverge, what is lost?

    python benchmarks/learning/stability.py --epochs 30 --out FOLDER

All variants share initialisation and order, and are trained together.
"""

from __future__ import annotations

from common import Report, arguments, config_for, folder_for
from study import Group, study

from gpu.timing import Budget
from treemean.training.together import Job

VARIANTS = {
    "constant rate": [],
    "warm-up, cosine": ["optimiser.schedule=cosine", "optimiser.warm_up=500"],
    "averaged": ["optimiser.average=0.999"],
    "warm-up, cosine, averaged": [
        *("optimiser.schedule=cosine", "optimiser.warm_up=500", "optimiser.average=0.999"),
    ],
}


def main() -> None:
    parser = arguments(__doc__ or "", seconds=520)
    parser.add_argument("--corpus", default="full")
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args()
    budget, report = Budget(options.seconds), Report(options.out, "stability")
    jobs = {}
    for number, (name, changes) in enumerate(VARIANTS.items(), 1):
        given = [
            *(f"training.epochs={options.epochs}", f"training.patience={options.epochs}"),
            *("training.report_every=25", "checkpoint.seconds=0"),
        ]
        config = config_for(options.data, options.corpus, *given, *changes, *options.override)
        folder = folder_for(options.work / "stability", f"variant{number}", options.data, options.corpus)
        jobs[name] = Job(config, folder)
    report.save(corpus=options.corpus, epochs=options.epochs)
    study([Group("stability", jobs)], budget, report)


if __name__ == "__main__":
    main()
