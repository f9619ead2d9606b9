"""Comparing trees side by side for a report, part by part, in memory that stays flat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treemean.agreement import Agreement
from treemean.agreement.scores import agree_together
from treemean.agreement.streaming import PairSums
from treemean.agreement.together import Whole, bring_together
from treemean.errors import InvalidOption
from treemean.evaluation import Protocol, get_protocol
from treemean.evaluation.adding import EvaluationSum
from treemean.evaluation.alignment import align
from treemean.evaluation.counting import match_trees, scored_constituents
from treemean.evaluation.scores import Flags, evaluate_part, without_absent_tags
from treemean.names import Match
from treemean.reporting.html.held import Held, MostDisputed
from treemean.reporting.html.parts import AVERAGE, ParallelTreebanks, Part, Parts, Runs
from treemean.reporting.html.subject import RIGHT, SCORED, Side, Subject
from treemean.trees import Treebank

#: How many sentences can be explored, unless told otherwise.
MOST = 10_000

#: Makes one tree of those of the runs, which are aligned.
Averager = Callable[[Sequence[Treebank]], Treebank]
#: Gives the value `probability` to the constituents of trees, which are aligned with the runs.
Judge = Callable[[Treebank, Sequence[Treebank]], Treebank]
#: Looks at all runs, and returns what makes averages, and what gives probabilities, where there is such.
Prepare = Callable[[Runs], tuple[Averager | None, Judge | None]]


def compare_sides(
    runs: Mapping[str, Treebank],
    gold: Treebank | None = None,
    *,
    average: Treebank | None = None,
    **options: Any,
) -> Subject:
    """Bring trees together, score them and find where they agree.

    Parameters
    ----------
    runs : by name, one or more.
    average : of the runs; the plain average if not given.
    options : see `compare_parallel`.
    """
    return compare_parallel(ParallelTreebanks.of(runs, average, gold), **options)


def compare_parallel(
    given: ParallelTreebanks,
    *,
    prepare: Prepare | None = None,
    weights: Mapping[str, float] | None = None,
    protocol: str | Protocol = "standard",
    labelled: bool | None = None,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    title: str = "",
    jobs: int | None = None,
    most: int = MOST,
    watch: Callable[[Sequence[Side]], None] | None = None,
    **told: Any,
) -> Subject:
    """Read treebanks side by side, score them and find where they agree.

    Parameters
    ----------
    prepare : looks at the runs, and returns what makes their average, if it is not the plain one, and what
        tells how likely constituents are right.
    weights : of the runs in the average; all have the same if not given.
    protocol, labelled, match, punctuation, ignore_case : see `evaluate`.
    most : how many sentences can be explored: the most disputed ones, or the first ones of a single run.
    watch : is shown all sides, part by part.
    told : further parameters of `Subject`.

    Raises `MismatchError`, which names the treebank and the sentence, where they do not fit together.
    """
    if not given.runs:
        raise InvalidOption("a report is about one run or more, and there is none")
    if AVERAGE in given.runs and len(given.runs) > 1:
        raise InvalidOption(f"a run is called {AVERAGE}, as the average of all runs is: rename its file")
    chosen = get_protocol(protocol, labelled=labelled)
    parts = Parts(given, chosen, match=match, punctuation=punctuation, ignore_case=ignore_case)
    averager, judge = prepare(parts.runs) if prepare else (None, None)
    comparing = _Comparing(chosen, parts.runs, given.runs, averager, judge, weights, jobs)
    pairs, held = PairSums(given.runs, get_protocol("standard", labelled=chosen.labelled)), MostDisputed(most)
    totals: list[EvaluationSum | None] = []
    sides: list[Side] = []
    count = words = 0
    dropped: dict[str, tuple[str, ...]] = {}
    for part in parts:
        agreement = comparing.agreement(part)
        sides = comparing.sides(part, agreement)
        if watch is not None:
            watch(sides)
        totals = totals or [None if side.evaluation is None else EvaluationSum(chosen) for side in sides]
        for total, side in zip(totals, sides, strict=True):
            if total is not None and side.evaluation is not None:
                total.add(side.evaluation)
        if agreement is not None:
            pairs.add(agreement)
        held.add(_held(part, agreement, sides))
        count += len(part.sentences)
        words += len(part.whole.words) - int(part.removed.sum())
        for why, names in part.dropped.items():
            dropped[why] = dropped.get(why, ()) + names
    kept = held.result()
    return Subject(
        title or "Trees side by side",
        chosen,
        tuple(
            replace(
                side,
                trees=trees,
                evaluation=None if total is None else without_absent_tags(total.result()),
                scores=scores,
            )
            for side, total, trees, scores in zip(sides, totals, kept.trees, kept.scores, strict=True)
        ),
        kept.whole,
        kept.removed,
        kept.sentences,
        kept.dispute,
        count,
        words,
        pairs.result() if len(given.runs) > 1 else None,
        dropped,
        **told,
    )


@dataclass(frozen=True)
class _Comparing:
    """What is done with a part."""

    protocol: Protocol
    all_runs: Runs
    runs: tuple[str, ...]
    averager: Averager | None
    judge: Judge | None
    weights: Mapping[str, float] | None
    jobs: int | None

    def agreement(self, part: Part) -> Agreement | None:
        """Return how far runs agree; None for a single one."""
        if len(self.runs) < 2:
            return None
        named = {name: part.banks[name] for name in self.runs}
        standard = get_protocol("standard", labelled=self.protocol.labelled)
        together = bring_together(
            named,
            standard,
            match="position",
            whole=Whole.of([named], ()),
            ignore_case=False,
            first=part.first,
        )
        return agree_together(
            self.runs, standard, together, jobs=self.jobs, frequencies=self.all_runs.frequencies
        )

    def sides(self, part: Part, agreement: Agreement | None) -> list[Side]:
        """Return gold, the average and the runs, with their scores."""
        own = [part.banks[name] for name in self.runs]
        banks = dict(part.banks)
        if agreement is not None and AVERAGE not in banks:
            banks[AVERAGE] = agreement.average if self.averager is None else self.averager(own)
        if self.judge is not None:
            banks = {name: self.judge(bank, own) for name, bank in banks.items()}
        sides = []
        if part.gold is not None:
            kept = scored_constituents(part.gold, self.protocol, is_gold=True)
            known = part.gold if self.judge is None else self.judge(part.gold, own)
            sides.append(Side("gold", "gold", _flagged(known, kept, kept)))
        if agreement is not None:
            sides.append(self._side(AVERAGE, banks[AVERAGE], part, is_average=True))
        return sides + [self._side(name, banks[name], part) for name in self.runs]

    def _side(self, name: str, bank: Treebank, part: Part, *, is_average: bool = False) -> Side:
        scored, right = _judged(bank, part.gold, self.protocol)
        weight = 0.0 if is_average else 1.0 if self.weights is None else self.weights.get(name, 0.0)
        score = None
        if part.gold is not None:
            score = evaluate_part(bank, part.gold, self.protocol, punctuation=(), first=part.first)
        kind = "average" if is_average else "run"
        return Side(name, kind, _flagged(bank, scored, right), weight, score)  # type: ignore[arg-type]


def _held(part: Part, agreement: Agreement | None, sides: Sequence[Side]) -> Held:
    return Held(
        part.sentences,
        part.whole,
        part.removed,
        np.zeros(len(part.sentences)) if agreement is None else agreement.dispute,
        tuple(side.trees for side in sides),
        tuple(None if side.evaluation is None else side.evaluation.per_sentence["overall"] for side in sides),
    )


def _judged(bank: Treebank, gold: Treebank | None, protocol: Protocol) -> tuple[Flags, Flags]:
    """Tell which constituents count, and which of those gold has."""
    scored, right = (np.zeros(len(bank.labels), dtype=bool) for _ in range(2))
    if gold is None:
        return scored_constituents(bank, protocol, is_gold=False), right
    found = match_trees(align(bank, gold, protocol, punctuation=()), protocol).predicted
    scored[found.nodes] = True
    right[found.nodes] = found.found
    return scored, right


def _flagged(bank: Treebank, scored: Flags, right: Flags) -> Treebank:
    values = {SCORED: scored.astype(np.float64), RIGHT: right.astype(np.float64)}
    kept = {
        name: bank.constituent_values[name] for name in ("probability",) if name in bank.constituent_values
    }
    return bank.with_columns(constituent_values={**kept, **values})
