"""How fast the exact average is: `python -m benchmarks.cpu.averaging [--quick] [--plot FILE]`.

Everything is measured in one run, so that ratios are fair. The predictions on LASSY are looked for under
$TREEMEAN_DATA; without them that part is left out.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.common import ROOT, data_folder, show, times
from tests.instances import cycle_blow_up, mixed_trees, trees_of_graph
from treemean import _core, read
from treemean.averaging import average, by_problem
from treemean.averaging.exact import core_individuals, core_options
from treemean.averaging.reference import meet_in_the_middle
from treemean.averaging.request import Goal, make_request
from treemean.trees import Treebank

FIVE = (1, 8, 5, 3, 6)
WEIGHTS = [5.95, 5.82, 5.94, 5.52, 1.38]
COUNTS = (5, 10, 20, 50, 100)
LENGTHS = (20, 40, 80, 160, 320)


def spread(seconds: Sequence[float], factor: float = 1.0) -> list[float]:
    """Return the fastest repetition, which other work disturbed least, the median and the slowest one."""
    return [factor * seconds[i] for i in (0, len(seconds) // 2, -1)]


def core_times(
    runs: Sequence[Treebank],
    weights: Sequence[float] | None,
    repeats: int,
    goal: Goal = "average",
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the seconds of some calls into the core, on one thread, ascending."""
    request = replace(make_request(len(runs), weights), goal=goal)
    individuals, _ = core_individuals(runs, request)
    options = core_options(request)
    return times(lambda: _core.average(individuals, options, threads=1), repeats, clock)


def lassy(folder: Path, quick: bool) -> None:
    files = {number: folder / f"run{number:02}.discbracket.gz" for number in range(1, 11)}
    runs = {number: read(file) for number, file in files.items()}
    five = [runs[number] for number in FIVE]
    ten = list(runs.values())
    repeats = 5 if quick else 50
    trees = [list(run) for run in five]
    found = {
        "core, five weighted runs": core_times(five, WEIGHTS, repeats),
        "core, five runs, equal weights": core_times(five, None, repeats),
        "core, ten runs, equal weights": core_times(ten, None, repeats),
        "core, five weighted runs, binary": core_times(five, WEIGHTS, repeats, "binary"),
        "average(treebanks)": times(lambda: average(five, WEIGHTS, jobs=1), repeats),
        "the same from Tree objects": times(
            lambda: average([Treebank.from_trees(t) for t in trees], WEIGHTS, jobs=1), repeats // 5
        ),
    }
    show(
        ["milliseconds", "fastest", "median", "slowest"],
        [[name, *spread(seconds, 1e3)] for name, seconds in found.items()],
        f"LASSY test, {len(five[0])} sentences, one thread",
    )
    sentences, limit = (100, 1.0) if quick else (len(five[0]), 60.0)
    print(
        f"meet-in-the-middle on {sentences} random sentences, up to {limit:g} s each, and the core on "
        "those that it finishes; both in processor time\n"
    )
    for name, banks, weights in (
        ("five weighted runs", five, WEIGHTS),
        ("five runs", five, None),
        ("ten runs", ten, None),
    ):
        against("the paper's bounds", name, banks, weights, sentences, limit, value_bound=False)
        against("our stronger bound", name, banks, weights, sentences, limit, value_bound=True)
    many(five, 20 if quick else 954)
    command([str(files[number]) for number in FIVE], 3 if quick else 10)


def command(files: Sequence[str], repeats: int) -> None:
    """Time the whole command on some files, start-up included."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["average", *files, "-o", f"{folder}/mean.dbr", "--weights", ",".join(map(str, WEIGHTS))]
        seconds = times(
            lambda: subprocess.run(
                [sys.executable, "-m", "treemean", *arguments], check=True, stderr=subprocess.DEVNULL
            ),
            repeats,
        )
    low, middle, high = spread(seconds)
    print(f"treemean average on the five files: {low:.2f} s (median {middle:.2f}, slowest {high:.2f})\n")


class OutOfTime(Exception):
    pass


def _out_of_time(*_: object) -> None:
    raise OutOfTime


def against(
    kind: str,
    name: str,
    runs: Sequence[Treebank],
    weights: Sequence[float] | None,
    sentences: int,
    limit: float,
    *,
    value_bound: bool,
) -> None:
    """Compare with meet-in-the-middle, on those of some random sentences that it finishes in time."""
    request = make_request(len(runs), weights)
    method = by_problem("meet-in-the-middle", partial(meet_in_the_middle.solve, value_bound=value_bound))
    theirs, finished = 0.0, []
    order = np.random.default_rng(1).permutation(len(runs[0]))[:sentences]
    before = signal.signal(signal.SIGALRM, _out_of_time)
    for s in order.tolist():
        sentence = [run[s : s + 1] for run in runs]
        start = time.process_time()
        try:
            signal.setitimer(signal.ITIMER_REAL, limit)
            result = method(sentence, request)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except OutOfTime:
            continue
        spent = time.process_time() - start
        if result.sentence_values["optimal"].all():
            theirs += spent
            finished.append(s)
    signal.signal(signal.SIGALRM, before)
    ours = core_times([run.take(np.array(finished)) for run in runs], weights, 20, clock=time.process_time)[0]
    print(
        f"- {name}, {kind}: {len(finished)} finished in {theirs:.2f} s, core {1e3 * ours:.2f} ms: "
        f"{theirs / ours:,.0f} times as fast",
        flush=True,
    )


def peak_memory() -> float:
    """Return the most memory this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def many(runs: Sequence[Treebank], repeats: int) -> None:
    """Average the same sentences over and over, shuffled, as a stream of batches on two threads."""
    rng = np.random.default_rng(2)
    sentences, seconds, early = 0, 0.0, 0.0
    for repeat in range(repeats):
        order = rng.permutation(len(runs[0]))
        batch = [run.take(order) for run in runs]
        start = time.perf_counter()
        average(batch, WEIGHTS, jobs=2)
        seconds += time.perf_counter() - start
        sentences += len(order)
        early = peak_memory() if repeat == repeats // 10 else early
    print(
        f"\n{sentences:,} sentences in {seconds:.1f} s on two threads; peak memory {peak_memory():.0f} MB, "
        f"after a tenth of them {early:.0f} MB\n"
    )


def scale(quick: bool) -> dict[str, dict[tuple[int, int], float]]:
    """Solve perturbed and mixed trees of many sizes; return the slowest seconds of each."""
    rng = random.Random(3)
    lengths = LENGTHS[:3] if quick else LENGTHS
    slowest: dict[str, dict[tuple[int, int], float]] = {}
    for kind in ("perturbed", "mixed"):
        slowest[kind] = {}
        rows = []
        for count in COUNTS:
            cells = [str(count)]
            for n in lengths:
                found = []
                for bases in (2, 2, 3, 4, 5):
                    bases, moves = (1, n // 3) if kind == "perturbed" else (bases, n // 10)
                    trees = mixed_trees(n, count, bases, moves, rng)
                    # The fastest of three, which other work disturbed least.
                    runs = [average(trees, jobs=1).values for _ in range(3)]
                    found.append(min(runs, key=lambda values: values["seconds"]))
                slowest[kind][count, n] = max(values["seconds"] for values in found)
                proven = all(values["optimal"] for values in found)
                cells.append(f"{1e3 * slowest[kind][count, n]:.2f}" + ("" if proven else " !"))
            rows.append(cells)
        title = f"{kind} trees: milliseconds of the slowest of five, by K (down) and n (across)"
        show(["K", *map(str, lengths)], rows, title)
    print("(an exclamation mark: not proven optimal)\n")
    return slowest


def blow_ups(quick: bool) -> None:
    rng = random.Random(4)
    rows = []
    for vertices in (50, 100) if quick else (50, 100, 150, 200, 250, 300):
        trees, _ = trees_of_graph(*cycle_blow_up(vertices, 4, rng), rng)
        v = average(trees, jobs=1).values
        rows.append([len(trees[0]), 1e3 * v["seconds"], v["nodes"], "yes" if v["optimal"] else "no"])
    title = "five trees made from 5-cycle blow-ups of average degree 4"
    show(["n", "milliseconds", "steps", "proven"], rows, title)


def plot(slowest: dict[str, dict[tuple[int, int], float]], path: Path) -> None:
    try:
        import matplotlib
    except ImportError:
        print("(matplotlib is not installed: no plot)")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(slowest), figsize=(9, 3.6), sharey=True)
    for panel, (kind, seconds) in zip(panels, slowest.items()):
        for count in COUNTS:
            points = [(n, 1e3 * t) for (k, n), t in sorted(seconds.items()) if k == count]
            panel.plot(*zip(*points), marker="o", label=f"K = {count}")
        panel.set(title=f"{kind} trees", xlabel="words", xscale="log", yscale="log")
        panel.set_xticks(LENGTHS, map(str, LENGTHS))
        panel.set_xticks([], minor=True)
    panels[0].set_ylabel("milliseconds (slowest of five)")
    panels[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight", dpi=150)
    print(f"plot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds only")
    parser.add_argument("--plot", type=Path, default=ROOT / "out" / "averaging-scale.png", metavar="FILE")
    arguments = parser.parse_args()
    folder = (data_folder() or ROOT) / "lassy-predictions" / "test"
    if folder.is_dir():
        lassy(folder, arguments.quick)
    else:
        print("no LASSY predictions (set TREEMEAN_DATA)\n")
    slowest = scale(arguments.quick)
    blow_ups(arguments.quick)
    plot(slowest, arguments.plot)


if __name__ == "__main__":
    main()
