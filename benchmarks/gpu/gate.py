"""All checks at published sizes against float64, which must be passed before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gpu import decoding, dense, grammars, verify
from gpu.timing import fail, guard

#: Which grammars are checked from parameters to gradients, and how decided their choices are.
GRAMMARS = [("tn-lcfrs", 1.0), ("tn-lcfrs", 50.0), ("tn-pcfg", 50.0)]
#: How large hidden layers of emissions are in other checks.
GROWN = (1e3, 2e4)
#: The versions of them that are used; others are only compared.
VERSIONS = ("halves", "float32")


#: The kinds of checks, in their order.
KINDS = ("inside", "grammars", "trees", "dense")


def check_all(kinds: Collection[str] = KINDS) -> dict[str, Any]:
    """Run all checks of some kinds; return what they found, and whether all "passed".

    Failures are noted, see `guard`.
    """
    checks: dict[str, list[tuple[str, Callable[[], Any]]]] = {
        "inside": [(case.name, lambda case=case: verify.check(case)) for case in verify.CASES],  # type: ignore[misc]
        "grammars": [
            (f"{kind}, sharpness {sharpness:g}", lambda k=kind, s=sharpness: grammars.check(k, s))  # type: ignore[misc]
            for kind, sharpness in GRAMMARS
        ]
        + [(f"hidden layers up to {x:.0e}", lambda x=x: grammars.check_grown(x)) for x in GROWN],  # type: ignore[misc]
        "trees": [("MBR trees", decoding.check)],
        "dense": [
            (f"{kind}, {name}", lambda check=check, kind=kind: check(kind))  # type: ignore[misc]
            for kind in dense.KINDS
            for name, check in (
                ("rules", dense.check),
                ("rules, 40 words", lambda kind: dense.check(kind, n=40, batch=3)),
                ("parameters", dense.check_parameters),
                ("graph", dense.check_graph),
            )
        ],
    }
    found: dict[str, Any] = {"passed": True}
    for part in kinds:
        print(f"{part} against float64 (log Z in nats, gradients relative to their norm):", flush=True)
        found[part] = []
        for name, check in checks[part]:
            result = guard(name, check)
            good = is_good(result)
            if not good:
                found["passed"] = False
                if result is not None:
                    fail(name)
            found[part].append({"case": name, "good": good, "found": result})
    return found


def is_good(found: Any) -> bool:
    """Tell whether a check found errors within what is allowed.

    >>> is_good({"log_z": 1e-4, "gradients": {"root": 2e-3}})
    False
    """
    if not isinstance(found, Mapping):
        return found is True
    if "good" in found:
        return bool(found["good"])
    if not found.get("same_bits", found.get("repeatable", True)):
        return False
    if "halves" in found:
        return all(is_good({"log_z": found[v]["log_z"], "gradients": found[v]["whole"]}) for v in VERSIONS)
    gradients = found["gradients"]
    errors = [found["log_z"], *(gradients.values() if isinstance(gradients, Mapping) else [gradients])]
    return all(error <= verify.LARGEST_DIFFERENCE for error in errors)
