"""The exact average, by the search in the native core.

The search begins in `src/core/averaging/solver.hpp`, which chooses among the files beside it: `ratio`,
`sizes` or `two_trees`. All of these pack compatible sets by `packing`, and that by `branch_and_bound` at
last. docs/averaging.md says how it works.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treemean import _core
from treemean.averaging.dividing import divided_by_values
from treemean.averaging.frequencies import Chain, Frequencies, count_labels, summed, tells_something
from treemean.averaging.request import AverageRequest, HitsLike
from treemean.averaging.ties import check_ties, preferences_of
from treemean.averaging.weights import Weights
from treemean.averaging.words import voted_words
from treemean.errors import InvalidOption, TreemeanError, WrongType
from treemean.trees import Treebank
from treemean.trees.binarise import MARK
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.treebank import offsets_of

#: The numbers that a result has for every sentence.
SENTENCE_VALUES = ("objective", "average_f1", "upper_bound", "optimal", "nodes", "candidates", "seconds")
#: The numbers that it has for every constituent.
CONSTITUENT_VALUES = ("support", "support_labelled")
#: The key of a sentence's metadata that tells the method.
METHOD_KEY = "average_method"
#: The key that tells why a sentence's average is not proven to be the best; other sentences lack it.
NOTE_KEY = "average_note"

# Weights times values, over all individuals, stay below this; times twice the words they then fit 62 bits.
_ROOM = 1 << 44
_LEAST_RESOLUTION = 1e6


def exact(runs: Sequence[Treebank], request: AverageRequest) -> Treebank:
    """Return the exact average of aligned treebanks."""
    if request.max_fan_out is not None:
        raise InvalidOption("the method exact takes no max_fan_out; the method dynamic-programming does")
    request = with_frequencies(runs, request)
    individuals, vocabularies = core_individuals(runs, request)
    try:
        found = _core.average(
            individuals,
            core_options(request),
            threads=request.jobs if request.jobs is not None else _available_cores(),
        )
    except ValueError as error:
        raise TreemeanError(str(error)) from error
    result = result_of(runs[0], found, vocabularies, request).with_columns(**voted_words(runs, request))
    if request.goal == "binary" and request.direction == "values":
        return divided_by_values(result, found["labels"] < 0, runs, request.weights, request.ties)
    return result


class Vocabularies(NamedTuple):
    """The labels and the functions of all individuals, in the order in which the core numbers them."""

    labels: list[str]
    functions: list[str]


def result_of(
    base: Treebank, found: dict[str, Any], vocabularies: Vocabularies, request: AverageRequest
) -> Treebank:
    """Return what the core found for the sentences of `base` as a treebank."""
    kept = ("support",) if request.tables else CONSTITUENT_VALUES  # tables of spans know no labels
    return base.with_columns(
        metadata=with_method(base, "exact", _reasons(found, request)),
        constituent_offsets=offsets_of(found["constituent_counts"]),
        labels=_decode_labels(found["labels"], vocabularies.labels),
        functions=CodedStrings(found["functions"], Strings.of(vocabularies.functions)),
        bits=found["bits"],
        sentence_values={name: found[name] for name in SENTENCE_VALUES},
        constituent_values={name: found[name] for name in kept},
    )


def with_frequencies(runs: Sequence[Treebank], request: AverageRequest) -> AverageRequest:
    """Return the request with the frequencies of labels: those given, or those of these treebanks."""
    given = request.frequencies
    if given is None:
        trees = runs[: len(runs) - len(request.tables)]
        return replace(request, frequencies=count_labels([[*trees, *request.tables]]))
    if len(given) != len(runs) or not all(isinstance(one, Frequencies) for one in given):
        raise InvalidOption(f"frequencies must be a list of {len(runs)} Frequencies, one for each individual")
    return request


def core_individuals(
    runs: Sequence[Treebank], request: AverageRequest
) -> tuple[_core.Individuals, Vocabularies]:
    """Return aligned treebanks and their weights for the core, and the labels of all of them."""
    vocabularies = Vocabularies(
        sorted({text for run in runs for text in run.labels.texts}),
        sorted({"", *(text for run in runs for text in run.functions.texts)}),
    )
    rank, function_rank = ({text: index for index, text in enumerate(texts)} for texts in vocabularies)
    values = _values(runs, request)
    preferences = preferences_of(runs, request.ties, request.labelled)
    frequencies = with_frequencies(runs, request).frequencies or []
    individuals = _core.Individuals(
        word_offsets=np.ascontiguousarray(runs[0].word_offsets, dtype=np.int64),
        value_scale=_value_scale(request.weights, values),
    )
    tells_functions = [tells_something(counted.functions) for counted in frequencies]
    tables = [*[None] * (len(runs) - len(request.tables)), *request.tables]
    for k, (run, table) in enumerate(zip(runs, tables, strict=True)):
        individuals.add(
            constituent_offsets=np.ascontiguousarray(run.constituent_offsets, dtype=np.int64),
            bits=np.ascontiguousarray(run.bits, dtype=np.uint64),
            labels=_ranked(run.labels, rank),
            functions=_ranked(run.functions, function_rank) if tells_functions[k] else None,
            values=values[k] if values else None,
            preferences=preferences[k] if preferences else None,
            posteriors=None if table is None else np.ascontiguousarray(table.posteriors, dtype=np.float64),
            sizes=None if table is None else table.expected_counts,
            weights=(request.weights.continuous[k], request.weights.discontinuous[k]),
        )
    heard = [k for k in range(len(runs)) if request.weights.has_say(k)]
    chains: Counter[Chain] = Counter()
    for k in heard:
        chains.update(frequencies[k].chains)
    functions = summed(frequencies[k].functions for k in heard if tells_functions[k])
    individuals.set_frequencies(
        labels=np.array([chains[text,] for text in vocabularies.labels], dtype=np.int64),
        longer_chains=[
            ([rank[text] for text in chain], count)
            for chain, count in chains.items()
            if len(chain) > 1 and all(text in rank for text in chain)
        ],
        functions=np.array([functions[text] for text in vocabularies.functions], dtype=np.int64),
    )
    return individuals, vocabularies


def _ranked(column: CodedStrings, rank: Mapping[str, int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return codes, and the rank of every code."""
    return (
        np.ascontiguousarray(column.codes, dtype=np.int32),
        np.array([rank[text] for text in column.texts], dtype=np.int32),
    )


def core_options(request: AverageRequest) -> _core.Options:
    """Return what the core must know of a request."""
    return _core.Options(
        goal=request.goal,
        direction="right" if request.direction == "values" else request.direction,
        p=request.beta2.numerator,
        q=request.beta2.denominator,
        node_limit=request.node_limit,
        time_limit=request.time_limit or 0.0,
        labelled=request.labelled,
        keep_chains=request.unaries == "keep",
        ties=check_ties(request.ties),
    )


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


def _reasons(found: Mapping[str, NDArray[Any]], request: AverageRequest) -> dict[int, str]:
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


def _values(runs: Sequence[Treebank], request: AverageRequest) -> list[NDArray[np.float64]]:
    """Return what constituents are worth: spans, if nothing else is said, as much as their posteriors."""
    hits: HitsLike = request.hits
    if hits is None and request.tables:
        trees = runs[: len(runs) - len(request.tables)]
        hits = [*(np.ones(len(run.labels)) for run in trees), *(table.posteriors for table in request.tables)]
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
        if np.iscomplexobj(array):  # NumPy would only warn, and drop a part of each
            raise WrongType(f"the hits of individual {number} are complex numbers")
        return np.ascontiguousarray(array, dtype=np.float64)
    except WrongType:
        raise
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
