"""Scores of sharded predictions: every shard is scored by itself, and what was counted is added up.

What is counted of a shard is kept until the end under a name that follows from its input and from how it is
scored, so that the same command goes on. What is known of single sentences stands in files beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treemean._version import __version__
from treemean.errors import FormatError
from treemean.evaluation import Evaluation
from treemean.evaluation.adding import EvaluationSum
from treemean.evaluation.rows import SENTENCE_COLUMNS, Cell, sentence_rows
from treemean.evaluation.scores import without_absent_tags
from treemean.evaluation.streaming import PunctuationLater, Scoring
from treemean.files.checksums import content_checksum
from treemean.files.output import open_output, write_file
from treemean.files.rows import write_rows
from treemean.files.sealed import sealed, unsealed
from treemean.scaling.engines import Engine, messages
from treemean.scaling.inputs import Cut
from treemean.scaling.progress import Progress

_DIGITS = 16


@dataclass(frozen=True)
class ScoreTask:
    """A shard to score; `name` begins the names of its files in the folder."""

    cut: Cut
    name: str


@dataclass(frozen=True)
class _How:
    """How shards are scored: as the first sentences settle it, and as it was given.

    `rows` is the folder for what is known of single sentences; None if nobody asks.
    """

    settled: Scoring
    given: Scoring
    rows: str | None


@dataclass(frozen=True)
class ShardScorer:
    """Scores shards; knows where sums and rows are kept, and who is told what.

    Parameters
    ----------
    folder : for sums, and for rows, which workers write there.
    per_sentence : the file for the scores of single sentences, None for none.
    names : of the predictions, in that file.
    """

    folder: Path
    engine: Engine
    progress: Progress
    say: Callable[[str], None]
    per_sentence: str | os.PathLike[str] | None = None
    names: Sequence[str] = ()

    def of(self, scoring: Scoring, cuts: Sequence[Cut]) -> list[Evaluation]:
        """Score predictions; the gold is the last run of every cut."""
        first = next(cuts[0].batches(check=False))
        try:
            return self._scored(scoring.settled(first[-1]), scoring, cuts)
        except PunctuationLater:
            settled = replace(scoring, punctuation="tag")
            return self._scored(settled, settled, cuts)

    def _scored(self, settled: Scoring, given: Scoring, cuts: Sequence[Cut]) -> list[Evaluation]:
        how = _How(settled, given, None if self.per_sentence is None else str(self.folder))
        told = content_checksum(
            [__version__, messages.encoded(settled), messages.encoded(given), bool(how.rows)]
        )
        tasks = [
            ScoreTask(piece, f"{number:05d}-{_digits([told, piece.first, piece.identity()])}")
            for number, piece in enumerate(cuts)
        ]
        self._make(how, tasks)
        sums = [EvaluationSum(settled.protocol) for _ in self.names]
        for task in tasks:  # in one order only
            parts = self._kept(task)
            if parts is None:
                raise FormatError("what was counted of a shard is gone", path=self._sums_file(task))
            for one, part in zip(sums, parts, strict=True):
                one.add(part)
        if self.per_sentence is not None:
            write_rows(self.per_sentence, SENTENCE_COLUMNS, self._rows(tasks))
        return [without_absent_tags(one.result()) for one in sums]

    def _make(self, how: _How, tasks: Sequence[ScoreTask]) -> None:
        """Score the shards whose sums are not there yet."""
        total = sum(task.cut.sentences for task in tasks)
        missing = [task for task in tasks if self._kept(task) is None]
        done = total - sum(task.cut.sentences for task in missing)
        if done:
            self.say(f"{len(tasks) - len(missing)} of {len(tasks)} shards were there from an earlier attempt")
        self.progress(done, total)
        for number, found in self.engine.map(_score, how, missing):
            if found is None:
                raise PunctuationLater
            task = missing[number]
            write_file(self._sums_file(task), sealed({"evaluations": messages.encoded(found)}))
            done += task.cut.sentences
            self.progress(done, total)

    def _sums_file(self, task: ScoreTask) -> str:
        return os.path.join(self.folder, f"sums-{task.name}.json")

    def _kept(self, task: ScoreTask) -> list[Evaluation] | None:
        """Return what was counted of a shard, None if it is not there or damaged."""
        try:
            with open(self._sums_file(task), "rb") as stream:
                found: list[Evaluation] = messages.decoded(unsealed(stream.read())["evaluations"])
        except (FileNotFoundError, ValueError, KeyError):
            return None
        return found

    def _rows(self, tasks: Sequence[ScoreTask]) -> Iterator[dict[str, Cell]]:
        """Yield what is known of every sentence, prediction after prediction."""
        for place, name in enumerate(self.names):
            for task in tasks:
                with open(_rows_file(str(self.folder), task, place), encoding="utf-8") as lines:
                    for line in lines:
                        yield {**json.loads(line), "prediction": name}


def _digits(data: Any) -> str:
    return content_checksum(data)[:_DIGITS]


def _rows_file(folder: str, task: ScoreTask, prediction: int) -> str:
    return os.path.join(folder, f"rows-{task.name}-{prediction}.jsonl")


def _score(how: _How, task: ScoreTask) -> list[Evaluation] | None:
    """Return an evaluation of each prediction; None if punctuation must be told otherwise."""
    piece = task.cut
    predictions = range(len(piece.runs) - 1)
    if how.rows is None:
        return _scored_piece(how, piece, [lambda part: None] * len(predictions))
    with ExitStack() as stack:
        streams = [
            stack.enter_context(open_output(_rows_file(how.rows, task, place))) for place in predictions
        ]
        return _scored_piece(how, piece, [_row_writer(stream) for stream in streams])


def _row_writer(stream: Any) -> Callable[[Evaluation], None]:
    def write(part: Evaluation) -> None:
        for row in sentence_rows("", part):
            stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    return write


def _scored_piece(
    how: _How, piece: Cut, tell: Sequence[Callable[[Evaluation], None]]
) -> list[Evaluation] | None:
    sums = [EvaluationSum(how.settled.protocol) for _ in tell]
    first = piece.first
    for *predicted, gold in piece.batches(check=False):
        try:
            how.settled.check(how.given, gold)
        except PunctuationLater:
            return None
        *names, gold_name = piece.names
        for name, one, batch, told in zip(names, sums, predicted, tell, strict=True):
            part = how.settled.part(batch, gold, first, (name, gold_name))
            one.add(part)
            told(part)
        first += len(gold)
    return [one.result() for one in sums]
