"""A bounded search for tile sizes and warps: one setting changed at a time, kept if it is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from benchmarks.common import Budget
from benchmarks.kernels import dense, step
from benchmarks.reports import guard
from treemean.grammars.dense.triton.forward_pass import Settings as DenseSettings
from treemean.grammars.rank.triton.settings import DEFAULT

#: Settings of TN-LCFRS, or of N-LCFRS.
S = TypeVar("S", bound=Any)

RANK: list[dict[str, object]] = [
    {"large_lines": 32}, {"large_lines": 32, "large_warps": 1}, {"large_lines": 128}, {"large_right": 64},
    {"large_right": 16}, {"large_step": 64}, {"large_step": 16}, {"large_stages": 2}, {"large_stages": 4},
    {"gradient_lines": 64, "gradient_warps": 2, "gradient_ranks": 64}, {"gradient_ranks": 256},
    {"gradient_ranks": 64, "gradient_warps": 2}, {"gradient_step": 64}, {"gradient_step": 16},
    {"gradient_stages": 2}, {"gradient_stages": 4}, {"attached_own": 16},
    {"attached_own": 4, "attached_other": 32}, {"attached_own": 8, "attached_other": 32},
    {"attached_own": 4, "attached_other": 16, "attached_warps": 2}, {"attached_warps": 8},
    {"attached_warps": 2}, {"cells": 32, "cell_warps": 1}, {"cells": 128, "cell_warps": 4},
    {"cell_warps": 4}, {"cells_back": 32, "cells_back_warps": 1},
    {"cells_back": 128, "cells_back_warps": 4}, {"cells_back_warps": 4}, {"span_warps": 8},
    {"span_warps": 2}, {"step": 4}, {"step": 16}, {"pairs": 256}, {"pairs": 64}, {"wrapped_step": 8},
    {"wrapped_step": 2}, {"streams": False},
]  # fmt: skip
DENSE: list[dict[str, object]] = [
    {"sharing": 32}, {"attach_rows": 64}, {"attach_stages": 4}, {"collect_stages": 3}, {"rows": 64},
    {"attach_chunks": 4}, {"right_chunks": 8}, {"attach_chunks": 16}, {"wrap_chunks": 32}, {"chunks": 8},
    {"attach_stages": 2}, {"rows": 64, "collect_warps": 2}, {"collect_stages": 1}, {"streams": False},
]  # fmt: skip


def tune_all(budget: Budget, reserve: float = 20.0, n: int = 40) -> dict[str, Any]:
    """Tune the inside algorithm and its gradient, of both families of grammars, for sentences of n words."""
    rank, symbols = step.Step(n).fixed_rules(), dense.rules_of("n-lcfrs", n)
    half = reserve + (budget.left() - reserve) / 2
    return {
        "rank": tune(DEFAULT, RANK, lambda s: step.inside_times(rank, s)[1], budget, half),
        "dense": tune(
            DenseSettings(), DENSE, lambda s: dense.inside_milliseconds(symbols, s), budget, reserve
        ),
    }


def tune(
    default: S,
    options: Sequence[dict[str, object]],
    measure: Callable[[S], float],
    budget: Budget,
    reserve: float,
) -> dict[str, Any]:
    """Return the fastest settings found before only ``reserve`` seconds are left, and what was tried."""
    best, tried = default, []
    fastest = measure(best)
    print(f"Tuning from {fastest:.3f} ms {budget}")
    for option in options:
        if budget.left() < reserve:
            print("  (cut short)")
            break
        settings = replace(best, **option)
        time = guard(str(option), measure, settings)
        if time is None:
            continue
        kept = time < 0.993 * fastest
        print(f"  {time:7.3f} ms {option}{'  kept' if kept else ''}", flush=True)
        tried.append({"option": option, "milliseconds": time, "kept": kept})
        if kept:
            best, fastest = settings, time
    changes = {k: v for k, v in asdict(best).items() if v != getattr(default, k)}
    print(f"Best: {fastest:.3f} ms with {changes} {budget}")
    return {"settings": asdict(best), "tried": tried, "from": asdict(default)}
