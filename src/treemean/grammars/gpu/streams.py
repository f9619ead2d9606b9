"""Independent kernels side by side, on CUDA streams; one after the other where there are none."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

_side: dict[torch.device, list[torch.cuda.Stream]] = {}


class Streams:
    """Side streams of a device, which start after what came before and are waited for.

    >>> streams = Streams(torch.device("cpu"))
    >>> with streams.beside(0):
    ...     pass
    >>> streams.join(0)
    """

    def __init__(self, device: torch.device, enabled: bool = True) -> None:
        self._enabled = enabled and device.type == "cuda"
        self._device = device
        self._forked: set[int] = set()

    def _stream(self, number: int) -> torch.cuda.Stream:
        streams = _side.setdefault(self._device, [])
        while len(streams) <= number:
            streams.append(torch.cuda.Stream(self._device))  # type: ignore[no-untyped-call]
        return streams[number]

    def beside(self, number: int, *, wait: bool = True) -> AbstractContextManager[object]:
        """Launch what is in the block on a side stream, after all that was launched on the current one."""
        if not self._enabled:
            return nullcontext()
        stream = self._stream(number)
        self._forked.add(number)
        if wait:
            stream.wait_stream(torch.cuda.current_stream(self._device))
        return torch.cuda.stream(stream)

    def wait(self, *numbers: int) -> None:
        """Let the current stream wait for side streams, which still have to be joined."""
        for number in self._forked.intersection(numbers):
            torch.cuda.current_stream(self._device).wait_stream(self._stream(number))

    def join(self, *numbers: int) -> None:
        """Let the current stream wait for the side streams that were used since they were last waited for."""
        self.wait(*numbers)
        self._forked.difference_update(numbers)
