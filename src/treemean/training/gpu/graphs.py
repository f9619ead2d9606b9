"""Computations captured once and replayed: one CUDA graph for each shape of the inputs."""

from __future__ import annotations

import gc
from collections.abc import Callable

import torch
from torch import Tensor

from treemean.training.gpu.inputs import Inputs

#: Calls before a capture, in which kernels are compiled and libraries set themselves up.
_WARM_UP = 2


class Graphs:
    """A function of `Inputs` as CUDA graphs, which share one pool of memory.

    The graphs must run one after the other, and what one returns is only good until the next one runs:
    therefore results are copied.

    Parameters
    ----------
    compute : returns a tensor and keeps nothing of what it computed on the way; apart from that it may only
        change tensors that exist before. It is called with `blank` inputs before a graph is captured.
    """

    def __init__(self, compute: Callable[[Inputs], Tensor]) -> None:
        self._compute = compute
        self._pool = torch.cuda.graph_pool_handle()
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._captured: dict[tuple[int, bool], tuple[torch.cuda.CUDAGraph, Inputs, Tensor]] = {}

    def __contains__(self, key: tuple[int, bool]) -> bool:
        return key in self._captured

    def capture(self, blank: Inputs) -> None:
        """Capture the graph for all inputs of a shape.

        Parameters
        ----------
        blank : inputs of this shape, on the device, with which the function changes nothing. They are kept.
        """
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            for _ in range(_WARM_UP):
                self._compute(blank)
        torch.cuda.current_stream().wait_stream(self._stream)
        torch.cuda.synchronize()
        gc.collect()  # what only the collector would free must not occupy the pool while this is captured
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            result = self._compute(blank)
        self._captured[blank.key] = (graph, blank, result)

    def __call__(self, inputs: Inputs) -> Tensor:
        """Compute the function for inputs on the CPU of a shape that was captured."""
        graph, place, result = self._captured[inputs.key]
        place.copy_from(inputs)
        graph.replay()
        return result.clone()
