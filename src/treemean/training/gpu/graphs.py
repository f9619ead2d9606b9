"""Computations captured once and replayed: one CUDA graph for each shape of the inputs."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence

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
    generators : on the device, from which it draws. Every call draws anew, as if there were no graph.
    """

    def __init__(
        self, compute: Callable[[Inputs], Tensor], generators: Sequence[torch.Generator] = ()
    ) -> None:
        self._compute, self._generators = compute, generators
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
        states = [generator.get_state() for generator in self._generators]
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            for _ in range(_WARM_UP):
                self._compute(blank)
        torch.cuda.current_stream().wait_stream(self._stream)
        torch.cuda.synchronize()
        gc.collect()  # what only the collector would free must not occupy the pool while this is captured
        graph = torch.cuda.CUDAGraph()
        for generator, state in zip(self._generators, states):
            generator.set_state(state)  # what is drawn must not depend on when graphs are captured
            graph.register_generator_state(generator)
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            result = self._compute(blank)
        self._captured[blank.key] = (graph, blank, result)

    def __call__(self, inputs: Inputs) -> Tensor:
        """Compute the function for inputs on the CPU of a shape that was captured."""
        graph, place, result = self._captured[inputs.key]
        place.copy_from(inputs)
        graph.replay()
        return result.clone()
