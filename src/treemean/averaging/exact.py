"""The exact average, by the search in the native core; see docs/averaging.md for how it works."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean.averaging.request import HitsLike, Request
from treemean.averaging.weights import Weights
from treemean.errors import InvalidOption, TreemeanError
from treemean.trees import Treebank
from treemean.trees.binarise import MARK
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.treebank import offsets_of

#: The numbers that a result has for every sentence.
SENTENCE_VALUES = ("objective", "average_f1", "upper_bound", "optimal", "nodes", "candidates", "seconds")
#: The key of a sentence's metadata that tells the method.
METHOD_KEY = "average_method"
#: The key that tells why a sentence's average is not proven to be the best; other sentences lack it.
NOTE_KEY = "average_note"

# Weights times values, over all individuals, stay below this; times twice the words they then fit 62 bits.
_ROOM = 1 << 44
_LEAST_RESOLUTION = 1e6


def exact(runs: Sequence[Treebank], request: Request) -> Treebank:
    """Return the exact average of aligned treebanks."""
    if request.max_fan_out is not None:
        raise InvalidOption("the method exact takes no max_fan_out; the method dynamic-programming does")
    individuals, vocabulary = core_individuals(runs, request)
    try:
        found = _core.average(
            individuals,
            goal=request.goal,
            direction=request.direction,
            p=request.beta2.numerator,
            q=request.beta2.denominator,
            node_limit=request.node_limit,
            time_limit=request.time_limit or 0.0,
            threads=request.jobs if request.jobs is not None else _available_cores(),
        )
    except ValueError as error:
        raise TreemeanError(str(error)) from error
    return result_of(runs[0], found, vocabulary, request)


def result_of(base: Treebank, found: dict[str, Any], vocabulary: list[str], request: Request) -> Treebank:
    """Return what the core found for the sentences of `base` as a treebank."""
    labels = _decode_labels(found["labels"], vocabulary)
    return base.with_columns(
        metadata=with_method(base, "exact", _reasons(found, request)),
        constituent_offsets=offsets_of(found["constituent_counts"]),
        labels=labels,
        functions=CodedStrings.constant("", len(labels)),
        bits=found["bits"],
        sentence_values={name: found[name] for name in SENTENCE_VALUES},
        constituent_values={"support": found["support"]},
    )


def core_individuals(runs: Sequence[Treebank], request: Request) -> tuple[_core.Individuals, list[str]]:
    """Return aligned treebanks and their weights for the core, and the labels of all of them, sorted."""
    vocabulary = sorted({text for run in runs for text in run.labels.texts})
    rank = {text: index for index, text in enumerate(vocabulary)}
    values = _values(runs, request.hits)
    individuals = _core.Individuals(
        word_offsets=np.ascontiguousarray(runs[0].word_offsets, dtype=np.int64),
        constituent_offsets=[np.ascontiguousarray(run.constituent_offsets, dtype=np.int64) for run in runs],
        bits=[np.ascontiguousarray(run.bits, dtype=np.uint64) for run in runs],
        labels=[np.ascontiguousarray(run.labels.codes, dtype=np.int32) for run in runs],
        label_ranks=[np.array([rank[text] for text in run.labels.texts], dtype=np.int32) for run in runs],
        values=values,
        continuous=list(request.weights.continuous),
        discontinuous=list(request.weights.discontinuous),
        value_scale=_value_scale(request.weights, values),
    )
    return individuals, vocabulary


def with_method(base: Treebank, method: str, notes: Mapping[int, str] | None = None) -> Strings:
    """Return the sentences' metadata, with the method of averaging entered, and notes about some of them."""
    if len(base.metadata.data) == 0 and not notes:
        raw = np.frombuffer(json.dumps({METHOD_KEY: method}).encode(), dtype=np.uint8)
        return Strings(np.tile(raw, len(base)), np.arange(len(base) + 1, dtype=np.int64) * len(raw))
    texts = []
    for s, text in enumerate(base.metadata.tolist()):
        metadata = {**(json.loads(text) if text else {}), METHOD_KEY: method}
        if notes and s in notes:
            metadata[NOTE_KEY] = notes[s]
        texts.append(json.dumps(metadata, ensure_ascii=False))
    return Strings.of(texts)


def _reasons(found: Mapping[str, NDArray[Any]], request: Request) -> dict[int, str]:
    """Tell of sentences without a proof why there is none."""
    reasons = {}
    for s in np.flatnonzero(found["optimal"] == 0).tolist():
        if found["nodes"][s] > request.node_limit:
            reasons[s] = f"not proven optimal: stopped after {request.node_limit} steps (node_limit)"
        elif request.time_limit is not None and found["seconds"][s] >= request.time_limit:
            reasons[s] = f"not proven optimal: stopped after {request.time_limit} seconds (time_limit)"
        elif request.goal == "binary" and request.hits is not None:
            reasons[s] = "not proven optimal: constituents with negative hits may have been added"
        else:
            reasons[s] = "not proven optimal: too many conflicts, or weights too fine, for the search"
    return reasons


def _available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _decode_labels(codes: NDArray[np.int32], vocabulary: list[str]) -> CodedStrings:
    # Code -1 - r stands for a set that was added below label r.
    if len(codes) == 0 or codes.min() >= 0:
        return CodedStrings(codes, Strings.of(vocabulary))
    texts = CodedStrings.of([*vocabulary, *(label.removesuffix(MARK) + MARK for label in vocabulary)])
    return CodedStrings(
        texts.codes[np.where(codes >= 0, codes, len(vocabulary) - 1 - codes)], texts.vocabulary
    )


def _values(runs: Sequence[Treebank], hits: HitsLike) -> list[NDArray[np.float64]]:
    if hits is None:
        return []
    if isinstance(hits, str):
        for number, run in enumerate(runs, 1):
            if hits not in run.constituent_values:
                raise InvalidOption(f"individual {number} has no constituent values named {hits!r}")
        given: list[Any] = [run.constituent_values[hits] for run in runs]
    else:
        if (isinstance(hits, np.ndarray) and hits.ndim == 0) or len(hits) != len(runs):
            raise InvalidOption(
                f"hits must be the name of a column or one array for each of {len(runs)} individuals"
            )
        given = [*hits]
    values = [_numbers(array, number) for number, array in enumerate(given, 1)]
    for number, (run, array) in enumerate(zip(runs, values, strict=True), 1):
        if array.shape != (len(run.labels),):
            raise InvalidOption(
                f"individual {number} has {len(run.labels)} constituents, but hits of shape {array.shape}"
            )
        if not np.isfinite(array).all():
            at = int(np.argmin(np.isfinite(array)))
            raise InvalidOption(
                f"individual {number}: the hits of constituent {at + 1} are {array[at]}; they must be finite"
            )
    return values


def _numbers(array: Any, number: int) -> NDArray[np.float64]:
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidOption(f"the hits of individual {number} are no array of numbers") from None


def _value_scale(weights: Weights, values: Sequence[NDArray[np.float64]]) -> float:
    """Return the power of ten that makes weights times values integers, for up to nine decimals."""
    if not values:
        return 1.0
    total = sum(
        max(c, d) * max(1.0, float(np.abs(v).max(initial=0.0)))
        for c, d, v in zip(weights.continuous, weights.discontinuous, values, strict=True)
    )
    scale = 10.0 ** min(9, math.floor(math.log10(_ROOM / total))) if math.isfinite(total) else 0.0
    # With very large values, weights themselves would be rounded away.
    if scale < 1 and scale * max(weights.continuous) < _LEAST_RESOLUTION:
        raise InvalidOption(f"hits are too large: weights times hits reach {total:g} in all")
    return scale
