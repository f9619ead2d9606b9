"""The same jobs on Ray: the same bytes as with the local engine, also when nodes come and go.

`make test-ray` installs Ray and runs these; elsewhere they are skipped where it is absent.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from scaling_instances import SHARD, content, make_model, write_runs
from scaling_tasks import divide, leave
from test_engine_gpus import device_of

import treemean
from commands import run
from killing import kill_again_and_again
from treemean import scaling
from treemean.scaling.engines import open_engine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray has many of its own
]
ray = pytest.importorskip("ray")

Result = TypeVar("Result")
#: Of the object store of a node, which has nothing to hold.
MEMORY = 100 << 20


def patiently(start: Callable[[], Result]) -> Result:
    """Start something again if a busy machine was too slow for Ray, which gives up after half a minute."""
    for _ in range(3):
        try:
            return start()
        except Exception as error:
            if "timed out" not in str(error):
                raise
    return start()


def add_node(cluster: Any, cores: int = 1) -> Any:
    return patiently(lambda: cluster.add_node(num_cpus=cores, object_store_memory=MEMORY))


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A cluster of one head without cores, to which nodes are added; all on this machine."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    made = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    yield made
    ray.shutdown()
    made.shutdown()


def without_engine(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder but the manifest, which names the engine."""
    return content(folder, manifest=False)


def test_all_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 3, 330)
    model = make_model(tmp_path / "model")
    for engine in ("local", "ray"):
        how = {"engine": engine, "workers": 2, "shard_size": 100}
        scaling.average(paths, tmp_path / f"mean-{engine}", **how)
        scaling.convert(
            paths[0], tmp_path / f"converted-{engine}", scaling.Conversion(binarise="left"), **how
        )
        scaling.parse(model, paths[0], tmp_path / f"parsed-{engine}", max_length=8, **how)
    for job in ("mean", "converted", "parsed"):
        assert without_engine(tmp_path / f"{job}-local") == without_engine(tmp_path / f"{job}-ray")
    local, cluster = (
        scaling.evaluate(paths[1:], paths[0], engine=engine, workers=2)[0].to_dict()
        for engine in ("local", "ray")
    )
    assert local == cluster
    assert not ray.is_initialized()


def test_errors_are_told_as_they_are(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 2)
    shard = sorted(paths[0].glob("part-*"))[0]
    shard.write_bytes(shard.read_bytes()[:-1] + b"x")
    with pytest.raises(treemean.TreemeanError, match="has changed since its checksum was taken"):
        scaling.average(paths, tmp_path / "mean", engine="ray", workers=1)
    with pytest.raises(treemean.TreemeanError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        open_engine("ray", address="127.0.0.1:1")


def test_nodes_are_removed_and_added_while_a_job_runs(tmp_path: Path, cluster: Any) -> None:
    """A node is lost with all its processes, others come; nothing is lost, doubled or left over."""
    paths = write_runs(tmp_path, 3, 720)
    scaling.average(paths, tmp_path / "local", workers=1, shard_size=6)
    nodes = [add_node(cluster) for _ in range(3)]
    cluster.wait_for_nodes()
    output = tmp_path / "mean"
    rng = random.Random(8)
    lost, wanted = 0, 1
    with open_engine("ray", workers=2, address=cluster.address) as engine, ThreadPoolExecutor(1) as thread:
        ours = ray.get_runtime_context().get_node_id()  # where the driver is connected
        job = thread.submit(scaling.average, paths, output, engine=engine, shard_size=6)
        while not job.done():
            if len(list(output.glob("part-*"))) >= wanted and lost < 3:
                chosen = rng.choice([node for node in nodes if node.node_id != ours])
                nodes.remove(chosen)
                cluster.remove_node(chosen, allow_graceful=False)
                nodes.append(add_node(cluster))
                lost += 1
                wanted += rng.randrange(5, 30)
        done = job.result()
    assert done.made + done.found == 120  # a node may be lost between a shard and its report
    assert lost
    assert without_engine(output) == without_engine(tmp_path / "local")


def test_the_driver_of_a_cluster_is_killed(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, 3, 330)
    scaling.average(paths, tmp_path / "local", workers=1, shard_size=SHARD)
    output = tmp_path / "mean"
    command = [*("average", *paths, "-o", output, "--engine", "ray", "--workers", 2, "--shard-size", SHARD)]
    kills = kill_again_and_again(command, output, 2, random.Random(3), tmp_path / "log", workers=False)
    assert kills == 2
    assert without_engine(output) == without_engine(tmp_path / "local")


def test_info_tells_the_resources_of_a_cluster(cluster: Any) -> None:
    add_node(cluster, 3)
    cluster.wait_for_nodes()
    told = run("info", "--address", cluster.address).stdout
    assert "nodes 2" in told
    assert "CPU 3.0" in told


def test_a_lost_worker_is_replaced(tmp_path: Path) -> None:
    """A task that dies once is done again by another process."""
    with open_engine("ray", workers=1) as engine:
        found = dict(engine.map(die_once, str(tmp_path), [0, 1]))
    assert found == {0: 0, 1: 1}


def test_why_a_task_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that die are told from what Ray itself cannot do, which has nothing to do with memory."""

    def refuse(reference: object) -> None:
        raise ray.exceptions.RuntimeEnvSetupError("the disk is full")

    with open_engine("ray", workers=1) as engine:
        with pytest.raises(treemean.TreemeanError, match=r"task 1 of 1 ended its process 5 times"):
            list(engine.map(leave, 3, [None]))
        monkeypatch.setattr(ray, "get", refuse)
        with pytest.raises(treemean.TreemeanError, match=r"(?s)Ray could not run task 1 of 1: .*is full"):
            list(engine.map(divide, 6, [1]))


def die_once(folder: str, task: int) -> int:
    mark = Path(folder, str(task))
    if not mark.exists():
        mark.touch()
        os._exit(1)
    return task


@pytest.fixture
def made_up_gpus() -> Iterator[None]:
    """A cluster that is told to have three GPUs; Ray believes it, and deals them out."""
    path = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}}
    has = {"num_cpus": 4, "num_gpus": 3, "object_store_memory": MEMORY}
    patiently(lambda: ray.init(**has, include_dashboard=False, runtime_env=path))
    yield
    ray.shutdown()


def test_every_actor_has_a_gpu_of_its_own(made_up_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Actors are asked for with `num_gpus=1`, no more of them than GPUs, and Ray gives each its device."""
    asked: list[dict[str, Any]] = []
    remote = ray.remote
    monkeypatch.setattr(ray, "remote", lambda **how: asked.append(how) or remote(**how))
    with open_engine("ray", workers=4) as engine:
        found = dict(engine.map(device_of, "task", range(12), gpu=True))
    assert [how.get("num_gpus") for how in asked] == [1]
    assert {device for device, *_ in found.values()} == {"0", "1", "2"}
    assert len({(device, process) for device, process, _ in found.values()}) == 3
    assert [found[number][2] for number in range(12)] == [f"task {number}" for number in range(12)]


def test_an_actor_that_dies_is_replaced(made_up_gpus: None, tmp_path: Path) -> None:
    with open_engine("ray", workers=2) as engine:
        found = dict(engine.map(die_once, str(tmp_path), [0, 1, 2, 3], gpu=True))
    assert found == {0: 0, 1: 1, 2: 2, 3: 3}


def test_parsing_asks_for_gpus(made_up_gpus: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On `cuda` every worker is an actor; here the model says that there is none, and that is told."""
    paths, model = write_runs(tmp_path, 1), make_model(tmp_path / "model")
    seen: list[bool] = []
    with open_engine("ray", workers=2) as engine:
        map_all = engine.map
        monkeypatch.setattr(
            engine, "map", lambda *given, gpu=False: seen.append(gpu) or map_all(*given, gpu=gpu)
        )
        scaling.parse(model, paths[0], tmp_path / "cpu", engine=engine, max_length=6)
        assert seen == [False]
        with pytest.raises((RuntimeError, treemean.TreemeanError), match=r"(?i)cuda"):
            scaling.parse(model, paths[0], tmp_path / "gpu", engine=engine, device="cuda", max_length=6)
