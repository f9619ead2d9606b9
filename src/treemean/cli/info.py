"""`treemean info`."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from treemean._version import __version__
from treemean.cli import options
from treemean.cli.app import app

#: Packages that are used, or would be if they were installed.
_PACKAGES = (
    *("numpy", "pyarrow", "lxml", "typer", "rich", "torch", "triton", "safetensors", "scipy", "scikit-learn"),
    *("matplotlib", "ray"),
)


@app.command()
def info(
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Also show the resources of the Ray cluster at this address; auto finds one.",
        ),
    ] = None,
    as_json: options.OnlyJson = False,
) -> None:
    """Show versions, cores, memory, devices, kernels and Ray resources, for bug reports.

    [bold]Examples[/bold]

      treemean info

      treemean info --json

      treemean info --address auto      [dim]# a Ray cluster on this machine[/dim]
    """
    from treemean.cli.output import show_json

    told = describe(address)
    if as_json:
        show_json(told)
        return
    width = max(map(len, told))
    for name, value in told.items():
        for number, line in enumerate(_lines(value)):
            typer.echo(f"{'' if number else name:{width}}  {line}")


def describe(address: str | None = None) -> dict[str, Any]:
    """Return what there is to work with, JSON-ready."""
    from treemean.scaling.engines import available_cores

    return {
        "treemean": __version__,
        "python": f"{platform.python_version()} ({sys.platform}, {platform.machine()})",
        "cores": available_cores(),
        "memory": _memory(),
        "core": "built" if find_spec("treemean._core") else "absent: averages and some formats do not work",
        "packages": {name: _version(name) for name in _PACKAGES},
        "devices": _devices(),
        "kernels": _kernels(),
        "ray": _ray(address),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _memory() -> str:
    """Return the memory of the machine in GiB."""
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (ValueError, OSError):  # not reported here
        return "unknown"


def _devices() -> list[str]:
    """Return what models can compute on."""
    if find_spec("torch") is None:
        return []
    import torch

    found = ["cpu"]
    for number in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(number)
        found.append(f"cuda:{number} {about.name}, {about.total_memory / 2**30:.0f} GiB")
    return found


def _kernels() -> str:
    """Say whether the Triton kernels of the grammars can run here."""
    if find_spec("torch") is None or find_spec("triton") is None:
        return "none: PyTorch or Triton is not installed"
    import torch

    if not torch.cuda.is_available():
        return "none: there is no CUDA device; the vectorised versions are used"
    return "Triton, compiled when they are first used"


def _ray(address: str | None) -> dict[str, Any] | str:
    """Return the resources of a cluster, if one is asked for."""
    if find_spec("ray") is None:
        return "not installed: pip install 'treemean[ray]'"
    if address is None:
        return "installed; --address tells the resources of a cluster"
    from treemean.scaling.engines import open_engine

    with open_engine("ray", address=address) as engine:
        return engine.resources()


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name} {'not installed' if one is None else one}" for name, one in value.items()]
    if isinstance(value, list):
        return value or ["none"]
    return [str(value)]
