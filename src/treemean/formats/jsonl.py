"""JSON Lines: one object per line, which expresses everything that a tree can hold.

    {"id": "1", "words": ["Wake", "up"], "constituents": [{"spans": [[0, 2]], "label": "S"}]}

What is empty is left out. The reader is strict: it refuses keys that it does not know.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError, InvalidTree
from treemean.files.source import Source
from treemean.formats.limits import MAX_DEPTH, check_pieces, check_size, depth_of
from treemean.formats.plain import core_function, read_plain
from treemean.formats.plainwriting import Expressions, PlainWriter, core_batch, core_texts
from treemean.formats.problems import Problems
from treemean.formats.reading import Record, read_records, single_lines
from treemean.formats.writing import BatchWriter, TextWriter, Unwritable
from treemean.trees import CodedStrings, Constituent, Strings, Tree, Treebank

SENTENCE_KEYS = ("id", "words", "tags", "functions", "constituents", "metadata", "values")
CONSTITUENT_KEYS = ("spans", "label", "function", "values")

_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_INT64 = range(-(1 << 63), 1 << 63)


# ---- reading ----------------------------------------------------------------------------------------


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read JSON Lines, which are in UTF-8 whatever the encoding of other formats."""
    native = core_function("read_jsonl")
    if native is None:
        return read_records(source, single_lines(source), _parse, problems)

    def parse(record: Record, state: int) -> Tree:
        return _parse(record)

    return read_plain(source, problems, native, parse, encoding="utf-8", number=_number_of_token)


def _number_of_token(token: str) -> float:
    return _number(json.loads(token), "a value")


def _parse(record: Record) -> Tree:
    check_pieces(record.lines[0], b"[{,")
    data = decode_object(_decoded(record.lines[0]))
    _check_keys(data, "a sentence", SENTENCE_KEYS, required=("words",))
    id = _text(data.get("id", ""), "id")
    try:
        words = _texts(data["words"], "words")
        listed = _list(data.get("constituents", []), "constituents")
        check_size(len(words), len(listed))
        tree = Tree(
            words,
            [_constituent(item, index, len(words)) for index, item in enumerate(listed)],
            tags=_texts(data["tags"], "tags") if "tags" in data else None,
            word_functions=_texts(data["functions"], "functions") if "functions" in data else None,
            id=id,
            metadata={key: _text(v, f"metadata {key!r}") for key, v in _object(data, "metadata").items()},
            values={key: _number(v, f"value {key!r}") for key, v in _object(data, "values").items()},
        )
        if len(listed) > MAX_DEPTH:
            check_size(len(words), len(listed), depth_of(tree))
        return tree
    except (FormatError, InvalidTree) as error:
        message = error.message if isinstance(error, FormatError) else str(error)
        raise FormatError(message, sentence=id or None) from error


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:  # no option names another encoding
        place = f"byte {error.start + 1} of the line"
        message = f"not valid utf-8: {error.reason} ({place}); JSON Lines are always in UTF-8"
        raise FormatError(message) from error


def decode_object(line: str) -> dict[str, Any]:
    """Decode a JSON object; whatever is wrong with it is a `FormatError`."""
    try:
        data = json.loads(line, object_pairs_hook=_without_repetition, parse_constant=_no_constant)
        if _SURROGATE.search(line):  # half a character, which no encoding can express
            json.dumps(data, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise FormatError("no JSON object of a sentence: too deeply nested") from None
    except UnicodeEncodeError:
        raise FormatError("a text has half of a surrogate pair") from None
    except json.JSONDecodeError as error:
        raise FormatError(f"not valid JSON: {error.msg} (column {error.colno})") from error
    except ValueError as error:
        raise FormatError(f"not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise FormatError("the line is no JSON object")
    return data


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("an object has a key twice")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON (null is read as not a number, the text {name!r} as itself)")


def _constituent(item: Any, index: int, words: int) -> Constituent:
    name = f"constituent {index + 1}"
    if not isinstance(item, dict):
        raise FormatError(f"{name} is no object")
    _check_keys(item, name, CONSTITUENT_KEYS, required=("spans",))
    mask = 0
    end = 0
    for span in _list(item["spans"], f"the spans of {name}"):
        if not isinstance(span, list) or len(span) != 2 or not all(type(x) is int for x in span):
            raise FormatError(f"{name} has a span that is no pair [start, end] of whole numbers")
        start, next_end = span
        if not end <= start < next_end <= words:
            raise FormatError(
                f"{name} has the span [{start}, {next_end}], but its spans should be in ascending order, "
                f"with start < end, within the {words} words"
            )
        end = next_end
        mask |= (1 << end) - (1 << start)
    return Constituent(
        mask,
        _text(item.get("label", ""), f"the label of {name}"),
        _text(item.get("function", ""), f"the function of {name}"),
        {key: float(_number(v, f"value {key!r} of {name}")) for key, v in _object(item, "values").items()},
    )


def _check_keys(data: dict[str, Any], what: str, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    for key in required:
        if key not in data:
            raise FormatError(f"{what} has no {key!r}")
    for key in data:
        if key not in known:
            raise FormatError(f"{what} has the unknown key {key!r}; known are {', '.join(known)}")


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{what} should be a text, not {_kind(value)}")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{what} should be a list, not {_kind(value)}")
    return value


def _texts(value: Any, what: str) -> list[str]:
    return [_text(item, f"every entry of {what}") for item in _list(value, what)]


def _object(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise FormatError(f"{key} should be an object, not {_kind(value)}")
    return value


def _number(value: Any, what: str) -> float:
    """Return a number as JSON tells it: null is not a number, and the infinities are texts."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value in _INFINITIES:
        return _INFINITIES[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{what} should be a number, not {_kind(value)}")
    if math.isinf(value) if isinstance(value, float) else value.bit_length() > 1023:
        raise FormatError(f"{what} is too large")
    return value if isinstance(value, float) or value in _INT64 else float(value)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a Boolean", type(None): "null"}
    return names.get(type(value), "a number")


# ---- writing ----------------------------------------------------------------------------------------


def serialise(tree: Tree) -> str:
    """Return a tree as one line.

    >>> print(serialise(Tree(["a", "b"], [({0, 1}, "S")], id="1")), end="")
    {"id": "1", "words": ["a", "b"], "constituents": [{"spans": [[0, 2]], "label": "S"}]}
    """
    data: dict[str, Any] = {
        "id": tree.id,
        "words": tree.words,
        "tags": tree.tags if any(tree.tags) else (),
        "functions": tree.word_functions if any(tree.word_functions) else (),
        "constituents": [_constituent_data(c) for c in tree.constituents],
        "metadata": dict(tree.metadata),
        "values": _values_data(tree.values),
    }
    kept = {key: value for key, value in data.items() if value or key == "words"}
    return json.dumps(kept, ensure_ascii=False, allow_nan=False) + "\n"


def _constituent_data(constituent: Constituent) -> dict[str, Any]:
    data: dict[str, Any] = {
        "spans": constituent.spans,
        "label": constituent.label,
        "function": constituent.function,
        "values": _values_data(constituent.values),
    }
    return {key: value for key, value in data.items() if value}


def _values_data(values: Mapping[str, float]) -> dict[str, float | str | None]:
    return {name: _value_data(value) for name, value in values.items()}


def _value_data(value: float) -> float | str | None:
    if math.isfinite(value):
        return int(value) if isinstance(value, bool) else value
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


class _Plain:
    """Writes trees in the core."""

    def __init__(self, native: Callable[..., tuple[bytes, int]]) -> None:
        self._native = native
        self.expressions: Expressions = dict.fromkeys(
            ("words", "tags", "word_functions", "labels", "functions"), _quoted
        )

    def needs_care(self, batch: Treebank) -> NDArray[np.bool_]:
        """Return no sentence: this format can express them all."""
        return np.zeros(len(batch), dtype=bool)

    def write(self, batch: Treebank, expressed: Treebank) -> tuple[bytes, int]:
        """Return a batch as lines."""
        openings = [f'{{"id": {_quoted(id)}, ' if id else "{" for id in batch.ids.tolist()]
        closings = [
            f', "metadata": {json.dumps(json.loads(text), ensure_ascii=False)}' if text else ""
            for text in batch.metadata.tolist()
        ]
        columns = {name: column.tolist() for name, column in batch.sentence_values.items()}
        for index, closing in enumerate(closings):
            values = _values_text({name: column[index] for name, column in columns.items()})
            closings[index] = f"{closing}{values}}}\n"
        return self._native(core_batch(expressed, openings, closings), core_texts(_all_values(batch)))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _values_text(values: Mapping[str, float]) -> str:
    return f', "values": {json.dumps(_values_data(values), ensure_ascii=False)}' if values else ""


def _all_values(batch: Treebank) -> CodedStrings:
    """Return the text of the values of every constituent; of each combination of values once."""
    codes = np.zeros(len(batch.labels), dtype=np.int64)
    rows: list[dict[str, float]] = [{}]
    for name, column in batch.constituent_values.items():
        # By their bits, since 0.0 equals -0.0.
        numbers, which = np.unique(np.asarray(column, dtype=np.float64).view(np.int64), return_inverse=True)
        pairs, codes = np.unique(codes * len(numbers) + which, return_inverse=True)
        floats = numbers.view(np.float64).tolist()
        rows = [rows[pair // len(numbers)] | {name: floats[pair % len(numbers)]} for pair in pairs.tolist()]
    return CodedStrings(codes.astype(np.int32), Strings.of(_values_text(row) for row in rows))


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer."""
    careful = TextWriter(stream, serialise, "JSON Lines", unwritable)
    native = core_function("write_jsonl")
    return PlainWriter(stream, careful, _Plain(native), unwritable) if native is not None else careful
