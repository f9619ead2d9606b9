"""Weights of individuals: checked, typed if wished, and as integers so that comparisons are exact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from treemean.averaging.arguments import number
from treemean.errors import InvalidOption, TreemeanError
from treemean.trees.bitsets import fan_out_of

#: Weights that are not short decimals are rounded to this many parts of the largest one.
RESOLUTION = 1 << 30

WeightsLike = Sequence[float] | Mapping[str, Sequence[float]] | None


@dataclass(frozen=True)
class Weights:
    """Integer weights per individual, for continuous and for discontinuous constituents.

    Attributes
    ----------
    continuous, discontinuous : K integers each, not negative; proportional to the weights that were given.
    """

    continuous: tuple[int, ...]
    discontinuous: tuple[int, ...]

    @property
    def total(self) -> int:
        """The sum by which objectives are divided: that of the continuous weights."""
        return sum(self.continuous)

    def of_set(self, mask: int) -> tuple[int, ...]:
        """Return the weights that hold for a set of words: those with a gap have weights of their own."""
        return self.continuous if fan_out_of(mask) == 1 else self.discontinuous

    def has_say(self, individual: int) -> bool:
        """Tell whether an individual has any weight."""
        return bool(self.continuous[individual] or self.discontinuous[individual])


def make_weights(weights: WeightsLike, count: int) -> Weights:
    """Check weights for `count` individuals and return them as integers.

    Parameters
    ----------
    weights : None for equal ones, a number per individual, or typed weights: a mapping with the keys
        `continuous` and `discontinuous`, each a number per individual. Zero means no say.

    Short decimals (5.95) become exact integers; other numbers are rounded to about nine digits of the largest
    one. What is then less than half a unit, under about 5e-10 of the largest weight, has no say.

    >>> make_weights([5.95, 1.5], 2).continuous
    (119, 30)
    """
    if count < 1:
        raise TreemeanError("there is nothing to average: give at least one treebank")
    if weights is None:
        return Weights((1,) * count, (1,) * count)
    if isinstance(weights, Mapping):
        if weights.keys() != {"continuous", "discontinuous"}:
            raise InvalidOption("typed weights need the keys 'continuous' and 'discontinuous'")
        kinds = [_checked(weights[kind], count, f"{kind} ") for kind in ("continuous", "discontinuous")]
        if not any(kinds[0]):
            raise InvalidOption("all continuous weights are zero: at least one must be above zero")
    else:
        single = _checked(weights, count, "")
        if not any(single):
            raise InvalidOption("all weights are zero: at least one must be above zero")
        kinds = [single, single]
    integers = to_integers([*kinds[0], *kinds[1]])
    if not any(integers[:count]):
        raise InvalidOption(
            "the continuous weights are too small beside the discontinuous ones: they are rounded to zero"
        )
    return Weights(tuple(integers[:count]), tuple(integers[count:]))


def to_integers(values: Sequence[float]) -> list[int]:
    """Return integers proportional to numbers: exactly for short decimals, else to about nine digits."""
    exact = [Fraction(repr(float(value))) for value in values]
    denominator = math.lcm(*(value.denominator for value in exact))
    scaled = [int(value * denominator) for value in exact]
    if max(map(abs, scaled)) > RESOLUTION:
        largest = max(map(abs, exact))
        scaled = [round(value * RESOLUTION / largest) for value in exact]
    divisor = math.gcd(*scaled) or 1
    return [value // divisor for value in scaled]


def _checked(weights: Sequence[float], count: int, kind: str) -> list[float]:
    if isinstance(weights, str | bytes) or not isinstance(weights, Iterable):
        raise InvalidOption(f"{kind}weights must be a list of numbers, not {weights!r}")
    given = [number(f"{kind}weight {place}", weight) for place, weight in enumerate(weights, 1)]
    if len(given) != count:
        raise InvalidOption(f"{len(given)} {kind}weights for {count} individuals")
    for place, weight in enumerate(given, 1):
        if not math.isfinite(weight) or weight < 0:
            raise InvalidOption(f"{kind}weight {place} is {weight}; weights must be finite and not negative")
    return given
