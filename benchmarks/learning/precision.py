"""Does the precision of the kernels cost quality? Learning curves against full float32, three seeds.

    python benchmarks/learning/precision.py --corpus third --epochs 4 --out FOLDER

The same data, orders and initialisations, once by the fast kernels and once by plain PyTorch in float32
without tensor cores. By default on every third sentence of the training text, so that it takes minutes.
"""

from __future__ import annotations

import torch
from common import Report, arguments, config_for, folder_for
from study import Group, study

from gpu.timing import Budget
from treemean.training.together import Job


def main() -> None:
    parser = arguments(__doc__ or "", seconds=480)
    parser.add_argument("--corpus", default="third")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    budget, report = Budget(options.seconds), Report(options.out, "precision")
    assert torch.get_float32_matmul_precision() == "highest"
    groups = []
    for name, backend in (("ours", "auto"), ("float32", "torch")):
        jobs = {}
        for seed in options.seeds:
            given = [
                *(f"grammar.backend={backend}", f"run.init_seed={seed}"),
                *(f"training.epochs={options.epochs}", "training.report_every=25", "checkpoint.seconds=0"),
            ]
            config = config_for(options.data, options.corpus, *given, *options.override)
            folder = folder_for(options.work / "precision", f"{name}-{seed}", options.data, options.corpus)
            jobs[f"{name}, seed {seed}"] = Job(config, folder, seed)
        groups.append(Group(name, jobs))
    report.save(corpus=options.corpus, epochs=options.epochs)
    study(groups, budget, report)


if __name__ == "__main__":
    main()
