"""The paper's methods and simple baselines, by name: small, exact in arithmetic, not made for speed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from treemean.averaging import (
    cyk,
    dynamic_programming,
    exhaustive,
    greedy,
    integer_programming,
    majority,
    meet_in_the_middle,
    select,
)
from treemean.averaging.solution import Solution

Solver = Callable[..., Solution]

#: Each takes a `Problem` and options of its own, and returns a `Solution`.
REFERENCE_METHODS: Mapping[str, Solver] = MappingProxyType(
    {
        "meet-in-the-middle": meet_in_the_middle.solve,
        "exhaustive": exhaustive.solve,
        "dynamic-programming": dynamic_programming.solve,
        "integer-programming": integer_programming.solve,
        "cyk": cyk.solve,
        "greedy": greedy.solve,
        "select": select.solve,
        "majority": majority.solve,
    }
)

#: Which options of `treemean.average` a method takes, beyond those that all take.
OPTIONS_OF_METHODS: Mapping[str, Collection[str]] = MappingProxyType(
    {"dynamic-programming": ("max_fan_out",), "integer-programming": ("time_limit",)}
)
