"""Bounds that decide about candidates before any search (section 2.4 of the paper, and a stronger one).

For a *uniform* problem (all individuals have the same number s of constituents, as binary trees do) the
objective is, up to a constant, the ratio

    f(T) = Σ_{c ∈ C(T)} h(c) / (|C(T)| + β² s).

Everything below follows from one remark. Let T have the constituent c, and let T∖c be T without it. A ratio
with numerator and denominator increased by h and 1 lies between the old ratio and h, so

    f(T∖c) ≤ f(T)  ⇔  h(c) ≥ f(T)  ⇔  h(c) ≥ f(T∖c),   and the same with > instead of ≥.        (*)

Ties. T∖c is a tree, so if T is optimal then f(T∖c) ≤ f(T), and (*) gives h(c) ≥ f(T) ≥ f(T∖c) for each
non-trivial c in T. If T is optimal *with the fewest constituents*, T∖c is not optimal, f(T∖c) < f(T), and all
inequalities are strict. Hence, for a number b ≤ f(T∖c),

- removing candidates with h(c) ≤ b keeps every optimum with the fewest constituents (the default), and
- removing candidates with h(c) < b keeps every optimum (`keep_ties`).

Either way the optimal value stays. Nothing is assumed about hits but that they are not negative, so plain
weights, typed weights and fractional hits are all allowed, and any β.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.scores import Scores, highest_hits
from treemean.errors import TreemeanError
from treemean.trees import compatible

NOT_UNIFORM = "individuals differ in size, so the objective is not one ratio"
BINARY_OUTPUT = "binary output maximises the sum of hits, not a ratio"


@dataclass(frozen=True)
class Stage:
    """What one bound did.

    Attributes
    ----------
    name : `zero-hit`, `all-hit`, `lower bound` or `value bound`.
    threshold : the hits a candidate must exceed (or reach, with `keep_ties`), in units of integer weights;
        None if the stage has no threshold or was skipped.
    forced, removed : candidates decided here.
    left : how many candidates are undecided after the stage.
    skipped : why the bound does not hold for this problem, else empty.
    """

    name: str
    threshold: Fraction | None
    forced: tuple[int, ...]
    removed: tuple[int, ...]
    left: int
    skipped: str = ""


@dataclass(frozen=True)
class Pruned:
    """Candidates after pruning, as ascending indices.

    Attributes
    ----------
    kept : those still to be decided.
    forced : those that every optimum has; compatible with all that are kept.
    stages : what each bound did, in order.
    """

    kept: tuple[int, ...]
    forced: tuple[int, ...]
    stages: tuple[Stage, ...]

    def left_after(self, name: str) -> int:
        """Return how many candidates were undecided after a stage."""
        return next(stage.left for stage in self.stages if stage.name == name)


def prune(
    problem: Problem,
    *,
    zero_hit: bool = True,
    all_hit: bool = True,
    lower_bound: bool = True,
    value_bound: bool = True,
    binary: bool = False,
    keep_ties: bool = False,
) -> Pruned:
    """Decide about as many candidates as the bounds allow.

    Parameters
    ----------
    zero_hit : remove candidates without hits (the lower-bound theorem with P = ∅); holds for every problem.
    all_hit : force candidates that all individuals have (the upper-bound theorem); holds for every problem.
    lower_bound : the lower-bound theorem, P being the trivial and the forced constituents; needs a uniform
        problem.
    value_bound : h(c) > λ* ≥ f(P), the stronger bound; needs a uniform problem.
    binary : whether the output is to be binary; the last two bounds do not hold then and are skipped.
    keep_ties : keep all optima, not only those with the fewest constituents.

    A bound that does not hold for the problem is skipped, and its stage says why.
    """
    kept = list(range(len(problem.candidates)))
    forced: list[int] = []
    stages: list[Stage] = []

    def decide(
        name: str,
        *,
        threshold: Fraction | None = None,
        force: Iterable[int] = (),
        remove: Iterable[int] = (),
        skipped: str = "",
    ) -> None:
        newly_forced, removed = tuple(force), tuple(remove)
        decided = {*newly_forced, *removed}
        forced.extend(newly_forced)
        kept[:] = [c for c in kept if c not in decided]
        stages.append(Stage(name, threshold, newly_forced, removed, len(kept), skipped))

    def remove_below(name: str, threshold: Fraction) -> None:
        hits = problem.summed_hits
        below = [c for c in kept if hits[c] < threshold or (hits[c] == threshold and not keep_ties)]
        decide(name, threshold=threshold, remove=below)

    if zero_hit:
        # A constituent without hits leaves all numerators as they are and makes all denominators larger.
        decide("zero-hit", threshold=Fraction(0), remove=[c for c in kept if not problem.summed_hits[c]])
    if all_hit:
        decide("all-hit", force=all_hit_candidates(problem, binary=binary))
    if binary or not problem.is_uniform:
        reason = BINARY_OUTPUT if binary else NOT_UNIFORM
        for wanted, name in ((lower_bound, "lower bound"), (value_bound, "value bound")):
            if wanted:
                decide(name, skipped=reason)
    else:
        if lower_bound:
            remove_below("lower bound", paper_lower_bound(problem, forced, kept))
        if value_bound:
            remove_below("value bound", ratio(problem, forced))
    return Pruned(tuple(kept), tuple(sorted(forced)), tuple(stages))


def ratio(problem: Problem, chosen: Sequence[int]) -> Fraction:
    """Return f(T) of the tree with the chosen candidates; for uniform problems.

    Every tree's ratio is a lower bound of the optimum λ*, and by (*) candidates with fewer than λ* hits are
    in no optimum. With no candidate chosen, for K binary trees and β = 1, this is K(n+1)/(3n) > K/3. The
    paper's lower bound is a minimum that f(P) is part of, so f(P) is never lower than it.
    """
    if not problem.is_uniform:
        raise TreemeanError(f"the ratio form needs a uniform problem: {NOT_UNIFORM}")
    numerator = sum(problem.trivial_hits) + sum(problem.summed_hits[c] for c in chosen)
    return numerator / (problem.trivial_count + len(chosen) + problem.beta2 * problem.sizes[0])


def paper_lower_bound(problem: Problem, forced: Sequence[int], kept: Sequence[int]) -> Fraction:
    """Return the paper's lower bound, min over j of (Σ_{i ≤ j-|P|} λ⁺_i + Σ_{c ∈ P} h(c)) / (j + β² s).

    P has the trivial constituents and `forced`, which every optimum has; λ⁺_i is the i-th smallest positive
    number of hits among `kept`, of which the rest of an optimum consists. The bound is at most f(T∖c) for
    each optimum T and each c of T outside P: T∖c holds P, and its j - |P| other constituents have different
    places in the list of λ⁺. O(m log m).
    """
    if not problem.is_uniform:
        raise TreemeanError(f"the lower bound needs a uniform problem: {NOT_UNIFORM}")
    known = problem.trivial_count + len(forced)
    numerator = sum(problem.trivial_hits) + sum(problem.summed_hits[c] for c in forced)
    constant = problem.beta2 * problem.sizes[0]
    smallest = sorted(problem.summed_hits[c] for c in kept if problem.summed_hits[c])
    best = numerator / (known + constant)
    for j, hits in enumerate(smallest[: 2 * problem.n - 2 - known], known + 1):
        numerator += hits
        best = min(best, numerator / (j + constant))
    return best


def all_hit_candidates(problem: Problem, *, binary: bool = False) -> list[int]:
    """Return the candidates that all individuals have, and so has every optimum (upper-bound theorem).

    `All` means: as many hits as the words and the sentence have. With plain weights such a candidate c is in
    every individual with a say, hence compatible with every candidate that has hits, and as T has at most
    `total` hits per constituent, f(T) < total = h(c) for every tree T (if β > 0): by (*) adding c improves T.
    Typed weights and fractional hits allow more, so both conclusions are checked rather than assumed:

    - c is compatible with every candidate that has hits (others are in no optimum), and
    - adding c improves every tree. For a uniform problem: h(c) exceeds what f could be without conflicts.
      Otherwise, for each individual on its own: its worth of c is the highest that it gives to anything, so
      the same argument holds for (A + h)/(D + 1) > A/D. For binary output any hit improves the sum.
    """
    full = [c for c, hits in enumerate(problem.summed_hits) if hits >= problem.total]
    if not full:
        return []
    with_hits = [m for m, hits in zip(problem.candidates, problem.summed_hits) if hits]
    universal = [c for c in full if all(compatible(problem.candidates[c], m) for m in with_hits)]
    if binary:
        return universal
    if problem.is_uniform:
        highest = Scores(problem).relaxation() * problem.total / (1 + problem.beta2)
        return [c for c in universal if problem.summed_hits[c] > highest]
    if not problem.beta2:
        return []
    highest_by_individual = highest_hits(problem)
    return [c for c in universal if all(h >= top for h, top in zip(problem.hits[c], highest_by_individual))]
