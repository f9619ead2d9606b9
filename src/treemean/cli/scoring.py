"""Scoring files batch by batch, and at once where that does not do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from treemean.evaluation import Evaluation
    from treemean.evaluation.streaming import Reading, Scoring
    from treemean.files.rows import Row
    from treemean.files.source import Spooled
    from treemean.names import Match

Result = TypeVar("Result")


@dataclass(frozen=True)
class ScoredFiles:
    """Predictions and gold to score, and how they are read."""

    predictions: Sequence[str | Spooled]
    gold: str | Spooled
    scoring: Scoring
    match: Match
    options: Mapping[str, Any]

    def read(self, *predictions: str | Spooled) -> Reading:
        """Return what reads predictions and the gold side by side."""
        from treemean.cli.output import with_progress
        from treemean.formats.parallel import read_parallel

        return lambda: with_progress(
            read_parallel([*predictions, self.gold], **self.options), "scoring", lambda batch: len(batch[0])
        )

    def streamed(self, score: Callable[[Scoring], Result], at_once: Callable[[], Result]) -> Result:
        """Score batch by batch; at once where files do not have the same sentences in the same order.

        A prediction may lack sentences that are not scored, and sentences may be matched by ids.
        """
        from treemean.errors import MismatchError
        from treemean.evaluation.streaming import PunctuationLater

        if self.match == "position":
            with suppress(MismatchError):
                try:
                    return score(self.scoring)
                except PunctuationLater:
                    return score(replace(self.scoring, punctuation="tag"))
        return at_once()

    def at_once(self) -> list[Evaluation]:
        """Read everything, and score it as `evaluate` does; errors name the files."""
        from treemean.cli.output import read_all
        from treemean.evaluation.scores import evaluate_part, without_absent_tags

        gold = read_all(self.gold, **self.options)
        parts = [
            evaluate_part(
                read_all(path, **self.options),
                gold,
                self.scoring.protocol,
                match=self.match,
                max_length=self.scoring.max_length,
                punctuation=self.scoring.punctuation,
                ignore_case=self.scoring.ignore_case,
                names=(os.fspath(path), os.fspath(self.gold)),
            )
            for path in self.predictions
        ]
        return [without_absent_tags(part) for part in parts]


def score_files(files: ScoredFiles, names: Sequence[str], per_sentence: Path | None) -> dict[str, Evaluation]:
    """Return the evaluation of every prediction by its name, and write the scores of single sentences."""
    from treemean.evaluation.streaming import evaluate_batches
    from treemean.reporting import write_per_sentence
    from treemean.reporting.sentences import write_sentence_rows

    def in_parts(scoring: Scoring) -> dict[str, Evaluation]:
        if per_sentence is None:
            read = files.read(*files.predictions)
            return dict(zip(names, evaluate_batches(read, scoring, len(names)), strict=True))
        results: dict[str, Evaluation] = {}
        write_sentence_rows(per_sentence, _rows(files, names, scoring, results))
        return results

    def whole() -> dict[str, Evaluation]:
        results = dict(zip(names, files.at_once(), strict=True))
        if per_sentence is not None:
            write_per_sentence(per_sentence, results)
        return results

    return files.streamed(in_parts, whole)


def _rows(
    files: ScoredFiles, names: Sequence[str], scoring: Scoring, results: dict[str, Evaluation]
) -> Iterator[Row]:
    """Yield what is known of every sentence, prediction after prediction, and fill the results."""
    from treemean.evaluation.adding import EvaluationSum
    from treemean.evaluation.rows import sentence_rows
    from treemean.evaluation.scores import without_absent_tags
    from treemean.evaluation.streaming import score_parts

    for name, path in zip(names, files.predictions, strict=True):
        total = EvaluationSum(scoring.protocol)
        for _, part in score_parts(files.read(path), scoring):
            total.add(part)
            yield from sentence_rows(name, part)
        results[name] = without_absent_tags(total.result())
