"""What constituents are worth by a fitted model, for the average of some sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treemean.averaging.labelled_hits import hits_with_labels
from treemean.averaging.weights import make_weights
from treemean.fitting import HitModel
from treemean.trees import Treebank


def model_arguments(
    model: HitModel,
    batch: Sequence[Treebank],
    *,
    labelled: bool,
    binary: bool,
    jobs: int | None = 1,
    settle: bool = False,
) -> dict[str, Any]:
    """Return what `treemean.average` needs beside the runs.

    `settle` says that these are all the sentences of a corpus, from which an objective that looks at the
    corpus can be found; otherwise it is taken as it stands.
    """
    found = model.arguments(batch, jobs=jobs, binary=binary, settled=not settle)
    if labelled and found.get("hits") is not None:
        continuous = make_weights(found["weights"], len(batch)).continuous
        found["hits"] = hits_with_labels(
            batch, found["hits"], continuous, additive=bool(found.get("additive"))
        )
    return found
