"""Millions of sentences: jobs over shards, by processes of a machine or a cluster; see docs/scaling.md."""

from treemean.scaling.api import average, convert
from treemean.scaling.conversion import Conversion
from treemean.scaling.engines import Engine, open_engine
from treemean.scaling.jobs import Done

__all__ = ["Conversion", "Done", "Engine", "average", "convert", "open_engine"]
