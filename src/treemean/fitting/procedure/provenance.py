"""What a model was fitted to, and with what: counted part by part, so that nothing has to be held."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from treemean._version import __version__
from treemean.fitting.procedure.options import Options
from treemean.trees import Treebank


class Fingerprint:
    """Sizes of a treebank, and a digest of its trees, the same in whatever parts it is read."""

    def __init__(self) -> None:
        self.sentences = self._words = self._constituents = 0
        self._digests = [hashlib.blake2b(digest_size=16) for _ in range(3)]

    @staticmethod
    def of(treebank: Treebank) -> Fingerprint:
        """Return the fingerprint of a whole treebank."""
        found = Fingerprint()
        found.add(treebank)
        return found

    def add(self, part: Treebank) -> None:
        """Add the sentences that follow."""
        columns = (
            part.word_offsets[1:] + self._words,
            part.constituent_offsets[1:] + self._constituents,
            part.bits,
        )
        for digest, column in zip(self._digests, columns, strict=True):
            digest.update(np.ascontiguousarray(column).tobytes())
        self.sentences += len(part)
        self._words += len(part.words)
        self._constituents += len(part.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        whole = hashlib.blake2b(digest_size=16)
        for digest in self._digests:
            whole.update(digest.digest())
        return {
            "sentences": self.sentences,
            "words": self._words,
            "constituents": self._constituents,
            "trees": whole.hexdigest(),
        }


def provenance_of(
    runs: Sequence[Fingerprint], gold: Fingerprint | None, names: Sequence[str], options: Options
) -> dict[str, Any]:
    """Return data, versions and options, JSON-ready."""
    return {
        "treemean": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "runs": [{"name": name, **run.to_dict()} for name, run in zip(names, runs, strict=True)],
        "gold": None if gold is None else gold.to_dict(),
        "options": {name: _plain(value) for name, value in vars(options).items() if name != "jobs"},
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value
