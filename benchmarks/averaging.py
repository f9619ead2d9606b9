"""How fast the exact average is: `python benchmarks/averaging.py [--quick] [--plot FILE]`.

Everything is measured in one run, so that ratios are fair. The predictions on LASSY are looked for under
$TREEMEAN_DATA; without them that part is left out.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from instances import cycle_blow_up, mixed_trees, trees_of_graph  # noqa: E402
from treemean import _core  # noqa: E402
from treemean.averaging import METHODS, average  # noqa: E402
from treemean.averaging.exact import core_individuals  # noqa: E402
from treemean.averaging.request import Goal, make_request  # noqa: E402
from treemean.formats import discbracket  # noqa: E402
from treemean.formats.problems import Problems  # noqa: E402
from treemean.formats.source import open_sources  # noqa: E402
from treemean.trees import Treebank  # noqa: E402

DATA = Path(os.environ.get("TREEMEAN_DATA", ROOT.parent / "shared" / "data")) / "lassy-predictions" / "test"
WEIGHTS = [5.95, 5.82, 5.94, 5.52, 1.38]
COUNTS = (5, 10, 20, 50, 100)
LENGTHS = (20, 40, 80, 160, 320)


def load(number: int) -> Treebank:
    source = str(DATA / f"run{number:02}.discbracket.gz")
    return Treebank.concatenate(
        [b for s in open_sources(source) for b in discbracket.read(s, Problems(), encoding="utf-8")]
    )


def shortest(task: Callable[[], object], repeats: int) -> float:
    """Return the seconds of the fastest of some repetitions: the one that other work disturbed least."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def core_seconds(
    runs: Sequence[Treebank], weights: Sequence[float] | None, repeats: int, goal: Goal = "average"
) -> float:
    """Return the seconds of the call into the core, on one thread."""
    individuals, _ = core_individuals(runs, make_request(len(runs), weights))
    return shortest(lambda: _core.average(individuals, goal, "right", 1, 1, 1_000_000, 0.0, 1), repeats)


def row(name: str, value: str) -> None:
    print(f"| {name:<62} | {value:>16} |", flush=True)


def lassy(quick: bool) -> None:
    runs = {number: load(number) for number in range(1, 11)}
    five = [runs[number] for number in (1, 8, 5, 3, 6)]
    ten = list(runs.values())
    repeats = 5 if quick else 50
    print(f"\nLASSY test, {len(five[0])} sentences, one thread\n")
    row("what", "milliseconds")
    row("-" * 62, "-" * 16)
    core = core_seconds(five, WEIGHTS, repeats)
    row("core, five weighted runs", f"{1e3 * core:.2f}")
    row("core, five runs, equal weights", f"{1e3 * core_seconds(five, None, repeats):.2f}")
    row("core, ten runs, equal weights", f"{1e3 * core_seconds(ten, None, repeats):.2f}")
    row("core, five weighted runs, binary", f"{1e3 * core_seconds(five, WEIGHTS, repeats, 'binary'):.2f}")
    row("average(treebanks)", f"{1e3 * shortest(lambda: average(five, WEIGHTS, jobs=1), repeats):.2f}")
    trees = [list(run) for run in five]
    whole = shortest(
        lambda: average([Treebank.from_trees(t) for t in trees], WEIGHTS, jobs=1), 3 if quick else 10
    )
    row("the same from Tree objects", f"{1e3 * whole:.2f}")
    against("meet-in-the-middle", five, 2.0 if quick else 30.0)
    many(five, 20 if quick else 954)


def against(method: str, runs: Sequence[Treebank], seconds: float) -> None:
    """Compare with another method, on the sentences that it finishes in some seconds."""
    if method not in METHODS:
        print(f"\n(no method {method} to compare with)")
        return
    request = make_request(len(runs), WEIGHTS)
    theirs, finished = 0.0, []
    order = np.random.default_rng(1).permutation(len(runs[0]))
    for s in order.tolist():
        sentence = [run[s : s + 1] for run in runs]
        start = time.perf_counter()
        result = METHODS[method](sentence, request)
        spent = time.perf_counter() - start
        if result.sentence_values["optimal"].all():
            theirs += spent
            finished.append(s)
        if theirs > seconds:
            break
    ours = core_seconds([run.take(np.array(finished)) for run in runs], WEIGHTS, 20)
    print(f"\n{method} on {len(finished)} sentences: {theirs:.2f} s; the core: {1e3 * ours:.2f} ms; ", end="")
    print(f"{theirs / ours:,.0f} times as fast")


def many(runs: Sequence[Treebank], times: int) -> None:
    """Average the same sentences over and over, shuffled, as a stream of batches on two threads."""
    rng = np.random.default_rng(2)
    sentences, seconds = 0, 0.0
    for _ in range(times):
        order = rng.permutation(len(runs[0]))
        batch = [run.take(order) for run in runs]
        start = time.perf_counter()
        average(batch, WEIGHTS, jobs=2)
        seconds += time.perf_counter() - start
        sentences += len(order)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{sentences:,} sentences in {seconds:.1f} s on two threads; peak memory {peak:.0f} MB")


def scale(quick: bool) -> dict[str, dict[tuple[int, int], float]]:
    """Solve perturbed and mixed trees of many sizes; return the slowest seconds of each."""
    rng = random.Random(3)
    lengths = LENGTHS[:3] if quick else LENGTHS
    slowest: dict[str, dict[tuple[int, int], float]] = {}
    for kind in ("perturbed", "mixed"):
        print(f"\n{kind} trees: milliseconds of the slowest of five, by K (down) and n (across)\n")
        print("|   K | " + " | ".join(f"{n:>8}" for n in lengths) + " |")
        print("|----:|" + "|".join("---------:" for _ in lengths) + "|")
        slowest[kind] = {}
        for count in COUNTS:
            cells = []
            for n in lengths:
                found = []
                for bases in (2, 2, 3, 4, 5):
                    bases, moves = (1, n // 3) if kind == "perturbed" else (bases, n // 10)
                    found.append(average(mixed_trees(n, count, bases, moves, rng), jobs=1).values)
                slowest[kind][count, n] = max(values["seconds"] for values in found)
                proven = all(values["optimal"] for values in found)
                cells.append(f"{1e3 * slowest[kind][count, n]:.2f}" + ("" if proven else " !"))
            print(f"| {count:>3} | " + " | ".join(f"{cell:>8}" for cell in cells) + " |", flush=True)
    print("\n(an exclamation mark: not proven optimal)")
    return slowest


def blow_ups(quick: bool) -> None:
    rng = random.Random(4)
    print("\nfive trees made from 5-cycle blow-ups of average degree 4\n")
    print("|    n | milliseconds |   steps | proven |\n|-----:|-------------:|--------:|-------:|")
    for vertices in (50, 100) if quick else (50, 100, 150, 200, 250, 300):
        trees, _ = trees_of_graph(*cycle_blow_up(vertices, 4, rng), rng)
        v = average(trees, jobs=1).values
        proven = "yes" if v["optimal"] else "no"
        print(
            f"| {len(trees[0]):>4} | {1e3 * v['seconds']:>12.2f} | {v['nodes']:>7} | {proven:>6} |",
            flush=True,
        )


def plot(slowest: dict[str, dict[tuple[int, int], float]], path: Path) -> None:
    try:
        import matplotlib
    except ImportError:
        print("\n(matplotlib is not installed: no plot)")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(slowest), figsize=(9, 3.6), sharey=True)
    for panel, (kind, seconds) in zip(panels, slowest.items()):
        for count in COUNTS:
            points = [(n, 1e3 * t) for (k, n), t in sorted(seconds.items()) if k == count]
            panel.plot(*zip(*points), marker="o", label=f"K = {count}")
        panel.set(title=f"{kind} trees", xlabel="words", xscale="log", yscale="log")
    panels[0].set_ylabel("milliseconds (slowest of five)")
    panels[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight", dpi=150)
    print(f"\nplot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds only")
    parser.add_argument("--plot", type=Path, default=ROOT / "out" / "averaging-scale.png", metavar="FILE")
    arguments = parser.parse_args()
    if DATA.is_dir():
        lassy(arguments.quick)
    else:
        print(f"no LASSY predictions in {DATA} (set TREEMEAN_DATA)")
    slowest = scale(arguments.quick)
    blow_ups(arguments.quick)
    plot(slowest, arguments.plot)


if __name__ == "__main__":
    main()
