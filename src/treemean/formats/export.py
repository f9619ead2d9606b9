"""NEGRA's export format, versions 3 and 4: a line per word and per node, each with the number of its parent.

    #FORMAT 3
    #BOS 1 0 0 0
    Wake    VB  --  HD  500
    your    PRP --  --  501
    ...
    #500    VP  --  --  502
    #EOS 1

Version 4 has a lemma after the word. Parent 0 is above everything; nodes count from 500.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from treemean.errors import FormatError, InvalidTree, UnwritableTree
from treemean.files.source import Source
from treemean.formats.parents import TOP, Node, tree_from_parents
from treemean.formats.plain import core_function, is_read_by_core, read_plain
from treemean.formats.plainwriting import Expressions, PlainWriter, core_batch
from treemean.formats.problems import Problems
from treemean.formats.reading import Record, read_records
from treemean.formats.writing import BatchWriter, TextWriter, Unwritable
from treemean.trees import Tree, Treebank

#: What is written where there is nothing.
NOTHING = "--"
#: The label of the root that stands above the children of parent 0.
VIRTUAL_ROOT = "VROOT"
FIRST_NODE = 500
#: Where the number of the parent stands in versions 3 and 4, counting from 0.
PARENT_COLUMNS = {3: 4, 4: 5}

_BLANKS = re.compile(r"[ \t]+")
_NODE = re.compile(r"#([5-9][0-9]{2}|[1-9][0-9]{3,8})")
_DIRECTIVES = frozenset({"#FORMAT", "#BOT", "#EOT", "#BOS", "#EOS"})
_COMMENT = "%%"
_ID = re.compile(r"%%\s*id=(.*)")


# ---- reading ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Line:
    """One line of a sentence, cut into columns."""

    number: int
    fields: list[str]


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read export 3 or 4; without `#FORMAT`, each sentence shows by itself which it is."""
    reader = _Reader(source, encoding)
    native = core_function("read_export") if is_read_by_core(encoding) else None
    if native is None:
        return read_records(source, reader.records(), reader.parse, problems)
    return read_plain(source, problems, native, reader.parse_version, encoding=encoding)


class _Reader:
    """Cuts a stream at `#BOS` and `#EOS` and remembers the version that `#FORMAT` told."""

    def __init__(self, source: Source, encoding: str) -> None:
        self._source, self._encoding = source, encoding
        self._version: int | None = None

    def records(self) -> Iterator[Record]:
        """Yield sentences, and as records of their own the lines that stand where they should not."""
        record: Record | None = None
        table: Record | None = None
        for number, line in self._source.lines():
            first = line.strip(b" \t").replace(b"\t", b" ").partition(b" ")[0]
            if record is not None and first in (b"#BOS", b"#BOT", b"#FORMAT"):
                yield record
                record = None
            if table is not None:
                table = None if first == b"#EOT" else table
            elif record is not None:
                record.add(line, self._source)
                if first == b"#EOS":
                    yield record
                    record = None
            elif first == b"#BOT":
                table = Record(number, [line])
            elif first == b"#FORMAT" and line.split()[1:] in ([b"3"], [b"4"]):
                self._version = int(line.split()[1])
            elif first and not first.startswith(b"%%"):
                record = Record(number, [line])
                if first == b"#EOS":
                    yield record
                    record = None
        for unfinished in (table, record):
            if unfinished is not None:
                yield unfinished

    def parse_version(self, record: Record, state: int) -> Tree:
        """Build the tree of one sentence in the version `state`, 0 if `#FORMAT` told none."""
        self._version = state or None
        return self.parse(record)

    def parse(self, record: Record) -> Tree:
        """Build the tree of one sentence."""
        lines = record.text(self._encoding)
        first = _BLANKS.split(lines[0].strip(" \t"))
        if first[0] == "#FORMAT":
            raise FormatError(f"{lines[0].strip()!r}: versions 3 and 4 are known")
        if first[0] == "#BOT":
            raise FormatError("the table that begins here has no #EOT")
        if first[0] != "#BOS":
            raise FormatError(f"{first[0]!r} stands outside of a sentence; #BOS should begin one")
        if len(first) < 2 or first[1].startswith(_COMMENT):
            raise FormatError("#BOS without a number")
        comment = _ID.search(lines[0])
        id = comment[1].strip() if comment else first[1]
        last = _BLANKS.split(lines[-1].strip(" \t"))
        if last[0] != "#EOS" or len(lines) == 1:
            raise FormatError("the sentence has no #EOS", sentence=id)
        if len(last) > 1 and last[1] != first[1]:
            raise FormatError(
                f"#EOS {last[1]} ends a sentence that began with #BOS {first[1]}",
                line=record.line + len(lines) - 1,
                sentence=id,
            )
        body = [
            _Line(number, _BLANKS.split(line.strip(" \t")))
            for number, line in enumerate(lines[1:-1], record.line + 1)
            if line.strip(" \t") and not line.lstrip(" \t").startswith(_COMMENT)
        ]
        try:
            return _tree(body, self._version or _version_of(body), id)
        except FormatError as error:
            raise FormatError(error.message, line=error.line, sentence=id) from error
        except InvalidTree as error:
            raise FormatError(str(error), sentence=id) from error


def _version_of(body: list[_Line]) -> int:
    """Tell the version by the column of the parent; that of the first line if the lines disagree."""

    def fits(line: _Line, version: int) -> bool:
        column = PARENT_COLUMNS[version]
        return len(line.fields) > column and _is_number(line.fields[column])

    for lines in (body, body[:1]):
        for version in PARENT_COLUMNS:
            if all(fits(line, version) for line in lines):
                return version
    raise FormatError(
        "no number of a parent in column 5 (version 3) or column 6 (version 4)", line=body[0].number
    )


def _tree(body: list[_Line], version: int, id: str) -> Tree:
    column = PARENT_COLUMNS[version]
    for line in body:
        _check_columns(line, column)
    start = _first_node(body)
    words, nodes = body[:start], body[start:]
    index_of = {int(node.fields[0][1:]): index for index, node in enumerate(nodes)}
    for word in words:
        if _NODE.fullmatch(word.fields[0]) and int(word.fields[0][1:]) in index_of:
            _refuse_twice(word, nodes[index_of[int(word.fields[0][1:])]])
    parents = []
    for line in body:
        parent = int(line.fields[column])
        if parent != 0 and parent not in index_of:
            raise FormatError(f"{line.fields[0]!r} has parent {parent}, which is no node", line=line.number)
        parents.append(index_of[parent] if parent else TOP)
    return tree_from_parents(
        [line.fields[0] for line in words],
        parents[:start],
        [
            Node(filled(node.fields[column - 3]), filled(node.fields[column - 1]), parent)
            for node, parent in zip(nodes, parents[start:], strict=True)
        ],
        tags=[filled(line.fields[column - 3]) for line in words],
        word_functions=[filled(line.fields[column - 1]) for line in words],
        id=id,
        root_label=VIRTUAL_ROOT,
    )


def _check_columns(line: _Line, column: int) -> None:
    if len(line.fields) <= column or not _is_number(line.fields[column]):
        raise FormatError(f"no number of a parent in column {column + 1}", line=line.number)
    rest = line.fields[column + 1 :]
    comment = next((i for i, text in enumerate(rest) if text.startswith(_COMMENT)), len(rest))
    if comment % 2 or not all(_is_number(text) for text in rest[1:comment:2]):
        raise FormatError("secondary edges are not pairs of a label and a number", line=line.number)


def _first_node(body: list[_Line]) -> int:
    """Return where the nodes begin: they come last, and a word before them may look like another node."""
    seen: dict[str, _Line] = {}
    start = len(body)
    while start and _NODE.fullmatch(body[start - 1].fields[0]):
        start -= 1
        line = body[start]
        if line.fields[0] in seen:
            _refuse_twice(line, seen[line.fields[0]])
        seen[line.fields[0]] = line
    return start


def _refuse_twice(first: _Line, second: _Line) -> None:
    raise FormatError(
        f"node {first.fields[0]} is given twice, here and on line {first.number}", line=second.number
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def filled(text: str) -> str:
    """Return a label, a tag or a function; dashes stand for an empty one, here and in TIGER XML."""
    return "" if text == NOTHING else text


# ---- writing ----------------------------------------------------------------------------------------


class _Serialiser:
    """Turns trees into text; counts them for the numbers of those whose id is no number."""

    def __init__(self, version: int) -> None:
        self._count = 0
        self._version = version
        self._lemma = f"{NOTHING}\t\t\t" if version == 4 else ""

    def __call__(self, tree: Tree) -> str:
        virtual = has_virtual_root(tree)
        number_of = {index: FIRST_NODE + order for order, index in enumerate(_bottom_up(tree, virtual))}

        def parent(index: int) -> int:
            return number_of.get(index, 0)

        lines = [
            self._row(_word(word), _label(tag, "tag"), _function(function), parent(above))
            for word, tag, function, above in zip(
                tree.words, tree.tags, tree.word_functions, tree.word_parents, strict=True
            )
        ]
        for index, number in number_of.items():
            constituent = tree.constituents[index]
            label, function = _label(constituent.label, "label"), _function(constituent.function)
            lines.append(self._row(f"#{number}", label, function, parent(tree.parents[index])))
        sentence, comment = self._number(tree.id)
        self._count += 1
        return "\n".join([f"#BOS {sentence} 0 0 0{comment}", *lines, f"#EOS {sentence}"]) + "\n"

    def _row(self, first: str, label: str, function: str, parent: int) -> str:
        text = f"{first}{_tabs(first, 3)}{self._lemma}{label}{_tabs(label, 1)}"
        return f"{text}{NOTHING}\t\t{function}\t{parent}"

    def _number(self, id: str) -> tuple[str, str]:
        if _is_number(id):
            return id, ""
        if not _fits_comment(id):
            raise UnwritableTree(f"the id {id!r} does not fit into a comment")
        return str(self._count + 1), f" {_COMMENT} id={id}" if id else ""


class _Plain(_Serialiser):
    """Writes plain trees in the core, and counts them with the others."""

    def __init__(self, version: int, native: Callable[..., tuple[bytes, int]]) -> None:
        super().__init__(version)
        self._native = native
        self.expressions: Expressions = {
            "words": _word,
            "tags": lambda text: _label(text, "tag"),
            "word_functions": _function,
            "labels": lambda text: _label(text, "label"),
            "functions": _function,
        }

    def needs_care(self, batch: Treebank) -> NDArray[np.bool_]:
        """Return which sentences have an id that does not fit."""
        return np.array([not _fits_comment(id) for id in batch.ids.tolist()], dtype=bool)

    def write(self, batch: Treebank, expressed: Treebank) -> tuple[bytes, int]:
        """Return the text of a batch of plain sentences."""
        openings, closings = [], []
        for id in batch.ids.tolist():
            sentence, comment = self._number(id)
            openings.append(f"#BOS {sentence} 0 0 0{comment}\n")
            closings.append(f"#EOS {sentence}\n")
            self._count += 1
        return self._native(core_batch(expressed, openings, closings), self._version)


def _fits_comment(id: str) -> bool:
    return id == id.strip() and "\n" not in id and "\r" not in id


def has_virtual_root(tree: Tree) -> bool:
    """Tell whether the root is the one that readers add, so that it need not be written."""
    if not tree.constituents:
        return False
    root, *below = tree.constituents
    empty = root.function in ("", NOTHING)
    return root.label == VIRTUAL_ROOT and empty and all(c.mask != root.mask for c in below[:1])


def _bottom_up(tree: Tree, virtual: bool) -> list[int]:
    """Return the constituents to write, children before parents, as annotators number them."""
    indices = range(int(virtual), len(tree.constituents))
    return sorted(indices, key=lambda index: (tree.heights[index], index))


def _tabs(text: str, stops: int) -> str:
    """Return the tabs that lead from a text to the column after so many tab stops of 8."""
    return "\t" * max(1, stops - len(text) // 8)


def _word(word: str) -> str:
    if not word:
        raise UnwritableTree("a word is empty")
    if word in _DIRECTIVES or word.startswith(_COMMENT) or _NODE.fullmatch(word):
        raise UnwritableTree(f"the word {word!r} is reserved in this format")
    return _no_blanks(word, "word")


def _label(text: str, what: str) -> str:
    if text == NOTHING:
        raise UnwritableTree(f"the {what} {NOTHING!r} stands for an empty one in this format")
    return _no_blanks(text, what) or NOTHING


def _function(text: str) -> str:
    # Treebanks that call a missing function "--" mean what this format means by it.
    return _no_blanks(text, "function") or NOTHING


def _no_blanks(text: str, what: str) -> str:
    if any(character in text for character in " \t\n\r"):
        raise UnwritableTree(f"the {what} {text!r} contains a blank, and blanks separate columns")
    return text


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer of export 3."""
    return _writer(stream, unwritable, 3, "NEGRA export")


def writer_4(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer of export 4, whose column of lemmas stays empty."""
    return _writer(stream, unwritable, 4, "NEGRA export 4")


def _writer(stream: IO[bytes], unwritable: Unwritable, version: int, name: str) -> BatchWriter:
    native = core_function("write_export")
    plain = _Plain(version, native) if native is not None else None
    careful = TextWriter(
        stream, plain or _Serialiser(version), name, unwritable, header=f"#FORMAT {version}\n"
    )
    return PlainWriter(stream, careful, plain, unwritable) if plain is not None else careful
