"""The whole of the paper's experiment: train, choose, weigh, parse, average, evaluate, and show a table.

OUT/runs/             the trained runs, see `training.folders`
OUT/parses/           what every run says about the development and test sentences
OUT/ensemble/         the averages, binary and not
OUT/results.json      all scores, choices and tests; results.md has them as a table
OUT/stages/           what was done with what, so that nothing is done twice
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treemean._version import __version__
from treemean.errors import InvalidOption
from treemean.evaluation import evaluate, get_protocol
from treemean.experiments.cache import Cache
from treemean.experiments.main_results import Ensembles, MainResults, main_results
from treemean.experiments.selection import Selection, all_equal, check_rule, select
from treemean.formats import read, write
from treemean.formats.source import open_output
from treemean.parsing import Model, ParseCounts, parse
from treemean.parsing.parse import MAX_LENGTH
from treemean.parsing.text import TEXT, counted, format_of, sentences_of
from treemean.training import RunResult, TrainingConfig, train_runs
from treemean.training.corpus import checksum, read_development
from treemean.training.progress import Watcher
from treemean.trees import Treebank

#: Is called with what begins, or was found done already.
Teller = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What an ensemble gave.

    Parameters
    ----------
    results : the scores on the test set.
    runs : what training gave.
    gold : the test trees.
    individuals : the parses of the test sentences by run.
    ensembles : their averages.
    files : what was written, by what it is.
    """

    results: MainResults
    runs: list[RunResult]
    gold: Treebank
    individuals: Mapping[str, Treebank]
    ensembles: Ensembles
    files: Mapping[str, Path]


def run_ensemble(
    config: TrainingConfig,
    folder: str | os.PathLike[str],
    *,
    title: str = "",
    progress: Watcher | None = None,
    tell: Teller | None = None,
    jobs: int | None = None,
) -> Outcome:
    """Run the whole experiment; what an earlier call has done already is not done again.

    Parameters
    ----------
    config : with the section `ensemble`; see `training.load_config`.
    folder : for everything that is made.
    title : of the table.
    progress : is called with what happens in training.
    tell : is called with what happens otherwise.
    jobs : threads for averaging; all cores if not given.
    """
    return _Pipeline(config, Path(folder), progress, tell or (lambda _: None), jobs).run(title)


@dataclass(frozen=True)
class _Pipeline:
    config: TrainingConfig
    folder: Path
    progress: Watcher | None
    tell: Teller
    jobs: int | None

    def run(self, title: str) -> Outcome:
        settings = self.config.ensemble
        check_rule(settings.weigh)
        get_protocol(settings.protocol)
        if not settings.test:
            raise InvalidOption("ensemble.test names no file: the ensemble is scored on gold test trees")
        if settings.keep > self.config.run.runs:
            raise InvalidOption(f"ensemble.keep is {settings.keep} of {self.config.run.runs} runs (run.runs)")
        gold = _read_gold(settings.test, settings.test_format)  # before hours of training
        if not len(gold):
            raise InvalidOption(f"ensemble.test: there are no trees in {settings.test}")
        self.tell(f"training {counted(self.config.run.runs, 'run')}")
        runs = train_runs(self.config, self.folder / "runs", progress=self.progress)
        selection = self._select(runs)
        self.tell(selection.note)
        individuals = {f"run {run.run}": self._parse(run, "test", settings.test, gold) for run in runs}
        ensembles = self._average(individuals, selection)
        results = main_results(individuals, ensembles, selection, gold, protocol=settings.protocol)
        files = self._report(results, runs, title)
        return Outcome(results, runs, gold, individuals, ensembles, files)

    def _select(self, runs: list[RunResult]) -> Selection:
        """Choose by development F1, or take all runs where there are no development trees to choose by."""
        data, settings = self.config.data, self.config.ensemble
        if not data.development or runs[0].metrics.get("f1") is None:
            return all_equal(len(runs))
        gold = _read_gold(data.development, data.development_format)
        scores = [
            evaluate(self._parse(run, "dev", data.development, gold), gold, protocol=settings.protocol)
            for run in runs
        ]
        return select(scores, settings.keep, settings.weigh)

    def _parse(self, run: RunResult, part: str, source: str, gold: Treebank) -> Treebank:
        name = f"parses/{part}/run{run.run:02d}.discbracket"
        inputs = {
            "treemean": __version__,
            "model": checksum(run.model / "model.json"),  # which has the checksum of the numbers
            "sentences": checksum(source),
            "decoder": self.config.ensemble.decoder,
            "max_length": MAX_LENGTH,
        }

        def make() -> None:
            model = Model.load(run.model)
            sentences = sentences_of([gold], model.normalisation)
            decoder, counts = self.config.ensemble.decoder, ParseCounts()
            trees = parse(model, sentences, decoder=decoder, max_length=MAX_LENGTH, counts=counts)
            write(Treebank.concatenate(list(trees)), self._made(name))
            for message in counts.describe(MAX_LENGTH):
                self.tell(f"run {run.run}: {message}")

        self._stage(
            f"parse-{part}-run{run.run:02d}", inputs, [name], make, f"run {run.run} parses the {part} set"
        )
        return read(self.folder / name)

    def _average(self, individuals: Mapping[str, Treebank], selection: Selection) -> Ensembles:
        names = ["ensemble/non-binary.discbracket", "ensemble/binary.discbracket"]
        parses = {
            n: checksum(self.folder / f"parses/test/run{n + 1:02d}.discbracket") for n in selection.chosen
        }
        inputs = {"treemean": __version__, "weights": selection.weights, "parses": parses}

        def make() -> None:
            found = Ensembles.of(list(individuals.values()), selection, self.jobs)
            write(found.non_binary, self._made(names[0]))
            write(found.binary, self._made(names[1]))

        self._stage("average", inputs, names, make, f"averaging {counted(len(selection.chosen), 'run')}")
        return Ensembles(*(read(self.folder / name) for name in names))

    def _report(self, results: MainResults, runs: list[RunResult], title: str) -> dict[str, Path]:
        files = {"scores": self.folder / "results.json", "table": self.folder / "results.md"}
        everything = {
            "treemean": __version__,
            "config": self.config.to_dict(),
            "training": [
                {
                    "run": run.run,
                    "selected_by": run.select,
                    "epoch": run.epoch,
                    "development": dict(run.metrics),
                    "finished": run.finished,
                    "steps": run.steps,
                    "seconds": run.seconds,
                }
                for run in runs
            ],
            "results": results.to_dict(),
        }
        with open_output(files["scores"]) as stream:
            stream.write(
                json.dumps(everything, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
            )
        with open_output(files["table"]) as stream:
            stream.write(results.table(title).to_markdown().encode() + b"\n")
        return files | {
            "average": self.folder / "ensemble/non-binary.discbracket",
            "binary average": self.folder / "ensemble/binary.discbracket",
        }

    def _stage(
        self, name: str, inputs: Mapping[str, Any], outputs: list[str], make: Callable[[], None], what: str
    ) -> None:
        def told() -> None:
            self.tell(what)
            make()

        if not Cache(self.folder).stage(name, inputs, outputs, told):
            self.tell(f"{what}: done before")

    def _made(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def _read_gold(path: str, format: str) -> Treebank:
    chosen = format or format_of(path)
    if chosen == TEXT:
        raise InvalidOption(f"{path} is plain text: gold trees are needed to score by")
    return read_development(path, chosen)
