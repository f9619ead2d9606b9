"""Does a long run diverge, and does it lose its best model? And what do schedules and averaged weights do?

    python -m benchmarks.learning.stability --out FOLDER             one run, 30 epochs, all sentences
    python -m benchmarks.learning.stability --compare --out FOLDER   variants, 6 epochs, every third sentence

The variants share initialisation and order, and are trained together. Called again with the same --work it
goes on where it was; and so it does where `ensemble --long` was, whose first run is the long one.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import Budget, exit_if_failed
from benchmarks.learning.common import arguments, config_for, folder_for, note_piece
from benchmarks.learning.study import study
from benchmarks.reports import Report
from treemean.training.together import Job

VARIANTS = {
    "constant rate": [],
    "warm-up, cosine": ["optimiser.schedule=cosine", "optimiser.warm_up=500"],
    "averaged": ["optimiser.average=0.999"],
    "warm-up, cosine, averaged": [
        *("optimiser.schedule=cosine", "optimiser.warm_up=500", "optimiser.average=0.999"),
    ],
}


def main(words: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__ or "", seconds=520)
    parser.add_argument("--compare", action="store_true", help="compare all variants")
    parser.add_argument("--variant", choices=list(VARIANTS), default="constant rate", help="of the long run")
    parser.add_argument("--corpus", help="full, or third to compare")
    parser.add_argument("--epochs", type=int, help="30, or 6 to compare")
    options = parser.parse_args(words)
    name = "compare" if options.compare else "stability"
    corpus = options.corpus or ("third" if options.compare else "full")
    epochs = options.epochs or (6 if options.compare else 30)
    chosen = list(VARIANTS) if options.compare else [options.variant]
    budget, report = Budget(options.seconds), Report(options.out, name)
    jobs = {variant: job_of(options, name, variant, corpus, epochs) for variant in chosen}
    report.save(corpus=corpus, epochs=epochs, overrides=options.override)
    study(name, jobs, budget, report)
    report.save(pieces=note_piece(Path(jobs[chosen[0]].folder)))
    exit_if_failed()


def job_of(
    options: Namespace,
    name: str = "stability",
    variant: str = "constant rate",
    corpus: str = "full",
    epochs: int = 30,
) -> Job:
    """Return one of the runs."""
    given = [
        *(f"training.epochs={epochs}", f"training.patience={epochs}"),
        *("training.report_every=50", "checkpoint.seconds=0"),
    ]
    config = config_for(options.data, corpus, *given, *VARIANTS[variant], *options.override)
    place = f"{name}-{variant.replace(', ', '-').replace(' ', '-')}"
    return Job(config, folder_for(options.work, place, options.data, corpus))


if __name__ == "__main__":
    main()
