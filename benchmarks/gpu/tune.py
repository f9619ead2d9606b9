"""A bounded search for tile sizes and warps: one setting changed at a time, kept if it is faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

from gpu.timing import Budget, guard
from treemean.grammars.inside.triton.settings import DEFAULT, Settings

OPTIONS: list[dict[str, object]] = [
    {"gradient_ranks": 64},
    {"gradient_ranks": 64, "gradient_parts": 16},
    {"gradient_parts": 16},
    {"gradient_parts": 16, "gradient_warps": 8},
    {"gradient_step": 64},
    {"gradient_step": 64, "gradient_stages": 2},
    {"gradient_stages": 4},
    {"gradient_ranks": 256, "gradient_warps": 8},
    {"large_left": 8},
    {"large_right": 64},
    {"large_right": 16},
    {"large_step": 64},
    {"large_step": 16},
    {"large_warps": 8},
    {"large_stages": 2},
    {"attached_own": 16},
    {"attached_own": 4, "attached_other": 32},
    {"attached_own": 8, "attached_other": 32},
    {"attached_own": 4, "attached_other": 16, "attached_warps": 2},
    {"attached_warps": 8},
    {"attached_warps": 2},
    {"cells": 32, "cell_warps": 1},
    {"cells": 128, "cell_warps": 4},
    {"cell_warps": 4},
    {"cells_back": 32, "cells_back_warps": 1},
    {"cells_back": 128, "cells_back_warps": 4},
    {"cells_back_warps": 4},
    {"span_warps": 8},
    {"span_warps": 2},
    {"step": 4},
    {"step": 16},
    {"pairs": 256},
    {"pairs": 64},
    {"wrapped_step": 8},
    {"wrapped_step": 2},
    {"streams": False},
]


def tune(
    measure: Callable[[Settings], float], budget: Budget, reserve: float
) -> tuple[Settings, list[object]]:
    """Return the fastest settings found before only ``reserve`` seconds are left, and what was tried."""
    best, tried = DEFAULT, []
    fastest = measure(best)
    print(f"Tuning from {fastest:.3f} ms {budget}")
    for option in OPTIONS:
        if budget.left() < reserve:
            print("  (cut short)")
            break
        settings = replace(best, **option)  # type: ignore[arg-type]
        time = guard(str(option), lambda settings=settings: measure(settings))  # type: ignore[misc]
        if time is None:
            continue
        kept = time < 0.993 * fastest
        print(f"  {time:7.3f} ms {option}{'  kept' if kept else ''}", flush=True)
        tried.append({"option": option, "milliseconds": time, "kept": kept})
        if kept:
            best, fastest = settings, time
    changes = {k: v for k, v in asdict(best).items() if v != getattr(DEFAULT, k)}
    print(f"Best: {fastest:.3f} ms with {changes} {budget}")
    return best, tried
