"""Engines by name."""

from __future__ import annotations

from typing import get_args

from treemean.errors import InvalidOption, no_such
from treemean.names import EngineName
from treemean.scaling.engines.engine import Engine, available_cores

__all__ = ["Engine", "available_cores", "open_engine"]


def open_engine(
    name: EngineName = "local", *, workers: int | None = None, address: str | None = None
) -> Engine:
    """Return an engine by its name.

    Parameters
    ----------
    name : `local` for processes of this machine, `ray` for a Ray cluster.
    workers : how many tasks run at the same time; all cores of the machine, or of the cluster, if not given.
    address : of a Ray cluster; without it one is started on this machine, and stopped at the end.
    """
    if workers is not None and workers < 1:
        raise InvalidOption(f"there must be at least one worker, not {workers}")
    if name == "ray":
        from treemean.scaling.engines.cluster import RayEngine

        return RayEngine(workers, address)
    if name != "local":
        raise InvalidOption(no_such("engine", name, get_args(EngineName)))
    if address is not None:
        raise InvalidOption("an address is that of a Ray cluster: give the engine ray as well")
    from treemean.scaling.engines.local import LocalEngine

    return LocalEngine(workers or available_cores())
