"""A billion sentences on a hundred machines: arithmetic, and a simulation with stragglers and failures.

    python -m benchmarks.cpu.cluster [--seconds-per-sentence 42e-6] [--read 235] [--write 61]

The numbers given are those that `benchmarks.cpu.scaling` measures: processor seconds of a sentence, bytes
read and written for it. Every shard is a task; a driver hands tasks to workers one by one, each at some cost.
A machine that fails loses the shards it is at, which are begun anew by others, and is replaced after a while.
"""

from __future__ import annotations

import argparse
import heapq
import random
from dataclasses import dataclass, replace

from benchmarks.common import show

HOUR = 3600.0


@dataclass(frozen=True)
class Cluster:
    """What is simulated; times in seconds.

    Parameters
    ----------
    machines, cores : of each; every core is a worker.
    shards, shard_time : how many tasks, and how long one takes on a machine of usual speed.
    dispatch : what a task costs the driver, which hands them out one after the other.
    slow_share, slowness : so many machines take so many times as long.
    spread : standard deviation of the logarithm of a task's time.
    failures : of a machine in an hour.
    replacement : how long it takes until another machine stands in.
    bandwidth, shard_bytes : of the storage that all share, in bytes a second (0: no limit), and what a task
        moves.
    """

    machines: int = 100
    cores: int = 2
    shards: int = 61_036
    shard_time: float = 0.69
    dispatch: float = 0.0
    slow_share: float = 0.0
    slowness: float = 1.0
    spread: float = 0.0
    failures: float = 0.0
    replacement: float = 120.0
    bandwidth: float = 0.0
    shard_bytes: float = 0.0


@dataclass(frozen=True)
class JobOutcome:
    """How long it took, how much work was lost with machines, how many failed, and how long workers idled."""

    makespan: float
    lost: float
    failed: int
    busy: float


def simulate(cluster: Cluster, seed: int = 0) -> JobOutcome:
    """Run a job; the same seed gives the same outcome.

    >>> simulate(Cluster(machines=2, cores=2, shards=8, shard_time=3.0)).makespan
    6.0
    """
    rng = random.Random(seed)
    slow = round(cluster.slow_share * cluster.machines)
    speed = [cluster.slowness if machine < slow else 1.0 for machine in range(cluster.machines)]
    transfer = cluster.shard_bytes / cluster.bandwidth if cluster.bandwidth else 0.0
    fails_at = [_next_failure(cluster, rng, 0.0) for _ in range(cluster.machines)]
    # (when a worker is free, its number); numbers break ties, so that nothing depends on chance
    free = [(0.0, worker) for worker in range(cluster.machines * cluster.cores)]
    heapq.heapify(free)
    waiting = cluster.shards
    driver = storage = lost = busy = end = 0.0
    failed = 0
    while waiting:
        time, worker = heapq.heappop(free)
        machine = worker // cluster.cores
        driver = max(driver, time) + cluster.dispatch
        storage = max(storage, driver) + transfer  # all shards pass through it
        begun = max(driver, storage)
        length = cluster.shard_time * speed[machine] * rng.lognormvariate(0.0, cluster.spread)
        while fails_at[machine] <= time:  # while nobody worked there
            failed += 1
            fails_at[machine] = _next_failure(cluster, rng, fails_at[machine] + cluster.replacement)
        if begun + length > fails_at[machine]:
            lost += max(0.0, fails_at[machine] - begun)
            # The other cores of the machine find out when it is their turn; each loses what it was at.
            heapq.heappush(free, (fails_at[machine] + cluster.replacement, worker))
            continue
        waiting -= 1
        busy += length
        end = max(end, begun + length)
        heapq.heappush(free, (begun + length, worker))
    return JobOutcome(end, lost, failed + sum(time <= end for time in fails_at), busy)


def _next_failure(cluster: Cluster, rng: random.Random, since: float) -> float:
    return since + rng.expovariate(cluster.failures / HOUR) if cluster.failures else float("inf")


SENTENCES = 1_000_000_000
SIZES = (16_384, 131_072, 1_048_576, 8_388_608)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds-per-sentence", type=float, default=42e-6)
    parser.add_argument("--read", type=float, default=235.0, help="bytes for a sentence")
    parser.add_argument("--write", type=float, default=61.0, help="bytes for a sentence")
    parser.add_argument("--dispatch", type=float, default=1e-3, help="seconds of the driver for a task")
    parser.add_argument("--bandwidth", type=float, default=10e9, help="bytes a second of the storage")
    given = parser.parse_args()
    moved = given.read + given.write

    def of_size(size: int) -> Cluster:
        return Cluster(
            shards=-(-SENTENCES // size),
            shard_time=size * given.seconds_per_sentence,
            dispatch=given.dispatch,
            bandwidth=given.bandwidth,
            shard_bytes=size * moved,
        )

    one = of_size(SIZES[0])
    work = SENTENCES * given.seconds_per_sentence
    rows = [
        ["processor hours", f"{work / HOUR:.1f}"],
        [
            f"seconds on {one.machines} machines of {one.cores} cores",
            f"{work / one.machines / one.cores:.0f}",
        ],
        ["read, GB", f"{SENTENCES * given.read / 1e9:.0f}"],
        ["written, GB", f"{SENTENCES * given.write / 1e9:.0f}"],
        ["seconds of the storage", f"{SENTENCES * moved / given.bandwidth:.0f}"],
    ]
    show(["on paper", ""], rows, "A billion sentences, five runs")
    table = []
    for size in SIZES:
        calm = of_size(size)
        rough = replace(calm, slow_share=0.05, slowness=3.0, spread=0.2)
        for name, cluster in (
            ("calm", calm),
            ("5% of the machines three times as slow", rough),
            ("and each fails once in 10 hours", replace(rough, failures=0.1)),
            ("and each fails once an hour", replace(rough, failures=1.0)),
        ):
            outcomes = [simulate(cluster, seed) for seed in range(5)]
            spans = sorted(outcome.makespan for outcome in outcomes)
            table.append(
                [
                    f"{size:,}",
                    name,
                    f"{spans[2]:.0f} ({spans[0]:.0f} to {spans[-1]:.0f})",
                    f"{sum(o.failed for o in outcomes) / 5:.1f}",
                    f"{100 * sum(o.lost for o in outcomes) / sum(o.busy + o.lost for o in outcomes):.2f}%",
                ]
            )
    show(
        ["sentences of a shard", "what happens", "seconds", "machines lost", "work lost"], table, "Simulated"
    )


if __name__ == "__main__":
    main()
