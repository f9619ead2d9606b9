"""Networks that need nothing of each other, side by side on CUDA streams.

Memory belongs to the stream that reserved it, which uses it again once it is given back, whichever stream
still reads it. So either that stream waits for all others before (`Aside`), or PyTorch is told of them
(`side_by_side`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from treemean.grammars.gpu.streams import Streams

#: The first streams of `side_by_side`, the inside algorithm uses those before it, and of `Aside`.
_BRANCHES, _ASIDE = 3, 5

Branch = Callable[[], dict[str, Tensor]]

#: Whether there are any streams beside the current one; see `benchmarks/gpu/dense.py --alone`.
enabled = True

_numbers: dict[int, int] = {}


def side_by_side(branches: Sequence[Branch], given: Sequence[Tensor]) -> list[dict[str, Tensor]]:
    """Call functions, the last one on the current stream and the others on one each; return what they do.

    PyTorch computes gradients on the streams of their functions, too, and lets streams wait for each other;
    but what was saved it gives back without waiting.

    Parameters
    ----------
    given : what the functions use, but for parameters.
    """
    *others, last = branches
    streams = Streams(given[0].device, enabled)
    results = []
    for number, branch in enumerate(others, _BRANCHES):
        with streams.beside(number):
            _keep(given)
            results.append(branch())
    results.append(last())
    streams.join(*range(_BRANCHES, _BRANCHES + len(others)))
    for result in results:
        _keep(result.values())
    return results


def _keep(tensors: Iterable[Tensor]) -> None:
    """Let memory not be used for anything else before the current stream is done with it."""
    for tensor in tensors:
        if tensor.is_cuda:
            tensor.record_stream(torch.cuda.current_stream(tensor.device))


class Aside:
    """Two streams beside the current one, whichever that is, for gradients of parameters: nothing needs them.

    What the current stream uses as well must be reserved outside of their blocks, and be held until they are
    joined. What only one block uses may be reserved in it.

    >>> aside = Aside(torch.device("cpu"))
    >>> with aside.block():
    ...     pass
    >>> aside.join()
    """

    def __init__(self, device: torch.device) -> None:
        self._streams, self._first = Streams(device, enabled), _ASIDE
        if device.type == "cuda":
            current = torch.cuda.current_stream(device).cuda_stream
            self._first = _numbers.setdefault(current, _ASIDE + 2 * len(_numbers))

    def block(self, which: int = 0) -> AbstractContextManager[object]:
        """Launch what is in the block on a stream, 0 or 1, after all that was launched on the current one."""
        return self._streams.beside(self._first + which)

    def join(self) -> None:
        """Let the current stream wait for both."""
        self._streams.join(self._first, self._first + 1)
