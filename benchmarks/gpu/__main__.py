"""The benchmark of the kernels, behind a gate of correctness: `python benchmarks/gpu --out FOLDER`.

Everything in one go: the gate, products, steps by part, tuning, steps with the tuned settings; a table last.
Each part may fail alone; numbers go to FOLDER/gpu.json after each part.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from gpu import products, step, verify
from gpu.timing import Budget, guard, kernel_times, print_kernels
from gpu.tune import tune
from treemean.grammars.inside.triton.settings import DEFAULT

#: Milliseconds of a step of the public code on the same kind of GPU, batch of 20.
REFERENCE = {10: 56, 20: 84, 30: 153, 40: 319}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for gpu.json")
    parser.add_argument("--seconds", type=float, default=480, help="time that the script may take")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--no-tune", action="store_true", help="leave the search for settings out")
    arguments = parser.parse_args()
    budget = Budget(arguments.seconds)
    report: dict[str, object] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "seconds": arguments.seconds,
    }

    def save(name: str, value: object) -> None:
        report[name] = value
        arguments.out.mkdir(parents=True, exist_ok=True)
        target = arguments.out / "gpu.json"
        temporary = target.with_suffix(".tmp")
        temporary.write_text(json.dumps(report, indent=1, default=str))
        os.replace(temporary, target)

    print(report["device"], report["torch"], flush=True)
    gate = guard("verify", verify.verify)
    good, found = gate if gate is not None else (False, [])
    save("verification", found)
    print(f"Gate: {'passed' if good else 'NOT PASSED'} {budget}", flush=True)
    save("products", guard("products", products.rates))
    save("normalisers", guard("normalisers", products.normalisers))
    print(f"Steps with default settings {budget}:")
    save(
        "default",
        [
            guard(f"step {n}", lambda n=n: step.measure(n, 20, DEFAULT, profile=n in (10, 40)))  # type: ignore[misc]
            for n in arguments.lengths
        ],
    )
    settings = DEFAULT
    if not arguments.no_tune:
        rules = step.Step(40).fixed_rules()
        tuned = guard("tune", lambda: tune(lambda s: step.inside_times(rules, s)[1], budget, 90))
        if tuned is not None:
            settings = tuned[0]
            save("tuning", {"settings": asdict(settings), "tried": tuned[1]})
        del rules
    if settings != DEFAULT:
        print(f"Steps with tuned settings {budget}:")
        final = [guard(f"step {n}", lambda n=n: step.measure(n, 20, settings)) for n in arguments.lengths]  # type: ignore[misc]
        save("tuned", final)
        for n in (10, 20):
            if budget.left() > 40:
                s = step.Step(n, 20, settings)
                guard("kernels", lambda s=s, n=n: print_kernels(f"n = {n}", kernel_times(s.learn), 16))  # type: ignore[misc]
    else:
        final = report["default"]  # type: ignore[assignment]
    if budget.left() > 45:
        save("batch_80", guard("batch 80", lambda: step.measure(40, 80, settings)))
    print(f"\nGate {'passed' if good else 'NOT PASSED'}. Step in ms, batch of 20, one GPU: {budget}")
    print("  length   step   public code   grammar  inside  backward  update   GiB")
    for row in final:
        if row:
            print(
                f"  {row['n']:6d} {row['whole']:6.2f} {REFERENCE.get(row['n'], 0):9d}"  # type: ignore[index]
                f" {row['grammar']:12.2f} {row['inside']:7.2f} {row['backward']:9.2f} {row['update']:7.2f}"
                f" {row['memory']:6.2f}"
            )


if __name__ == "__main__":
    main()
