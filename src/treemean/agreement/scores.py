"""F1 of each pair of runs, and how disputed each sentence is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from treemean.agreement.chance import agreement_by_chance, f1_of
from treemean.agreement.results import Agreement
from treemean.agreement.together import Together, Whole, bring_together
from treemean.agreement.units import Flags, Floats, Units, find_units
from treemean.averaging import Frequencies, average
from treemean.errors import InvalidOption, WrongType
from treemean.evaluation import Protocol, get_protocol
from treemean.evaluation.scores import Trees, sentence_names
from treemean.names import Match
from treemean.trees import Treebank, as_treebank


def agree(
    runs: Sequence[Trees] | Mapping[str, Trees],
    *,
    labelled: bool = False,
    match: Match = "position",
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    jobs: int | None = None,
) -> Agreement:
    """Return how much runs (parsers, annotators, …) agree on the same sentences, without gold trees.

    Constituents count as in the protocol `standard`; the order of the runs does not matter.

    Parameters
    ----------
    runs : two treebanks (or trees) or more, by name or in a list (`run 1`, `run 2`, …).
    labelled : whether a match needs the same label, too.
    match : pair sentences by `"position"` or by `"id"`.
    punctuation : what counts as punctuation, see `punctuation_mask`. A word is punctuation if any run with
        all the words says so; other runs may lack punctuation.
    ignore_case : whether to ignore upper and lower case when words are compared.
    jobs : the number of threads that average; all cores if not given.

    Raises `MismatchError`, which names runs and sentence, if the runs do not have the same sentences.

    >>> from treemean.trees import Tree
    >>> words = "Wake your friend up".split()
    >>> sets = {"ann": [{0, 3}, {1, 2}], "bob": [{1, 2, 3}, {1, 2}], "cem": [{1, 2}]}
    >>> trees = {who: Tree(words, [(range(4), "S"), *((s, "X") for s in own)]) for who, own in sets.items()}
    >>> found = agree(trees)
    >>> found.f1.round(1).tolist()
    [[100.0, 50.0, 66.7], [50.0, 100.0, 66.7], [66.7, 66.7, 100.0]]
    >>> [(constituent.words, constituent.runs) for constituent in found.disputed()]
    [(('Wake', 'up'), ('ann',)), (('your', 'friend', 'up'), ('bob',))]
    """
    if isinstance(runs, Treebank) or not isinstance(runs, Iterable):
        raise WrongType(f"runs must be a list of treebanks, not a {type(runs).__name__}")
    given = dict(runs) if isinstance(runs, Mapping) else {f"run {i}": run for i, run in enumerate(runs, 1)}
    named: dict[str, Treebank] = {}
    for name, run in given.items():
        try:
            named[name] = as_treebank(run)
        except TypeError as error:
            raise InvalidOption(f"runs must be treebanks or trees; {name}: {error}") from None
    if len(named) < 2:
        raise InvalidOption(f"agreement is between two runs or more, and there is {len(named) or 'none'}")
    protocol = get_protocol("standard", labelled=labelled)
    whole = Whole.of([named], punctuation)
    together = bring_together(named, protocol, match=match, whole=whole, ignore_case=ignore_case)
    return agree_together(tuple(named), protocol, together, jobs=jobs)


def agree_together(
    names: tuple[str, ...],
    protocol: Protocol,
    together: Together,
    *,
    jobs: int | None,
    frequencies: Sequence[Frequencies] | None = None,
    first: int = 0,
) -> Agreement:
    """Return how much runs agree that are brought together.

    They may be a part of more: `first` sentences come before, and `frequencies` are those of the labels of
    each run in all of it.
    """
    mean = average(together.runs, frequencies=frequencies, jobs=jobs)
    with_mean = find_units([*together.runs, mean], protocol)
    # The average has nothing that no run has.
    units, in_average = replace(with_mean, has=with_mean.has[:, :-1]), with_mean.has[:, -1]
    shared = units.shared()
    return Agreement(
        runs=names,
        protocol=protocol,
        f1=f1_of(shared, np.diag(shared)),
        chance=agreement_by_chance(units),
        dispute=_dispute(units, in_average),
        average=mean,
        sentences=together.sentences + first,
        dropped={
            why: sentence_names(together.whole, places, first) for why, places in together.dropped.items()
        },
        units=units,
        in_average=in_average,
        positions=together.positions,
    )


def _dispute(units: Units, in_average: Flags) -> Floats:
    """Return 1 − the mean F1 of the average with each run, by sentence; trees without units agree fully."""
    shared = units.per_sentence(units.has & in_average[:, None])
    both = units.per_sentence(units.has) + units.per_sentence(in_average)[:, None]
    f1 = np.divide(2 * shared, both, out=np.ones_like(shared), where=both > 0)
    # Sorted, so that sums do not depend on the order of the runs, and equally disputed sentences stay equal.
    return np.asarray(1 - np.sort(f1, axis=1).mean(axis=1))
