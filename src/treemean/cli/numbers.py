"""The numbers of averages as a JSON file: `treemean average --stats`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treemean.scaling import Done
    from treemean.trees import Treebank

#: What the file of numbers calls a column, and what the average calls it.
_COLUMNS = {
    "objective": "objective",
    "average_f1": "average_f1",
    "bound": "upper_bound",
    "optimal": "optimal",
    "candidates": "candidates",
    "nodes": "nodes",
    "seconds": "seconds",
}


class StatsWriter:
    """Writes the numbers of every sentence as JSON, without holding them all."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stream: IO[bytes] | None = None
        self._count = 0

    def __enter__(self) -> StatsWriter:
        if self._path is not None:
            from treemean.files.output import open_output

            self._context = open_output(self._path)
            self._stream = self._context.__enter__()
            self._stream.write(b'{"sentences": [')
        return self

    def add(self, mean: Treebank) -> None:
        """Write a batch."""
        if self._stream is None:
            return
        columns = {
            key: mean.sentence_values[name].tolist()
            for key, name in _COLUMNS.items()
            if name in mean.sentence_values
        }
        for index, id in enumerate(mean.ids.tolist()):
            entry: dict[str, Any] = {"id": id} if id else {}
            entry |= {name: values[index] for name, values in columns.items()}
            entry["optimal"] = bool(entry["optimal"])
            self._stream.write((",\n" if self._count else "\n").encode() + json.dumps(entry).encode())
            self._count += 1

    def finish(
        self, parameters: dict[str, Any], summary: dict[str, Any], skipped: Iterable[dict[str, Any]]
    ) -> None:
        """Write what is told about the whole; of skipped sentences number, id and reason."""
        if self._stream is not None:
            from treemean._version import __version__

            rest = {
                "skipped": [*skipped],
                "summary": summary,
                "parameters": parameters,
                "version": __version__,
            }
            self._stream.write(b"\n],\n" + json.dumps(rest, ensure_ascii=False)[1:].encode() + b"\n")

    def __exit__(self, *details: Any) -> None:
        if self._stream is not None:
            self._context.__exit__(*details)


def write_shard_stats(path: Path, folder: str, done: Done, parameters: dict[str, Any]) -> None:
    """Write the numbers of an average in shards, which carry them; seconds are not among them."""
    from treemean.formats import read_batches
    from treemean.scaling.folders import notes_of

    with StatsWriter(path) as report:
        for mean in read_batches(folder):
            report.add(mean)
        summary = {"sentences": done.manifest.sentences, "optimal": done.sums.counts["optimal"]}
        report.finish(parameters, summary, notes_of(folder, done.manifest, "skipped"))
