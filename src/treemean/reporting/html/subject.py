"""What a report is about: trees of the same sentences, side by side, and what is known about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from treemean.agreement import Agreement, agree
from treemean.agreement.together import Whole, bring_together
from treemean.errors import InvalidOption
from treemean.evaluation import Evaluation, Protocol, evaluate, get_protocol
from treemean.evaluation.alignment import align
from treemean.evaluation.counting import match_trees, scored_constituents
from treemean.evaluation.deletion import removed_words
from treemean.evaluation.scores import Flags, sentence_names
from treemean.names import Match
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.treebank import gather

#: Values of constituents that tell whether they count under the protocol, and whether gold has them.
SCORED, RIGHT = "scored", "right"
#: How the average is called.
AVERAGE = "average"

Kind = Literal["gold", "average", "run"]
#: Makes one tree of those of the runs, which are aligned.
Averager = Callable[[Sequence[Treebank]], Treebank]
#: Gives the value `probability` to the constituents of trees, which are aligned with the runs.
Judge = Callable[[Treebank, Sequence[Treebank]], Treebank]


@dataclass(frozen=True, eq=False)
class Side:
    """One tree of every sentence.

    Parameters
    ----------
    trees : without punctuation; their constituents have the values `scored` and `right`, perhaps
        `probability`.
    weight : of a run in the average; 0 if it has no say.
    evaluation : its scores; None for gold, and where there is no gold.
    """

    name: str
    kind: Kind
    trees: Treebank
    weight: float = 0.0
    evaluation: Evaluation | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything that a report tells.

    Parameters
    ----------
    title : of the report.
    protocol : what counts.
    sides : gold first, where there is any, then the average, then the runs.
    whole : the sentences with their punctuation, and tags where there are any.
    removed : bool[N], which words of `whole` are punctuation.
    sentences : int64[S], the places of the sentences in the treebanks that were given.
    agreement : None for a single run.
    dropped : by reason, the sentences left out.
    summary : sentences that open the report, written by who knows what the numbers mean.
    rows : further scores for the table (baselines, the binary average), by name.
    stars : by metric, marks behind the scores of the average.
    curves : by run, what was measured after every epoch of its training.
    confidence : what `fit` reports about its probabilities.
    facts : where all this comes from, by what it is.
    """

    title: str
    protocol: Protocol
    sides: tuple[Side, ...]
    whole: Treebank
    removed: Flags
    sentences: Ints
    agreement: Agreement | None
    dropped: Mapping[str, tuple[str, ...]]
    summary: Sequence[str] = ()
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stars: Mapping[str, str] = field(default_factory=dict)
    curves: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    confidence: Mapping[str, Any] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def gold(self) -> Side | None:
        """The gold trees."""
        return next((side for side in self.sides if side.kind == "gold"), None)

    @property
    def average(self) -> Side | None:
        """The average; None for a single run."""
        return next((side for side in self.sides if side.kind == "average"), None)

    @property
    def runs(self) -> list[Side]:
        """The runs."""
        return [side for side in self.sides if side.kind == "run"]

    @property
    def main(self) -> Side:
        """What the report is mostly about: the average, or the only run."""
        return self.average or self.runs[0]


def compare_sides(
    runs: Mapping[str, Treebank],
    gold: Treebank | None = None,
    *,
    average: Treebank | Averager | None = None,
    weights: Mapping[str, float] | None = None,
    probabilities: Judge | None = None,
    protocol: str | Protocol = "standard",
    labelled: bool | None = None,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    title: str = "",
    jobs: int | None = None,
    called: Mapping[str, str] | None = None,
    **told: Any,
) -> Subject:
    """Bring trees together, score them and find where they agree.

    Parameters
    ----------
    runs : by name, one or more.
    average : of the runs, or what makes one of them; the plain average if not given.
    weights : of the runs in the average; all have the same if not given.
    probabilities : what tells how likely constituents are right.
    protocol, labelled, match, punctuation, ignore_case : see `evaluate`.
    called : what errors call runs, `average` and `gold`, by these names.
    told : further parameters of `Subject`.

    Raises `MismatchError`, which names the treebank and the sentence, where they do not fit together.
    """
    if not runs:
        raise InvalidOption("a report is about one run or more, and there is none")
    if AVERAGE in runs and len(runs) > 1:
        raise InvalidOption(f"a run is called {AVERAGE}, as the average of all runs is: rename its file")
    chosen = get_protocol(protocol, labelled=labelled)
    given = dict(runs)
    if isinstance(average, Treebank):
        given[AVERAGE] = average
    options: dict[str, Any] = {"match": match, "punctuation": punctuation, "ignore_case": ignore_case}
    names = {**{name: name for name in given}, "gold": "the gold", **(called or {})}
    found = (
        _alone(given, names, chosen, options)
        if gold is None
        else _with_gold(given, gold, names, chosen, options)
    )
    aligned = found.banks
    own = [aligned[name] for name in runs]
    agreement = None
    if len(runs) > 1:
        named = dict(zip(runs, own, strict=True))
        agreement = agree(named, labelled=chosen.labelled, punctuation=(), jobs=jobs)
        if AVERAGE not in aligned:
            aligned[AVERAGE] = agreement.average if average is None else average(own)  # type: ignore[operator]
    if probabilities is not None:
        aligned = {name: probabilities(bank, own) for name, bank in aligned.items()}
    sides = []
    if found.gold is not None:
        kept = scored_constituents(found.gold, chosen, is_gold=True)
        known = found.gold if probabilities is None else probabilities(found.gold, own)
        sides.append(Side("gold", "gold", _flagged(known, kept, kept)))
    order = [AVERAGE, *runs] if AVERAGE in aligned and len(runs) > 1 else list(runs)
    for name in order:
        bank, kind = aligned[name], "average" if name == AVERAGE and len(runs) > 1 else "run"
        scored, right = _judged(bank, found.gold, chosen)
        weight = 0.0 if kind == "average" else 1.0 if weights is None else weights.get(name, 0.0)
        score = None if found.gold is None else evaluate(bank, found.gold, chosen, punctuation=())
        sides.append(Side(name, kind, _flagged(bank, scored, right), weight, score))  # type: ignore[arg-type]
    return Subject(
        title or "Trees side by side",
        chosen,
        tuple(sides),
        found.whole,
        found.removed,
        found.sentences,
        agreement,
        found.dropped,
        **told,
    )


@dataclass(frozen=True, eq=False)
class _Aligned:
    """Treebanks over the same words, see `Subject`."""

    banks: dict[str, Treebank]
    gold: Treebank | None
    whole: Treebank
    removed: Flags
    sentences: Ints
    dropped: Mapping[str, tuple[str, ...]]


def _with_gold(
    given: Mapping[str, Treebank],
    gold: Treebank,
    called: Mapping[str, str],
    protocol: Protocol,
    options: Mapping[str, Any],
) -> _Aligned:
    """Align all with gold, which tells what is punctuation."""
    pairs = {
        name: align(bank, gold, protocol, names=(called[name], called["gold"]), **options)
        for name, bank in given.items()
    }
    first = next(iter(pairs.values()))
    _, removed = removed_words(gold, protocol, options["punctuation"])
    return _Aligned(
        {name: pair.predicted.with_columns(words=first.gold.words) for name, pair in pairs.items()},
        first.gold,
        gold.take(first.sentences),
        removed[gather(gold.word_offsets, first.sentences)],
        first.sentences,
        {why: sentence_names(gold, places) for why, places in first.dropped.items()},
    )


def _alone(
    given: Mapping[str, Treebank],
    called: Mapping[str, str],
    protocol: Protocol,
    options: Mapping[str, Any],
) -> _Aligned:
    """Align runs with each other, where there is no gold."""
    named = {called[name]: bank for name, bank in given.items()}
    told = Whole.of([named], options["punctuation"])
    others = {name: value for name, value in options.items() if name != "punctuation"}
    together = bring_together(named, protocol, whole=told, **others)
    whole = together.whole.take(together.sentences)
    kept = np.zeros(len(whole.words), dtype=bool)
    lengths = together.runs[0].lengths
    kept[np.repeat(whole.word_offsets[:-1], lengths) + together.positions] = True
    return _Aligned(
        dict(zip(given, together.runs, strict=True)),
        None,
        whole,
        ~kept,
        together.sentences,
        {why: sentence_names(together.whole, places) for why, places in together.dropped.items()},
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
