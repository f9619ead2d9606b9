"""What does a floor under the scores of spans do to discontinuous constituents? Three seeds each.

python benchmarks/learning/floor.py --epochs 4 --out FOLDER
"""

from __future__ import annotations

from common import Report, arguments, config_for, folder_for
from study import Group, study

from gpu.timing import Budget
from treemean.training.together import Job


def main() -> None:
    parser = arguments(__doc__ or "", seconds=480)
    parser.add_argument("--corpus", default="full")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--floors", type=float, nargs="+", default=[0.0, 1e-9])
    options = parser.parse_args()
    budget, report = Budget(options.seconds), Report(options.out, "floor")
    groups = []
    for floor in options.floors:
        jobs = {}
        for seed in options.seeds:
            given = [
                *(f"grammar.floor={floor}", f"run.init_seed={seed}"),
                *(f"training.epochs={options.epochs}", "training.report_every=25", "checkpoint.seconds=0"),
            ]
            config = config_for(options.data, options.corpus, *given, *options.override)
            folder = folder_for(options.work / "floor", f"{floor:g}-{seed}", options.data, options.corpus)
            jobs[f"floor {floor:g}, seed {seed}"] = Job(config, folder, seed)
        groups.append(Group(f"floor {floor:g}", jobs))
    report.save(corpus=options.corpus, epochs=options.epochs)
    study(groups, budget, report)


if __name__ == "__main__":
    main()
