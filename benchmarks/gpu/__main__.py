"""The benchmark of the kernels, behind a gate of correctness: `python benchmarks/gpu --out FOLDER`.

Everything in one go; `--parts` chooses. Each part may fail alone; numbers go to FOLDER/gpu.json after each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from gpu import decoding, dense, grammars, products, step, verify
from gpu.timing import Budget, guard
from gpu.tune import tune
from treemean.grammars.inside.triton.settings import DEFAULT

#: Milliseconds of a step of the public code on the same kind of GPU, batch of 20; and of its MBR decoding.
REFERENCE = {10: (56, 36), 20: (84, 94), 30: (153, 166), 40: (319, 361)}
PARTS = ("gate", "grammars", "products", "steps", "runs", "batches", "decoding", "dense", "tune")


class Report:
    """What was found, in a file that is complete after each part."""

    def __init__(self, folder: Path) -> None:
        self._target = folder / "gpu.json"
        folder.mkdir(parents=True, exist_ok=True)
        self.parts: dict[str, object] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}

    def save(self, name: str, value: object) -> None:
        self.parts[name] = value
        temporary = self._target.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.parts, indent=1, default=str))
        os.replace(temporary, self._target)

    def each(self, name: str, calls: list[Callable[[], object]]) -> list[object]:
        results = [guard(name, call) for call in calls]
        self.save(name, results)
        return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for gpu.json")
    parser.add_argument("--seconds", type=float, default=480, help="time that the script may take")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[p for p in PARTS if p != "tune"])
    arguments = parser.parse_args()
    budget, report, lengths = Budget(arguments.seconds), Report(arguments.out), arguments.lengths
    print(report.parts["device"], report.parts["torch"], flush=True)

    def wanted(part: str, seconds: float) -> bool:
        if part not in arguments.parts:
            return False
        if budget.left() < seconds:
            print(f"(no time for {part}) {budget}")
            return False
        print(f"{part} {budget}:", flush=True)
        return True

    gate = "not asked for"
    if wanted("gate", 45):
        found = guard("gate", verify.verify)
        gate = "passed" if found is not None and found[0] else "NOT PASSED"
        report.save("verification", found)
    if wanted("grammars", 30):
        cases = [("tn-lcfrs", 1.0), ("tn-lcfrs", 50.0), ("tn-pcfg", 50.0)]
        report.each("grammars", [lambda c=c: grammars.check(*c) for c in cases])  # type: ignore[misc]
    if wanted("products", 10):
        report.save("products", guard("products", products.rates))
    steps: list[object] = []
    if wanted("steps", 30):
        steps = report.each(
            "steps",
            [lambda n=n: step.measure(n, 20, profile=n == 10) for n in lengths],  # type: ignore[misc]
        )
    if wanted("runs", 40):
        cases_of_runs = [(n, runs) for runs in (5, 10) for n in (10, 20, 40)]
        report.each(
            "runs",
            [lambda n=n, r=r: step.measure(n, 20, runs=r) for n, r in cases_of_runs],  # type: ignore[misc]
        )
    if wanted("batches", 30):
        report.each("batches", [lambda n=n: step.measure(n, 80) for n in lengths])  # type: ignore[misc]
    trees: list[object] = []
    if wanted("decoding", 40):
        report.each("trees", [decoding.check])
        trees = report.each("decoding", [lambda n=n: decoding.measure(n) for n in lengths])  # type: ignore[misc]
    if wanted("dense", 60):
        cases_of_dense = [(kind, n) for kind in dense.KINDS for n in lengths if n in (10, 20, 40)]
        report.each("dense_check", [lambda k=k: dense.check(k) for k in dense.KINDS])  # type: ignore[misc]
        report.each(
            "dense",
            [
                lambda k=k, n=n: dense.measure(k, n, profile=(k, n) == ("n-lcfrs", 40))  # type: ignore[misc]
                for k, n in cases_of_dense
            ],
        )
        report.save("dense_variants", guard("variants", lambda: dense.variants(budget)))
    if wanted("tune", 60):
        rules = step.Step(40).fixed_rules()
        tuned = guard("tune", lambda: tune(lambda s: step.inside_times(rules, s)[1], budget, 20))
        if tuned is not None:
            report.save("tuning", {"settings": asdict(tuned[0]), "tried": tuned[1], "from": asdict(DEFAULT)})
    print(f"\nGate: {gate}. Milliseconds, batch of 20, one GPU: {budget}")
    print("  length   step   (public)   grammar  inside  backward  update   GiB   decoding  (public)")
    decoded = {row["n"]: row for row in trees if row}  # type: ignore[index]
    for row in steps:
        if not row:
            continue
        n = row["n"]  # type: ignore[index]
        public, public_trees = REFERENCE.get(n, (0, 0))
        line = f"  {n:6d} {row['whole']:6.2f} {public:10d} {row['grammar']:9.2f} {row['inside']:7.2f}"  # type: ignore[index]
        line += f" {row['backward']:9.2f} {row['update']:7.2f} {row['memory']:6.2f}"  # type: ignore[index]
        if n in decoded:
            line += f" {decoded[n]['graph'] + decoded[n]['reading']:9.2f} {public_trees:9d}"
        print(line)


if __name__ == "__main__":
    main()
