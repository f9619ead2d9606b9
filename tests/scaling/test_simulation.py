"""The simulation of a cluster: what can be computed by hand comes out, and the same seed gives the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.cpu.cluster import Cluster, simulate

CALM = Cluster(machines=5, cores=2, shards=100, shard_time=3.0)


def test_a_calm_cluster_takes_what_it_takes_on_paper() -> None:
    found = simulate(CALM)
    assert found.makespan == pytest.approx(30.0)
    assert found.busy == pytest.approx(300.0)
    assert (found.lost, found.failed) == (0.0, 0)


def test_a_driver_or_a_storage_that_is_too_slow_decides() -> None:
    assert simulate(replace(CALM, dispatch=2.0)).makespan == pytest.approx(2.0 * 100 + 3.0)
    assert simulate(replace(CALM, bandwidth=10.0, shard_bytes=20.0)).makespan == pytest.approx(203.0)


def test_slow_machines_take_fewer_shards() -> None:
    """Four machines of usual speed and one of a third of it do the work of 8⅔ cores."""
    found = simulate(replace(CALM, shards=10_000, slow_share=0.2, slowness=3.0))
    assert found.makespan == pytest.approx(10_000 * 3.0 / (8 + 2 / 3), rel=0.01)


def test_failures_lose_work_and_nothing_else() -> None:
    rough = replace(CALM, shards=2000, failures=60.0, replacement=5.0)
    found = simulate(rough, seed=3)
    assert found == simulate(rough, seed=3)
    assert found != simulate(rough, seed=4)
    assert found.failed > 10
    assert 0 < found.lost < found.failed * 2 * 3.0  # both cores lose at most a whole shard
    assert found.busy == pytest.approx(2000 * 3.0)
    assert found.makespan > simulate(replace(rough, failures=0.0)).makespan
