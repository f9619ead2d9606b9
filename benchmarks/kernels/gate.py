"""All checks at published sizes against float64, which must be passed before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import fail
from benchmarks.kernels import decoding, dense, inside, parameters, sizes, soak
from benchmarks.reports import guard

#: Which grammars are checked from parameters to gradients, and how decided their choices are.
GRAMMARS = [("tn-lcfrs", 1.0), ("tn-lcfrs", 50.0), ("tn-pcfg", 50.0)]
#: How large hidden layers of emissions are in other checks.
GROWN = (1e3, 2e4)
#: How many runs are compared with each alone, and how decided their choices are.
STACKS = [(5, 1.0), (10, 50.0), (16, 1.0)]
#: The kinds of checks, in their order.
KINDS = ("inside", "grammars", "trees", "dense", "sizes", "soak")
#: How long kernels are repeated, and which share of the whole soak test is wanted in that time.
SOAK_SECONDS, SOAK_SCALE = 60, 0.02


def check_all(data: Path, kinds: Collection[str] = KINDS) -> dict[str, Any]:
    """Run all checks of some kinds; return what they found, and whether all "passed".

    Each says by "good" whether its errors are within what is allowed. Failures are noted, see `guard`.
    """
    checks: dict[str, Mapping[str, Callable[[], Mapping[str, Any]]]] = {
        "inside": {case.name: partial(inside.check, case) for case in inside.CASES},
        "grammars": {f"{kind}, sharpness {s:g}": partial(parameters.check, kind, s) for kind, s in GRAMMARS}
        | {f"hidden layers up to {x:.0e}": partial(parameters.check_grown, x) for x in GROWN}
        | {f"{runs} runs, sharpness {s:g}": partial(parameters.check_stack, runs, s) for runs, s in STACKS},
        "trees": {"MBR trees": decoding.check},
        "dense": {
            f"{kind}, {name}": partial(check, kind)
            for kind in dense.KINDS
            for name, check in dense.CHECKS.items()
        },
        "sizes": {str(size): partial(sizes.check, size) for size in sizes.SIZES},
        "soak": {"the same bits again and again": partial(repeat_kernels, data)},
    }
    found: dict[str, Any] = {"passed": True}
    for part in kinds:
        print(f"{part} against float64 (log Z in nats, gradients relative to their norm):", flush=True)
        found[part] = []
        for name, check in checks[part].items():
            result = guard(name, check)
            if result is not None and not result["good"]:
                fail(name)
            good = result is not None and bool(result["good"])
            found["passed"] = found["passed"] and good
            found[part].append({"case": name, "good": good, "found": result})
    return found


def repeat_kernels(data: Path) -> dict[str, Any]:
    """Repeat as many kernels as a minute allows; none may give other bits, or have asynchronous products."""
    with TemporaryDirectory() as folder:
        _, found = soak.run(Path(folder), data, SOAK_SECONDS, SOAK_SCALE)
    differences = found["differences"]
    return {"repetitions": soak.count(found), "differences": differences, "good": not differences}
