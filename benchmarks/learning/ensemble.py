"""Ten runs of ten epochs with decoding of the development set after each: how long does the ensemble take?

    python -m benchmarks.learning.ensemble --out FOLDER

Called again with the same --work it goes on where it was. With --long the first run is the long one of
`stability`, which goes on with it alone; it is stopped here when the others are finished. In the end each
run parses the development and test sentences; the trees (dev-run01.jsonl, … in FOLDER/trees.zip) are kept
by `dutch`. Another grammar, `--preset n-lcfrs --runs 1`, has names of its own: ensemble-n-lcfrs.json,
trees-n-lcfrs.zip.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import Budget, exit_if_failed
from benchmarks.learning.common import arguments, config_for, folder_for, note_piece
from benchmarks.learning.stability import job_of
from benchmarks.learning.study import study
from benchmarks.reports import Report, guard
from treemean.formats import read, write
from treemean.parsing import Model, parse
from treemean.parsing.text import sentences_of
from treemean.training.folders import RunFolder
from treemean.training.single import device_of
from treemean.training.together import Job
from treemean.trees import Treebank

PARTS = ("dev", "test")
PRESETS = ("tn-lcfrs", "tn-pcfg", "n-pcfg", "c-pcfg", "n-lcfrs", "c-lcfrs")


def main(words: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__ or "", seconds=520)
    parser.add_argument("--corpus", default="full")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--long", action="store_true", help="let stability go on with the first run")
    parser.add_argument("--preset", choices=PRESETS, default=PRESETS[0], help="which grammar")
    options = parser.parse_args(words)
    if options.long and options.preset != PRESETS[0]:
        parser.error("the long run is one of TN-LCFRS")
    own = "" if options.preset == PRESETS[0] else f"-{options.preset}"
    budget, report = Budget(options.seconds), Report(options.out, f"ensemble{own}")
    given = (f"training.epochs={options.epochs}", "training.report_every=50", "checkpoint.seconds=0")
    config = config_for(options.data, options.corpus, *given, *options.override, preset=options.preset)
    folder = folder_for(options.work, f"ensemble{own}", options.data, options.corpus)
    trees = options.work / f"ensemble{own}-trees"
    jobs = {run: Job(config, folder, run) for run in range(1, options.runs + 1)}
    if options.long:
        jobs[1] = job_of(options, corpus=options.corpus)
    finished = [RunFolder(job.folder, job.run).path / "result.json" for job in jobs.values()]

    def enough() -> bool:
        return options.long and all(path.exists() for path in finished[1:])

    named = {f"run {run}": job for run, job in jobs.items()}
    done = study("ensemble", named, budget, report, enough=enough)
    pieces, epochs = note_piece(folder), epoch_seconds(report.values["ensemble"])
    report.save(corpus=options.corpus, overrides=options.override, pieces=pieces, epoch_seconds=epochs)
    print(f"{sum(pieces):.0f} s in {len(pieces)} pieces, everything included; epochs took {epochs}")
    for run in jobs if done else ():
        guard(f"trees of run {run}", write_trees, jobs[run], f"run{run:02d}", options.data, trees, budget)
    if done and all((trees / f"{part}-run{run:02d}.jsonl").exists() for part in PARTS for run in jobs):
        shutil.make_archive(str(options.out / f"trees{own}"), "zip", trees)
    exit_if_failed()


def epoch_seconds(runs: Mapping[str, Any]) -> list[float]:
    """Return the seconds of each epoch of all runs together, with measuring and saving."""
    ends = [[epoch["seconds"] for epoch in run.get("epochs", [])] for run in runs.values()]
    last = [max(same) for same in zip(*ends)]  # when the last run was through with it
    return [round(end - before, 1) for before, end in zip([0.0, *last], last)]


def write_trees(job: Job, name: str, data: Path, target: Path, budget: Budget) -> None:
    """Write what the selected model of a run says about the development and test sentences."""
    place = RunFolder(job.folder, job.run)
    model: Model | None = None
    target.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        path = target / f"{part}-{name}.jsonl"
        if not path.exists():
            if budget.left() < 8:
                print(f"{budget} no time is left for the trees of {name}: the same command goes on")
                return
            model = model or Model.load(place.model, device=device_of(job.config))
            gold = read(data / f"{part}.jsonl")
            found = parse(model, sentences_of([gold], model.normalisation), max_length=40)
            write(Treebank.concatenate(list(found)), path, warn=False)
            print(f"{budget} {name}: {len(gold)} trees of {part}", flush=True)


if __name__ == "__main__":
    main()
