"""The benchmark of the kernels, behind a gate of correctness: `python -m benchmarks.kernels --out FOLDER`.

First all checks at published sizes against float64. Only if they are passed, everything is measured, and
tables are printed last. `--parts` chooses; without the gate there are no tables. Each part may fail alone,
which is told at the end; numbers go to FOLDER/gpu.json after each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import Budget, exit_if_failed, fail
from benchmarks.kernels import decoding, dense, epochs, gate, step, trained, tune
from benchmarks.page.tables import joined_tables
from benchmarks.reports import Report, guard, need_gpu

#: The parts in their order, and how many seconds each may need; the last two only if asked for.
PARTS = {
    "gate": 420, "trained": 45, "steps": 20, "batches": 15, "runs": 25, "decoding": 20, "viterbi": 20,
    "parsing": 30, "epochs": 90, "dense": 40, "decoders": 30, "tune": 60,
}  # fmt: skip
USUAL = list(PARTS)[:-2]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/gpu"), help="folder for gpu.json")
    parser.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="folder of prepared corpora")
    parser.add_argument("--seconds", type=float, default=480, help="time that the program may take")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=USUAL)
    told = "checks of the gate; unless all are made, there are no tables"
    parser.add_argument("--checks", nargs="+", choices=gate.KINDS, default=gate.KINDS, help=told)
    options = parser.parse_args()
    need_gpu()
    budget, report = Budget(options.seconds), Report(options.out, "gpu")
    print(report.values["device"], report.values["torch"], flush=True)
    passed = False
    for part in [part for part in PARTS if part in options.parts]:
        if budget.left() < PARTS[part]:
            print(f"no time is left for {part} {budget}", flush=True)
            fail(part)
            continue
        print(f"{part} {budget}:", flush=True)
        if part == "gate":
            report.save(gate=gate.check_all(options.data, options.checks))
            if not report.values["gate"]["passed"]:
                print(f"The checks are not passed: nothing is measured. {budget}")
                break
            passed = set(options.checks) == set(gate.KINDS)
        else:
            measure(part, options, budget, report)
    if passed:
        print(f"\nAll checks are passed. {budget}\n\n{joined_tables(report.values)}")
    exit_if_failed()


def measure(part: str, options: argparse.Namespace, budget: Budget, report: Report) -> None:
    """Measure one part and save what it found, without the cases that failed."""
    lengths = options.lengths
    cases: dict[str, list[partial[Any]]] = {
        "steps": [partial(step.measure, n, 20, profile=n == 10) for n in lengths],
        "batches": [partial(step.measure, n, 80) for n in lengths],
        "runs": [
            partial(step.measure, n, 20, runs=runs, profile=(runs, n) == (10, 10))
            for runs in (5, 10)
            for n in lengths
        ],
        "decoding": [partial(decoding.measure, n) for n in lengths],
        "viterbi": [partial(decoding.measure_viterbi, n, profile=n in (10, 40)) for n in lengths],
        "dense": [partial(dense.measure, kind, n) for kind in dense.KINDS for n in lengths],
        "decoders": [
            partial(decoding.measure_viterbi, 40, kind="tn-pcfg"),
            *(partial(decoding.measure_dense, kind) for kind in decoding.DENSE),
        ],
    }
    whole: dict[str, Callable[[], Any]] = {
        "trained": lambda: trained.measure(options.data),
        "parsing": lambda: decoding.measure_parsing(options.out),
        "tune": lambda: tune.tune_all(budget),
    }
    if part in cases:
        results = [guard(f"{part} {case.args} {case.keywords}", case) for case in cases[part]]
        report.save(**{part: [result for result in results if result is not None]})
    elif part in whole:
        report.save(**{part: guard(part, whole[part])})
    else:  # saves by itself, again and again
        guard(part, epochs.measure, options.data, budget, lambda found: report.save(epochs=found))


if __name__ == "__main__":
    main()
