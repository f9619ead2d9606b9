"""The paper's methods and simple baselines, by name: small, exact in arithmetic, not made for speed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from treemean.averaging.reference import (
    cyk,
    dynamic_programming,
    exhaustive,
    greedy,
    integer_programming,
    labelled,
    majority,
    meet_in_the_middle,
    select,
)
from treemean.averaging.reference.labelled import LabelledSolution
from treemean.averaging.reference.solution import Solution

Solver = Callable[..., Solution]
LabelledSolver = Callable[..., LabelledSolution]

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

#: Those that average labelled trees jointly, too: each takes a `LabelledProblem`.
LABELLED_METHODS: Mapping[str, LabelledSolver] = MappingProxyType(
    {"exhaustive": labelled.solve, "integer-programming": integer_programming.solve_labelled}
)

#: Which options of `treemean.average` a method takes, beyond those that all take.
OPTIONS_OF_METHODS: Mapping[str, Collection[str]] = MappingProxyType(
    {"dynamic-programming": ("max_fan_out",), "integer-programming": ("time_limit",)}
)
