"""Scores of sharded predictions: every shard is scored by itself, and what was counted is added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treemean.evaluation import Evaluation
from treemean.evaluation.adding import EvaluationSum
from treemean.evaluation.scores import with_told_tags
from treemean.evaluation.streaming import PunctuationLater, Scoring
from treemean.scaling.engines import Engine
from treemean.scaling.inputs import Cut
from treemean.scaling.progress import Progress


def score_cuts(scoring: Scoring, cuts: Sequence[Cut], engine: Engine, progress: Progress) -> list[Evaluation]:
    """Score predictions; the gold is the last run of every cut."""
    if not cuts:
        return []
    first = next(cuts[0].batches())
    settled = scoring.settled(first[-1])
    try:
        return _scored(settled, scoring, cuts, engine, progress)
    except PunctuationLater:
        settled = replace(scoring, punctuation="tag")
        return _scored(settled, settled, cuts, engine, progress)


def _scored(
    settled: Scoring, given: Scoring, cuts: Sequence[Cut], engine: Engine, progress: Progress
) -> list[Evaluation]:
    total = sum(piece.sentences for piece in cuts)
    sums = [EvaluationSum(settled.protocol) for _ in cuts[0].runs[:-1]]
    waiting: dict[int, list[Evaluation]] = {}
    added = done = 0
    progress(0, total)
    for number, found in engine.map(_score, (settled, given), cuts):
        if found is None:
            raise PunctuationLater
        waiting[number] = found
        while added in waiting:  # in one order only
            for one, part in zip(sums, waiting.pop(added), strict=True):
                one.add(part)
            added += 1
        done += cuts[number].sentences
        progress(done, total)
    return [with_told_tags(one.result()) for one in sums]


def _score(shared: tuple[Scoring, Scoring], piece: Cut) -> list[Evaluation] | None:
    """Return an evaluation of each prediction; None if punctuation must be told otherwise."""
    settled, given = shared
    sums = [EvaluationSum(settled.protocol) for _ in piece.runs[:-1]]
    first = piece.first
    for *predicted, gold in piece.batches(check=False):
        try:
            settled.check(given, gold)
        except PunctuationLater:
            return None
        for one, batch in zip(sums, predicted, strict=True):
            one.add(settled.part(batch, gold, first))
        first += len(gold)
    return [one.result() for one in sums]
