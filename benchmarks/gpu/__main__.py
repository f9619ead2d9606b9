"""The benchmark of the kernels, behind a gate of correctness: `python benchmarks/gpu --out FOLDER`.

First all checks at published sizes against float64. Only if they are passed, everything is measured, and
tables are printed last. `--parts` chooses; without the gate there are no tables. Each part may fail alone,
which is told at the end; numbers go to FOLDER/gpu.json after each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from gpu import decoding, dense, epochs, gate, products, step, trained
from gpu.tables import all_tables
from gpu.timing import Budget, exit_if_failed, fail, guard
from gpu.tune import tune
from treemean.grammars.inside.triton.settings import DEFAULT

#: The parts in their order, and how many seconds each may need; those after "dense" only if asked for.
PARTS = {
    "gate": 110, "trained": 45, "steps": 20, "batches": 15, "runs": 25, "decoding": 20, "viterbi": 20,
    "parsing": 30, "epochs": 90, "dense": 40,
    "products": 10, "variants": 30, "tune": 60,
}  # fmt: skip
USUAL = list(PARTS)[: list(PARTS).index("dense") + 1]


class Report:
    """What was found, in a file that is complete after each part."""

    def __init__(self, folder: Path) -> None:
        self._target = folder / "gpu.json"
        folder.mkdir(parents=True, exist_ok=True)
        self.parts: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}

    def save(self, name: str, value: object) -> None:
        self.parts[name] = value
        temporary = self._target.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.parts, indent=1, default=str))
        os.replace(temporary, self._target)

    def each(self, name: str, measure: Callable[..., Any], cases: list[dict[str, Any]]) -> None:
        """Measure cases one by one; keep the results of those that do not fail."""
        results = [guard(f"{name} {case}", lambda case=case: measure(**case)) for case in cases]  # type: ignore[misc]
        self.save(name, [result for result in results if result is not None])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/gpu"), help="folder for gpu.json")
    parser.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="folder of prepared corpora")
    parser.add_argument("--seconds", type=float, default=480, help="time that the script may take")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=USUAL)
    told = "checks of the gate; unless all are made, there are no tables"
    parser.add_argument("--checks", nargs="+", choices=gate.KINDS, default=gate.KINDS, help=told)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("there is no CUDA device here")
    budget, report = Budget(options.seconds), Report(options.out)
    print(report.parts["device"], report.parts["torch"], flush=True)
    passed = False
    for part in PARTS:
        if part not in options.parts:
            continue
        if budget.left() < PARTS[part]:
            print(f"no time is left for {part} {budget}", flush=True)
            fail(part)
            continue
        print(f"{part} {budget}:", flush=True)
        run_part(part, options, budget, report)
        if part == "gate":
            passed = set(options.checks) == set(gate.KINDS) and report.parts["gate"]["passed"]
            if not report.parts["gate"]["passed"]:
                print(f"The checks are not passed: nothing is measured. {budget}")
                break
    if passed:
        print(f"\nAll checks are passed. {budget}\n\n{all_tables(report.parts)}")
    exit_if_failed()


def run_part(part: str, options: argparse.Namespace, budget: Budget, report: Report) -> None:
    """Do one part and save what it found."""
    lengths = [{"n": n} for n in options.lengths]
    if part == "gate":
        report.save(part, gate.check_all(options.checks))
    elif part == "trained":
        report.save(part, guard(part, lambda: trained.measure(options.data)))
    elif part == "steps":
        report.each(part, step.measure, [{**n, "batch": 20, "profile": n["n"] == 10} for n in lengths])
    elif part == "batches":
        report.each(part, step.measure, [{**n, "batch": 80} for n in lengths])
    elif part == "runs":
        cases = [(runs, n) for runs in (5, 10) for n in options.lengths]
        kinds = [{"n": n, "batch": 20, "runs": runs, "profile": (runs, n) == (10, 10)} for runs, n in cases]
        report.each(part, step.measure, kinds)
    elif part == "decoding":
        report.each(part, decoding.measure, lengths)
    elif part == "viterbi":
        report.each(part, decoding.measure_viterbi, lengths)
    elif part == "parsing":
        report.save(part, guard(part, lambda: decoding.measure_parsing(options.out)))
    elif part == "epochs":
        guard(part, lambda: epochs.measure(options.data, budget, lambda found: report.save(part, found)))
    elif part == "dense":
        report.each(part, dense.measure, [{"kind": kind, **n} for kind in dense.KINDS for n in lengths])
    elif part == "products":
        report.save(part, guard(part, products.rates))
    elif part == "variants":
        report.save(part, guard(part, lambda: dense.variants(budget)))
    elif part == "tune":
        rules = step.Step(40).fixed_rules()
        tuned = guard(part, lambda: tune(lambda s: step.inside_times(rules, s)[1], budget, 20))
        if tuned is not None:
            report.save(part, {"settings": asdict(tuned[0]), "tried": tuned[1], "from": asdict(DEFAULT)})


if __name__ == "__main__":
    main()
