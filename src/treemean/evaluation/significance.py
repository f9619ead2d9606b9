"""Is one prediction better than another, or is it chance? Sign tests and a paired bootstrap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import MismatchError, TreemeanError, check_type, no_such
from treemean.evaluation.protocols import Protocol
from treemean.evaluation.results import Evaluation, Floats
from treemean.names import Metric, SignificanceTest
from treemean.trees.bitsets import Ints
from treemean.trees.html import Cell, html_table

#: What the bootstrap sums over a sample of sentences: float64[S, k].
Sentences = NDArray[np.float64]

_EXACT_TRIALS = 10_000
_DRAWS = 1 << 21  # how many sentences are drawn at a time
_NOTES: dict[SignificanceTest, str] = {
    "ins": "Improved Nonrandomized Sign test (Starks 1979) by the exact conditional binomial test, with "
    "which it agrees for large counts; its own small-sample boundaries are not used. Ties are set aside, so "
    "that the p-value is that of the sign test.",
    "sign": "Exact binomial test on the sentences whose scores differ; ties are left out.",
    "bootstrap": "Paired bootstrap: the same sentences are drawn for both, with replacement. The one-sided "
    "p-value is the share of samples in which the difference is at least twice the observed one; the "
    "interval is that of percentiles.",
}


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a score or of a difference, in percent."""

    estimate: float
    low: float
    high: float
    confidence: float
    samples: int
    seed: int

    def to_dict(self) -> dict[str, float | int]:
        """Return all fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """How a prediction a compares with a prediction b.

    Parameters
    ----------
    test, metric : what was tested.
    score_a, score_b : F1 of both under their protocol, in percent; None for 0 of 0.
    wins, losses, ties : sentences in which a has a higher, a lower, the same F1.
    statistic : wins for sign tests, the difference of scores for the bootstrap.
    p_value : one-sided; how likely so much or more in favour of a is if neither is better.
    p_value_two_sided : how likely so large a difference either way is.
    interval : confidence interval of the difference (bootstrap only).
    note : what exactly was computed.
    """

    test: SignificanceTest
    metric: Metric
    score_a: float | None
    score_b: float | None
    wins: int
    losses: int
    ties: int
    statistic: float
    p_value: float
    p_value_two_sided: float
    interval: Interval | None
    note: str

    @property
    def difference(self) -> float | None:
        """The score of a minus that of b, in percent points; None where one of them has no score."""
        return None if self.score_a is None or self.score_b is None else self.score_a - self.score_b

    def __repr__(self) -> str:
        gained = "–" if self.difference is None else f"{self.difference:+.2f}"
        return (
            f"<Comparison: {self.metric} F1 {gained}, {self.wins} won, {self.losses} lost, {self.ties} tied; "
            f"{self.test}: p {self.p_value:.2g}>"
        )

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        rows: list[list[Cell]] = [
            [f"F1 {self.metric}, a", self.score_a],
            [f"F1 {self.metric}, b", self.score_b],
            ["difference", self.difference],
            ["sentences won / lost / tied", f"{self.wins} / {self.losses} / {self.ties}"],
            ["p-value, one-sided", f"{self.p_value:.2g}"],
            ["p-value, two-sided", f"{self.p_value_two_sided:.2g}"],
        ]
        if (found := self.interval) is not None:
            name = f"{100 * found.confidence:g}% interval of the difference"
            rows.append([name, f"{found.low:.2f} to {found.high:.2f}"])
        return html_table(["", "value"], rows, notes=[self.note])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {**asdict(self), "difference": self.difference}


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    test: SignificanceTest = "ins",
    metric: Metric = "overall",
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Test whether a prediction is significantly better than another.

    Parameters
    ----------
    a, b : evaluations of both against the same gold sentences, under the same protocol.
    test : `"ins"` or `"sign"` on wins and losses, `"bootstrap"` on the score of the whole.
    metric : which constituents count.
    samples, seed, confidence : of the bootstrap.

    A sentence in which neither predicts nor should predict anything is a tie; so is one with equal F1.
    """
    check_type("the first evaluation", a, Evaluation)
    check_type("the second evaluation", b, Evaluation)
    if test not in _NOTES:
        raise TreemeanError(no_such("test", test, _NOTES))
    if a.protocol != b.protocol:
        raise MismatchError(
            f"scores under different protocols cannot be compared: {a.protocol.title}, {b.protocol.title}"
        )
    if not np.array_equal(a.sentences, b.sentences):
        first = int(np.setxor1d(a.sentences, b.sentences)[0]) + 1
        raise MismatchError(
            f"the two evaluations scored different sentences ({len(a.sentences)} and {len(b.sentences)}): "
            f"only one of them has sentence {first}"
        )
    if a.gold_digest != b.gold_digest:
        raise MismatchError("the two evaluations were made against different gold trees")
    if a.scored > len(a.sentences):
        raise TreemeanError("these evaluations are sums of several, without scores of single sentences")
    a.counts(metric)  # tells which metrics there are
    difference = a.per_sentence[metric].f1 - b.per_sentence[metric].f1
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return compare_sentences(
        a,
        b,
        (wins, losses, len(difference) - wins - losses),
        (sentences_of(a, metric), sentences_of(b, metric)),
        test=test,
        metric=metric,
        samples=samples,
        seed=seed,
        confidence=confidence,
    )


def compare_sentences(
    a: Evaluation,
    b: Evaluation,
    outcome: tuple[int, int, int],
    sentences: tuple[Sentences, Sentences] | None,
    *,
    test: SignificanceTest,
    metric: Metric,
    samples: int,
    seed: int,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two predictions of whose sentences wins, losses and ties are known.

    `sentences` holds what the bootstrap sums over a sample, of both; sign tests do without.
    """
    wins, losses, ties = outcome
    counts_a, counts_b = a.counts(metric), b.counts(metric)
    interval = None
    if test == "bootstrap":
        columns = sentences or (np.zeros((0, 2)), np.zeros((0, 2)))
        statistic = counts_a.f1 - counts_b.f1
        scores = [_bootstrap_scores(one, a.protocol, samples, seed) for one in columns]
        drawn = scores[0] - scores[1]
        interval = _interval(statistic, drawn, confidence, seed)
        shifted = drawn - statistic
        p_value = _share_reaching(shifted, statistic)
        two_sided = _share_reaching(np.abs(shifted), abs(statistic))
    else:
        statistic = float(wins)
        p_value = binomial_tail(wins, wins + losses)
        two_sided = min(1.0, 2 * min(p_value, binomial_tail(losses, wins + losses)))
    return Comparison(
        test=test,
        metric=metric,
        score_a=counts_a.shown.f1,
        score_b=counts_b.shown.f1,
        wins=wins,
        losses=losses,
        ties=ties,
        statistic=statistic,
        p_value=p_value,
        p_value_two_sided=two_sided,
        interval=interval,
        note=_NOTES[test],
    )


def bootstrap_interval(
    evaluation: Evaluation,
    metric: Metric = "overall",
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return a percentile bootstrap confidence interval, over sentences, of the F1 of one prediction."""
    estimate = evaluation.counts(metric).f1
    columns = sentences_of(evaluation, metric)
    drawn = _bootstrap_scores(columns, evaluation.protocol, samples, seed)
    return _interval(estimate, drawn, confidence, seed)


def binomial_tail(successes: int, trials: int) -> float:
    """Return the probability of at least so many heads of a fair coin.

    Exact in whole numbers up to 10,000 trials, by logarithms beyond.

    >>> binomial_tail(2, 2), binomial_tail(0, 5)
    (0.25, 1.0)
    """
    if successes <= 0:
        return 1.0
    if successes > trials:
        return 0.0
    if 2 * successes <= trials:  # sum the smaller tail
        return 1.0 - binomial_tail(trials - successes + 1, trials)
    if trials <= _EXACT_TRIALS:
        term = total = math.comb(trials, successes)
        for heads in range(successes, trials):
            term = term * (trials - heads) // (heads + 1)
            total += term
        return total / (1 << trials)
    counts = np.arange(successes, trials, dtype=np.float64)
    relative = 1.0 + float(np.cumprod((trials - counts) / (counts + 1)).sum())
    first = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(first - trials * math.log(2.0) + math.log(relative))


def sentences_of(evaluation: Evaluation, metric: Metric) -> Sentences:
    """Return what the bootstrap sums over a sample: float64[S, k]."""
    counts = evaluation.per_sentence[metric]
    if evaluation.protocol.level == "sentence":
        return counts.f1[:, None]
    return np.stack([counts.matched, counts.predicted + counts.gold], axis=1).astype(np.float64)


def _bootstrap_scores(columns: Sentences, protocol: Protocol, samples: int, seed: int) -> Floats:
    """Return the score of every bootstrap sample of the sentences: float64[samples].

    The same seed and number of sentences give the same samples, so that two predictions are paired.
    """
    if samples < 1:
        raise TreemeanError(f"the bootstrap needs at least one sample, not {samples}")

    def score(sums: Floats) -> Floats:
        if protocol.level == "sentence":
            return sums[:, 0] / max(1, len(columns))
        return np.where(sums[:, 1] > 0, 200 * sums[:, 0] / np.maximum(sums[:, 1], 1), 0.0)

    return np.concatenate([score(times @ columns) for times in _resamples(len(columns), samples, seed)])


def _resamples(sentences: int, samples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of samples with replacement: how often each sentence was drawn, float64[b, sentences]."""
    random = np.random.default_rng(seed)
    block = max(1, _DRAWS // max(1, sentences))
    for begin in range(0, samples, block):
        rows = min(block, samples - begin)
        if sentences == 0:
            yield np.zeros((rows, 0))
            continue
        drawn: Ints = random.integers(sentences, size=(rows, sentences))
        drawn += np.arange(rows)[:, None] * sentences
        times = np.bincount(drawn.ravel(), minlength=rows * sentences)
        yield times.reshape(rows, sentences).astype(np.float64)


def _interval(estimate: float, drawn: NDArray[Any], confidence: float, seed: int) -> Interval:
    if not 0 < confidence < 1:
        raise TreemeanError(f"the confidence must lie between 0 and 1, not {confidence}")
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return Interval(estimate, low, high, confidence, len(drawn), seed)


def _share_reaching(drawn: Floats, observed: float) -> float:
    """Return the share of samples that reach the observed value, itself counted as one of them."""
    slack = 1e-9  # scores are percentages: less is rounding
    return (1 + int((drawn >= observed - slack).sum())) / (1 + len(drawn))
