"""CoNLL-U: dependency trees, read as constituents and written from marked heads.

A word with dependents makes a constituent of itself and all its descendants, which has gaps where the
dependency tree is not projective. Its label is the head's part of speech, its function the head's relation;
inside, the head word has the function `head`. The other way round, the head child of every constituent
(function `head`, `hd` or `HD`) tells which word the others depend on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from treemean.formats.reading import Record, paragraphs, read_records
from treemean.formats.writing import BatchWriter, TextWriter, Unwritable
from treemean.trees import Child, Tree, Treebank
from treemean.trees.continuous import is_head

#: The label of the constituent that is added above several roots, or above a sentence of one word.
ROOT = "ROOT"
HEAD = "head"
NOTHING = "_"
COLUMNS = 10

_WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
_OTHER_ID = re.compile(r"[0-9]{1,9}[-.][0-9]{1,9}")
_HEAD = re.compile(r"0|[1-9][0-9]{0,8}")


# ---- reading ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Word:
    """What is kept of a word's line."""

    line: int
    id: int
    form: str
    tag: str
    head: int
    relation: str


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read CoNLL-U; ranges of multiword tokens and empty nodes are not words and are left out."""
    native = core_function("read_conllu") if is_read_by_core(encoding) else None
    if native is None:
        return read_records(source, paragraphs(source), lambda record: _parse(record, encoding), problems)

    def parse(record: Record, state: int) -> Tree | None:
        return _parse(record, encoding)

    return read_plain(source, problems, native, parse, encoding=encoding)


def _parse(record: Record, encoding: str) -> Tree | None:
    lines = record.text(encoding)
    metadata = _metadata(line for line in lines if line.startswith("#"))
    id = metadata.pop("sent_id", "")
    rows = [(number, line) for number, line in enumerate(lines, record.line) if not line.startswith("#")]
    if not rows:
        return None
    try:
        words = [word for number, line in rows if (word := _word(number, line)) is not None]
        if not words:
            raise FormatError("the sentence has no words")
        _check(words)
        return _tree(words, id, metadata)
    except (FormatError, InvalidTree) as error:
        message = error.message if isinstance(error, FormatError) else str(error)
        raise FormatError(message, line=getattr(error, "line", None), sentence=id or None) from error


def _metadata(comments: Iterable[str]) -> dict[str, str]:
    """Return the comments of the form `# key = value`."""
    pairs = (comment[1:].partition("=") for comment in comments)
    return {key.strip(): value.strip() for key, equals, value in pairs if equals and key.strip()}


def _word(number: int, line: str) -> _Word | None:
    """Parse a line; None if it is not about a word."""
    fields = line.split("\t")
    if len(fields) != COLUMNS:
        raise FormatError(f"{len(fields)} columns instead of {COLUMNS} (separated by tabs)", line=number)
    id, form, _, upos, xpos, _, head, relation, _, _ = fields
    if _OTHER_ID.fullmatch(id):
        return None
    if not _WORD_ID.fullmatch(id):
        raise FormatError(f"{id!r} is no number of a word, a range or an empty node", line=number)
    if not _HEAD.fullmatch(head):
        raise FormatError(f"the head of word {id} is {head!r}, which is no number of a word", line=number)
    if not form:
        raise FormatError(f"word {id} is empty", line=number)
    return _Word(number, int(id), form, _filled(upos) or _filled(xpos), int(head), _filled(relation))


def _filled(text: str) -> str:
    return "" if text == NOTHING else text


def _check(words: Sequence[_Word]) -> None:
    """Check that words are numbered from 1 on and that every way up leads to 0. O(n)."""
    dependents: list[list[_Word]] = [[] for _ in range(len(words) + 1)]
    for expected, word in enumerate(words, 1):
        if word.id != expected:
            raise FormatError(f"word {word.id} stands where word {expected} is expected", line=word.line)
        if word.head > len(words):
            raise FormatError(
                f"the head of word {word.id} is {word.head}, but there are {len(words)} words", line=word.line
            )
        dependents[word.head].append(word)
    if not dependents[0]:
        raise FormatError("no word has head 0")
    reached = set()
    todo = [0]
    while todo:
        below = [word.id for word in dependents[todo.pop()]]
        reached.update(below)
        todo += below
    for word in words:
        if word.id not in reached:
            raise FormatError(f"the heads above word {word.id} run in a circle", line=word.line)


def _tree(words: Sequence[_Word], id: str, metadata: Mapping[str, str]) -> Tree:
    heads = sorted({word.head for word in words} - {0})
    node_of = {0: TOP} | {head: index for index, head in enumerate(heads)}
    return tree_from_parents(
        [word.form for word in words],
        [node_of[word.id if word.id in node_of else word.head] for word in words],
        [Node(words[h - 1].tag, words[h - 1].relation, node_of[words[h - 1].head]) for h in heads],
        tags=[word.tag for word in words],
        word_functions=[HEAD if word.id in node_of else word.relation for word in words],
        id=id,
        metadata=metadata,
        root_label=ROOT,
    )


# ---- writing ----------------------------------------------------------------------------------------


def serialise(tree: Tree) -> str:
    """Return a tree as dependencies; every constituent but the root must have one head child.

    >>> tree = Tree(["a", "b"], [({0, 1}, "S")], tags=["X", "Y"], word_functions=["su", "hd"])
    >>> print(serialise(tree).expandtabs(2), end="")
    1 a _ X _ _ 2 su  _ _
    2 b _ Y _ _ 0 _ _ _
    <BLANKLINE>
    """
    if not tree.words:
        raise UnwritableTree("it has no words")
    lines = _comments(tree.id, tree.metadata)
    heads, relations = dependencies(tree)
    for number, (word, tag, head, relation) in enumerate(zip(tree.words, tree.tags, heads, relations), 1):
        upos, deprel = _field(tag, "tag"), _field(relation, "function")
        lines.append("\t".join([str(number), _form(word), "_", upos, "_", "_", str(head), deprel, "_", "_"]))
    return "\n".join(lines) + "\n\n"


def dependencies(tree: Tree) -> tuple[list[int], list[str]]:
    """Return for every word the number of its head (from 1; 0 for a root) and its relation.

    The relation is the first function, on the way down from the largest constituent that the word heads,
    that does not just mark a head. If no child of the whole sentence is marked, all become roots. O(size).

    >>> dependencies(Tree(["a", "b"], [({0, 1}, "S")], word_functions=["su", "hd"]))
    ([2, 0], ['su', ''])
    """
    heads = [0] * len(tree.words)
    relations = [""] * len(tree.words)
    lexical: dict[int, tuple[int, str]] = {}  # the head word and the relation of each constituent seen

    def head_and_relation(child: Child) -> tuple[int, str]:
        if child.is_word:
            return child.index, _relation(tree.word_functions[child.index])
        return lexical[child.index]

    for index in range(len(tree.constituents) - 1, -1, -1):  # children before parents
        function = _relation(tree.constituents[index].function)
        head_child = _head_child(tree, index)
        governor, inherited = 0, function
        if head_child is not None:
            word, relation = head_and_relation(head_child)
            lexical[index] = word, function or relation
            governor, inherited = word + 1, ""
        for child in tree.children[index]:
            if child != head_child:
                word, relation = head_and_relation(child)
                heads[word], relations[word] = governor, relation or inherited
    if 0 in lexical:
        word, relations[word] = lexical[0]
    return heads, relations


def _head_child(tree: Tree, index: int) -> Child | None:
    """Return the marked child, or the only one; None for a whole sentence in which none is marked."""
    children = tree.children[index]
    functions = [
        tree.word_functions[child.index] if child.is_word else tree.constituents[child.index].function
        for child in children
    ]
    marked = [child for child, function in zip(children, functions, strict=True) if is_head(function)]
    if len(marked) == 1:
        return marked[0]
    if not marked and index == 0:
        return None
    if not marked and len(children) == 1:
        return children[0]
    constituent = tree.constituents[index]
    words = " ".join(tree.words[position] for position in constituent.positions[:8])
    raise UnwritableTree(
        f"constituent {constituent.label} [{words}{' …' if len(constituent) > 8 else ''}] has "
        f"{'several head children' if marked else 'no head child'} (function head, hd or HD)"
    )


def _relation(function: str) -> str:
    return "" if is_head(function) else function


def _form(word: str) -> str:
    if not word:
        raise UnwritableTree("a word is empty")
    if any(character in word for character in "\t\n\r"):
        raise UnwritableTree(f"the word {word!r} contains a tab or a line break")
    return word


def _field(text: str, what: str) -> str:
    if text == NOTHING:
        raise UnwritableTree(f"the {what} {NOTHING!r} stands for an empty one in this format")
    if any(character in text for character in " \t\n\r"):
        raise UnwritableTree(f"the {what} {text!r} contains a blank or a line break")
    return text or NOTHING


def _comments(id: str, metadata: Mapping[str, str]) -> list[str]:
    if "sent_id" in metadata:
        raise UnwritableTree("its metadata has a sent_id, which is the place of the id")
    return [
        *([_comment("sent_id", id)] if id else []),
        *(_comment(key, value) for key, value in metadata.items()),
    ]


def _comment(key: str, value: str) -> str:
    if any(character in key + value for character in "\n\r") or "=" in key or not key.strip():
        raise UnwritableTree(f"{key!r} = {value!r} does not fit into a comment")
    return f"# {key} = {value}"


class _Plain:
    """Writes plain trees in the core."""

    def __init__(self, native: Callable[..., tuple[bytes, int]]) -> None:
        self._native = native
        self.expressions: Expressions = {
            "words": _form,
            "tags": lambda text: _field(text, "tag"),
            "word_functions": self._function,
            "labels": lambda text: text,
            "functions": self._function,
        }

    @staticmethod
    def _function(text: str) -> str:
        """Return a function as the core takes it: a tab if it marks a head."""
        return "\t" if is_head(text) else _field(text, "function") if text else ""

    def needs_care(self, batch: Treebank) -> NDArray[np.bool_]:
        """Return which sentences have no words, or comments that cannot be written."""
        care: NDArray[np.bool_] = batch.lengths == 0
        for index, (id, metadata) in enumerate(zip(batch.ids.tolist(), batch.metadata.tolist(), strict=True)):
            if not id and not metadata:
                continue
            try:
                _comments(id, json.loads(metadata) if metadata else {})
            except UnwritableTree:
                care[index] = True
        return care

    def write(self, batch: Treebank, expressed: Treebank) -> tuple[bytes, int]:
        """Return the text of the plain sentences that come first."""
        openings = [
            "".join(f"{line}\n" for line in _comments(id, json.loads(metadata) if metadata else {}))
            for id, metadata in zip(batch.ids.tolist(), batch.metadata.tolist(), strict=True)
        ]
        return self._native(core_batch(expressed, openings, ["\n"] * len(batch)))


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer."""
    careful = TextWriter(stream, serialise, "CoNLL-U", unwritable)
    native = core_function("write_conllu")
    return PlainWriter(stream, careful, _Plain(native), unwritable) if native is not None else careful
