"""Networks that need nothing of each other, side by side on CUDA streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from treemean.grammars.inside.triton.streams import Streams

#: The number of the first stream; the inside algorithm uses those before it.
_FIRST = 2

Branch = Callable[[], dict[str, Tensor]]


def side_by_side(branches: Sequence[Branch], given: Sequence[Tensor]) -> list[dict[str, Tensor]]:
    """Call functions, the last one on the current stream and the others on one each; return what they do.

    PyTorch computes gradients on the streams of their functions, too, and lets streams wait for each other.
    Only memory is left to us: it belongs to the stream that reserved it, which uses it again once it is given
    back, whichever stream still reads it. So the other streams are told to PyTorch.

    Parameters
    ----------
    given : what the functions use, but for parameters.
    """
    *others, last = branches
    streams = Streams(given[0].device)
    results = []
    for number, branch in enumerate(others, _FIRST):
        with streams.beside(number):
            _keep(given)
            results.append(branch())
    results.append(last())
    streams.join(*range(_FIRST, _FIRST + len(others)))
    for result in results:
        _keep(result.values())
    return results


def _keep(tensors: Iterable[Tensor]) -> None:
    """Let memory not be used for anything else before the current stream is done with it."""
    for tensor in tensors:
        if tensor.is_cuda:
            tensor.record_stream(torch.cuda.current_stream(tensor.device))
