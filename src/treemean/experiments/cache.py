"""Stages of a long job whose results are kept: what is done is not done again, what changed is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from treemean.files.checksums import checksum, content_checksum
from treemean.files.output import write_file


class Cache:
    """Results of stages under a folder.

    A stage is a name, what it depends on, the files that it makes, and a function that makes them. It is
    skipped when the same stage left the same files before. A record is written after the files, so that a job
    killed in between does the stage again.

    Parameters
    ----------
    folder : where records are kept, in `stages/`; files are named relative to it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def stage(
        self, name: str, inputs: Mapping[str, Any], outputs: Sequence[str], make: Callable[[], None]
    ) -> bool:
        """Make the outputs unless they are there already; tell whether they had to be made.

        Parameters
        ----------
        inputs : everything that the outputs depend on, as JSON can express it; of files give `checksum`.
        outputs : the files that `make` writes.
        """
        record = self.folder / "stages" / f"{name}.json"
        digest = content_checksum(inputs)
        if self._done(record, digest, outputs):
            return False
        record.unlink(missing_ok=True)  # should `make` be interrupted, its half-made files are not trusted
        make()
        found = {"inputs": digest, "outputs": {o: checksum(self.folder / o) for o in outputs}}
        record.parent.mkdir(parents=True, exist_ok=True)
        write_file(record, json.dumps(found, indent=2).encode())
        return True

    def _done(self, record: Path, digest: str, outputs: Sequence[str]) -> bool:
        try:
            found = json.loads(record.read_text(encoding="utf-8"))
            same = found["inputs"] == digest and list(found["outputs"]) == list(outputs)
        except (FileNotFoundError, ValueError, KeyError, TypeError):  # no record, or one that is no record
            return False
        return same and all(
            (self.folder / o).is_file() and checksum(self.folder / o) == found["outputs"][o] for o in outputs
        )
