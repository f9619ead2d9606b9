"""Launches of kernels by the names of their parameters, so that none can be given in the wrong order."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


def launch(kernel: Any, grid: tuple[int, ...], *holders: object, **given: Any) -> None:
    """Launch a kernel; what is not given by name is looked up in structures that hold tensors and sizes.

    Parameters
    ----------
    kernel : of Triton.
    grid : how many programs there are.
    holders : structures whose attributes are named like parameters; the first one that has a name counts.
    given : parameters, and options of Triton such as ``num_warps``.

    >>> class Kernel:
    ...     arg_names = ("views", "n", "WIDTH")
    ...     def __getitem__(self, grid):
    ...         return lambda **arguments: print(grid, arguments)
    >>> class Shape:
    ...     n, batch = 7, 2
    >>> launch(Kernel(), (4, 2), Shape, views=[0.5], WIDTH=3)
    (4, 2) {'views': [0.5], 'WIDTH': 3, 'n': 7}
    """
    for name in kernel.arg_names:
        if name not in given:
            given[name] = _found(kernel, name, holders)
    kernel[grid](**given)


def _found(kernel: Any, name: str, holders: tuple[object, ...]) -> Any:
    for holder in holders:
        value = getattr(holder, name, _ABSENT)
        if value is not _ABSENT:
            return value
    raise TypeError(
        f"the parameter {name} of the kernel {kernel} has no value: none of the arguments gives one"
    )
