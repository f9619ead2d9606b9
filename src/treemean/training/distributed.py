"""Several processes that share every batch: data-parallel training under `torchrun`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class World:
    """The processes that train one run together, and the place of this one among them.

    All of them run the same loop on the same batches. Each computes every `size`-th sentence of a batch,
    gradients are added up, and so every process makes the same step. Only the first one measures, prints and
    writes. The folder of the run must be visible to all.

    >>> World().is_main, World().share(lambda: {"f1": 50.0})
    (True, {'f1': 50.0})
    """

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the process that measures and writes."""
        return self.rank == 0

    def sum_gradients(self, parameters: Sequence[torch.nn.Parameter], sums: Tensor) -> Tensor:
        """Add up gradients, in place, and some numbers, which are returned, over all processes.

        Everything travels in one message. A process without sentences of its own adds zeros.
        """
        if self.size == 1:
            return sums
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        message = torch.cat([sums, *(gradient.reshape(-1) for gradient in gradients)])
        dist.all_reduce(message)
        start = len(sums)
        for parameter in parameters:
            end = start + parameter.numel()
            parameter.grad = message[start:end].view_as(parameter)
            start = end
        return message[: len(sums)]

    def share(self, compute: Callable[[], Any]) -> Any:
        """Compute something JSON-ready in the first process and return it in all."""
        if self.size == 1:
            return compute()
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        data = list(json.dumps(compute()).encode()) if self.is_main else []
        size = torch.tensor([len(data)], device=device)
        dist.broadcast(size, src=0)
        message = torch.tensor(data or [0] * int(size), dtype=torch.uint8, device=device)
        dist.broadcast(message, src=0)
        return json.loads(bytes(message.cpu().tolist()))

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def world(device: str) -> Iterator[World]:
    """Join the processes that `torchrun` started, if it did; alone otherwise.

    Parameters
    ----------
    device : `"cpu"` processes talk by gloo, `"cuda"` ones by NCCL.
    """
    if "TORCHELASTIC_RUN_ID" not in os.environ and "LOCAL_RANK" not in os.environ:
        yield World()
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield World(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
