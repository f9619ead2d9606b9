"""The soak test of the kernels: the same input again and again must give the same bits.

`python -m benchmarks.kernels.soak --out FOLDER`, or `make soak-gpu`. Half of the repetitions are made while
another process computes on the same GPU, since hazards depend on timing. One differing bit fails and names
kernel, length, run and cell. It stops after `--seconds` with exit code 75; the same command goes on, unless
kernels have changed, and must find the same bits as the pieces before. At the end, a sample of whole charts
is compared with float64.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks.common import Budget, exit_if_failed
from benchmarks.kernels import charts
from benchmarks.kernels.dense import KINDS as DENSE
from benchmarks.kernels.dense import rules_of
from benchmarks.kernels.fingerprint import bits, bits_in_short, fingerprint
from benchmarks.kernels.instances import largest
from benchmarks.kernels.repeated import BUILDERS, SHARPNESS, Case, Outputs, Repetition, build, rules_for
from benchmarks.reports import Report, guard, need_gpu

#: Repetitions of each kernel at the lengths that are looked at most, and at the others.
MAIN, OTHERS = 5_000, 100
MAIN_LENGTHS, OTHER_LENGTHS = (28, 40), (5, 8, 11, 14, 17, 20, 23, 33, 37)
#: How exact cells must be, relative to the largest number of their span.
CELLS = 1e-2
#: Exit code of a piece after which there is more to do.
AGAIN = 75
#: In how small pieces repetitions are made between two looks at the clock.
CHUNK = 25


def cases(n: int, repetitions: int) -> list[tuple[Case, int]]:
    """Return how often what is repeated for sentences of one length, the settings spread over it.

    Every kernel has at least so many repetitions in all: those of TN-LCFRS are part of "step", too.
    """

    def share(part: float) -> int:
        return max(2, round(part * repetitions))

    found = [
        (Case("inside", n), share(0.15)),
        (Case("inside", n, grammar="trained"), share(0.15)),
        (Case("inside", n, grammar="trained", streams=False), share(0.1)),
        (Case("inside", n, grammar="sharp", graph=False), share(0.04)),
        (Case("inside", n, batch=7, grammar="trained", graph=False, streams=False), share(0.02)),
        (Case("inside", n, grammar="trained", mixed=True), share(0.04)),
        (Case("inside", n, runs=5, grammar="trained"), share(0.03)),
        (Case("inside", n, runs=10, grammar="trained"), share(0.03)),
        (Case("inside", n, runs=10, batch=3, graph=False), share(0.02)),
        (Case("inside", n, grammar="trained", floor=True), share(0.9)),
        (Case("inside", n, runs=5, batch=3, graph=False, floor=True), share(0.1)),
        (Case("inside", n, grammar="trained", weighed=True), share(0.9)),
        (Case("inside", n, runs=5, batch=7, graph=False, weighed=True), share(0.1)),
        (Case("step", n, grammar="trained"), share(0.3)),
        (Case("step", n, grammar="trained", graph=False), share(0.02)),
        (Case("step", n, batch=13, mixed=True), share(0.03)),
        (Case("step", n, runs=5, grammar="trained"), share(0.05)),
        (Case("step", n, runs=10, grammar="trained"), share(0.05)),
        (Case("step tn-pcfg", n), share(0.5)),
        (Case("step tn-pcfg", n, runs=5, graph=False), share(0.02)),
        (Case("rules", n, grammar="trained"), share(0.3)),
        (Case("rules", n, runs=5, batch=7, graph=False), share(0.1)),
        (Case("rules", n, runs=10, grammar="trained"), share(0.15)),
        (Case("trees", n, grammar="trained"), share(0.8)),
        (Case("trees", n, runs=5, graph=False, mixed=True), share(0.2)),
        (Case("viterbi", n, batch=4, grammar="sharp"), share(0.9)),
        (Case("viterbi", n, batch=3, graph=False), share(0.1)),
    ]
    for kind in DENSE:
        found += [
            (Case(f"dense {kind}", n), share(0.9)),
            (Case(f"dense {kind}", n, batch=7, graph=False), share(0.1)),
            (Case(f"dense-inside {kind}", n, streams=False), share(0.1)),
            (Case(f"step {kind}", n, batch=4), share(0.5)),
            (Case(f"step {kind}", n, runs=5, batch=4), share(0.1)),
        ]
    found += [(Case(f"dense-viterbi {kind}", n, batch=4), share(1.0)) for kind in ("n-pcfg", "n-lcfrs")]
    return found


def all_cases(scale: float, only: Sequence[str] = ()) -> list[tuple[Case, int]]:
    """Return everything, the lengths that are looked at most first."""
    main = [pair for n in MAIN_LENGTHS for pair in cases(n, round(scale * MAIN))]
    others = [pair for n in OTHER_LENGTHS for pair in cases(n, round(scale * OTHERS))]
    return [pair for pair in main + others if not only or pair[0].builder in only]


class Watch:
    """Repeats a case and tells what is not as it was the first time.

    Parameters
    ----------
    before : the first outputs in short, as another piece of the test found them; empty if there was none.
    """

    def __init__(self, case: Case, repetition: Repetition, before: dict[str, str]) -> None:
        self._case, self._repetition = case, repetition
        self._first = {name: tensor.clone() for name, tensor in self._compute().items()}
        self.in_short = {name: bits_in_short(tensor) for name, tensor in self._first.items()}
        other = [name for name in before if before[name] != self.in_short.get(name)]
        self.differences = [f"{case}: {name} is not what another process found" for name in other]

    def _compute(self) -> Outputs:
        self._repetition.prepare()
        return self._repetition.compute()

    def repeat(self) -> None:
        found = self._compute()
        same = torch.stack([(bits(found[name]) == bits(t)).all() for name, t in self._first.items()])
        if bool(same.all()):
            return
        for name, expected in self._first.items():
            different = (bits(found[name]) != bits(expected)).nonzero()
            if len(different):
                index = tuple(different[0].tolist())
                where = self._repetition.locate(name, index)
                self.differences.append(
                    f"{self._case}: {name}, {where}: {found[name][index].item()!r} instead of "
                    f"{expected[index].item()!r}, and {len(different) - 1} more of its numbers"
                )
                print(f"DIFFERS {self.differences[-1]}", flush=True)


@contextmanager
def other_process() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that computes on the same GPU; it is stopped and continued by signals."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.kernels.soak", "--be-a-load"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()  # it computes
    process.send_signal(signal.SIGSTOP)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def be_a_load() -> None:
    """Compute for ever: products on tensor cores, copies, and pauses, in no fixed rhythm."""
    parent = os.getppid()
    matrix = torch.rand(4096, 4096, device="cuda", dtype=torch.bfloat16)
    block = torch.rand(2**26, device="cuda")
    torch.mm(matrix, matrix).sum().item()
    print("ready", flush=True)
    while os.getppid() == parent:
        for _ in range(int(torch.randint(1, 6, ()))):
            torch.mm(matrix, matrix)
            block.copy_(block.roll(1))
        torch.cuda.synchronize()
        time.sleep(float(torch.rand(())) * 2e-3)


def soak(case: Case, wanted: int, data: Path, report: Report, load: Any, budget: Budget) -> bool:
    """Repeat a case until it has been as often as wanted, half of it under load; tell whether it has."""
    done: dict[str, int] = report.values["cases"].setdefault(str(case), {"quiet": 0, "loaded": 0})
    each = -(-wanted // 2)
    if min(done.values()) >= each:
        return True
    began = time.monotonic()
    found = report.values["first"]
    watch = Watch(case, build(case, data), found.get(str(case), {}))
    found.setdefault(str(case), watch.in_short)
    for kind in ("quiet", "loaded"):
        if kind == "loaded" and done[kind] < each:
            load.send_signal(signal.SIGCONT)
        while done[kind] < each and budget.left() > 0 and len(watch.differences) < 5:
            for _ in range(min(CHUNK, each - done[kind])):
                watch.repeat()
                done[kind] += 1
        load.send_signal(signal.SIGSTOP)
    report.values["differences"] += watch.differences
    report.save()
    complete = min(done.values()) >= each
    print(
        f"  {budget} {case}: {sum(done.values())} repetitions, {len(watch.differences)} differ"
        f"{'' if complete else ' (not all yet)'} ({time.monotonic() - began:.0f} s)",
        flush=True,
    )
    del watch
    gc.collect()
    torch.cuda.empty_cache()
    return complete or len(report.values["differences"]) > 0


def compare_charts(data: Path, lengths: tuple[int, ...] = (5, 12, 20, 28, 40)) -> list[dict[str, Any]]:
    """Compare whole charts with float64: of trained and sharp grammars in rank space, and of dense ones."""
    found = []

    def compare(case: Case, errors: dict[str, float]) -> None:
        good = largest(errors.values()) <= CELLS
        told = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
        print(f"  {case}: off by {told}{'' if good else '  TOO MUCH'}", flush=True)
        found.append({"case": str(case), "errors": errors, "good": good})
        torch.cuda.empty_cache()

    for n in lengths:
        for grammar in ("trained", "sharp"):
            for runs in (1, 2):
                case = Case("inside", n, runs=runs, batch=2, grammar=grammar)
                compare(case, charts.largest_errors(rules_for(case, data)))
        for kind in DENSE:
            case = Case(f"dense-inside {kind}", n, batch=2, grammar="sharp")
            compare(case, charts.largest_errors_of_dense(rules_of(kind, n, 2, SHARPNESS)))
    return found


def check_instructions() -> list[str]:
    """Return the kernels of ours in use that have asynchronous products, of which there must be none."""
    from triton.runtime.jit import JITFunction

    wrong = []
    for function in [x for x in gc.get_objects() if isinstance(x, JITFunction)]:
        if not function.fn.__module__.startswith("treemean."):
            continue
        for caches in function.device_caches.values():
            wrong += [function.fn.__name__ for kernel in caches[0].values() if "wgmma" in kernel.asm["ptx"]]
    return sorted(set(wrong))


def run(
    out: Path, data: Path, seconds: float, scale: float, only: Sequence[str] = ()
) -> tuple[bool, dict[str, Any]]:
    """Soak for some seconds, going on from the file; return whether all is done, and all that was found."""
    budget, report = Budget(seconds), Report(out, "soak", go_on=True)
    found = report.values
    for name, empty in (("seconds", []), ("cases", {}), ("first", {}), ("differences", []), ("charts", [])):
        found.setdefault(name, empty)
    kernels = fingerprint()
    if found.setdefault("kernels", kernels) != kernels:
        sys.exit(f"{out} has a soak test of other kernels: choose another --out")
    began, complete = time.monotonic(), True
    with other_process() as load:
        for case, wanted in all_cases(scale, only):
            if budget.left() <= 0:
                complete = False
                break
            done = guard(str(case), soak, case, wanted, data, report, load, budget)
            complete = bool(done) and complete
    found["differences"] += [f"{name} has asynchronous products" for name in check_instructions()]
    if complete and not found["charts"]:
        print("Whole charts against float64, errors relative to the largest number of a span:", flush=True)
        found["charts"] = compare_charts(data)
    found["seconds"].append(round(time.monotonic() - began, 1))
    report.save()
    return complete, found


def count(found: dict[str, Any]) -> int:
    """Return how many repetitions were made in all."""
    return sum(sum(done.values()) for done in found["cases"].values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/soak"), help="folder for soak.json")
    parser.add_argument("--data", type=Path, default=Path("out/gpu-data"), help="folder of prepared corpora")
    parser.add_argument("--seconds", type=float, default=530, help="time that this piece may take")
    parser.add_argument("--scale", type=float, default=1.0, help="repetitions, relative to the whole test")
    parser.add_argument("--only", nargs="+", choices=list(BUILDERS), default=(), help="what is repeated")
    parser.add_argument("--be-a-load", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    need_gpu()
    if options.be_a_load:
        be_a_load()
    complete, found = run(options.out, options.data, options.seconds, options.scale, options.only)
    print(
        f"{count(found):,} repetitions in {sum(found['seconds']):,.0f} s, {len(found['differences'])} differ"
    )
    if found["differences"] or not all(chart["good"] for chart in found["charts"]):
        sys.exit("The kernels are not sound:\n" + "\n".join(found["differences"]))
    exit_if_failed()
    if not complete:
        print("There is more to do: the same command goes on.")
        sys.exit(AGAIN)


if __name__ == "__main__":
    main()
