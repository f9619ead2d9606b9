"""Measuring on a GPU: medians of CUDA events, graphs, lists of kernels; and memory that is poisoned."""

from __future__ import annotations

import gc
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch


def milliseconds(function: Callable[[], Any], *, repeats: int = 20, warm_up: int = 3) -> float:
    """Return the median time of a call, by CUDA events."""
    for _ in range(warm_up):
        function()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        function()
        after.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(after))
    return statistics.median(times)


def captured(function: Callable[[], Any], generators: Sequence[torch.Generator] = ()) -> torch.cuda.CUDAGraph:
    """Return a graph of what a call launches; every replay draws anew from the generators."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            function()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    gc.collect()
    graph = torch.cuda.CUDAGraph()
    for generator in generators:
        graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        function()
    return graph


def graph_milliseconds(
    function: Callable[[], Any], generators: Sequence[torch.Generator] = (), **options: int
) -> float:
    """Return the median time of a call, captured as a graph."""
    graph = captured(function, generators)
    result = milliseconds(graph.replay, **options)
    del graph
    gc.collect()
    torch.cuda.empty_cache()
    return result


def kernel_times(function: Callable[[], Any]) -> list[tuple[str, int, float]]:
    """Return name, launches and total milliseconds of each kernel of a call, longest first."""
    function()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        function()
        torch.cuda.synchronize()
    totals: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for event in profile.key_averages():
        total = totals[event.key]
        total[0] += event.count
        total[1] += event.self_device_time_total / 1000
    return sorted(((k, int(c), t) for k, (c, t) in totals.items() if t), key=lambda x: -x[2])


def print_kernels(title: str, kernels: list[tuple[str, int, float]], most: int = 24) -> None:
    print(
        f"  {title}: {sum(k[2] for k in kernels):.2f} ms in {sum(k[1] for k in kernels)} launches,"
        " one after another"
    )
    for name, count, time_ in kernels[:most]:
        print(f"    {time_:8.3f} ms {count:5d} × {name[:110]}")


@contextmanager
def poisoned() -> Iterator[None]:
    """Fill memory that is reserved without being set with NaN, whichever function reserves it."""
    places = [(torch, "empty"), (torch, "empty_like"), (torch.Tensor, "new_empty")]
    plain = [getattr(owner, name) for owner, name in places]

    def filling(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def fill(*arguments: Any, **options: Any) -> torch.Tensor:
            tensor = function(*arguments, **options)
            with torch.no_grad():  # memory may be reserved for a leaf, which autograd would not let us fill
                return tensor.fill_(float("nan")) if tensor.is_floating_point() else tensor

        return fill

    for (owner, name), function in zip(places, plain):
        setattr(owner, name, filling(function))
    try:
        yield
    finally:
        for (owner, name), function in zip(places, plain):
            setattr(owner, name, function)
