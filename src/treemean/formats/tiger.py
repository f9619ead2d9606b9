"""TIGER XML, as of the TIGER corpus 2.1 and 2.2 and of TIGERSearch.

Words are the terminals in the order of the file. Edges may lead from any node to any terminal; what no edge
leads to stands under the root, and a root `VROOT` is added where no node spans the whole sentence.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any
from xml.sax.saxutils import quoteattr

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from treemean.errors import FormatError, InvalidTree, UnwritableTree
from treemean.files.source import MAX_RECORD, Source
from treemean.formats.blocks import Blocks
from treemean.formats.export import NOTHING, VIRTUAL_ROOT, filled, has_virtual_root
from treemean.formats.native import treebank_from_columns
from treemean.formats.parents import TOP, Node, tree_from_parents
from treemean.formats.plain import Text, core_function, is_read_by_core
from treemean.formats.plainwriting import Expressions, PlainWriter, core_batch
from treemean.formats.problems import Problems
from treemean.formats.reading import Reading, Record, read_records
from treemean.formats.writing import BatchWriter, TextWriter, Unwritable
from treemean.formats.xmlstream import NOT_XML, Element, declared_encoding, elements, line_of, parse_element
from treemean.trees import Child, Tree, Treebank

ROOTS = ("corpus", "subcorpus")
FIRST_NODE = 500
HEADER = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<corpus id="treebank">
<head>
<meta>
<format>TIGER XML</format>
</meta>
<annotation>
<feature name="word" domain="T"/>
<feature name="lemma" domain="T"/>
<feature name="pos" domain="T"/>
<feature name="morph" domain="T"/>
<feature name="cat" domain="NT"/>
<edgelabel/>
</annotation>
</head>
<body>
"""
FOOTER = "</body>\n</corpus>\n"


# ---- reading ----------------------------------------------------------------------------------------


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read TIGER XML; its own declaration tells the encoding."""
    native, declared = core_function("read_tiger"), declared_encoding(source)
    if native is None or declared is None or not is_read_by_core(declared):
        records = (record for record in elements(source, "s", ROOTS, problems) if record is not None)
        return read_records(source, records, _parse, problems)
    return _read_plain(source, problems, native, declared)


def _read_plain(
    source: Source, problems: Problems, native: Callable[..., Any], encoding: str
) -> Iterator[Treebank]:
    """Read with the core what is plain, and with an XML parser everything around it."""
    reading = Reading(source, problems)
    taken = _TakenOut(source, native, encoding)
    records = elements(
        source, "s", ROOTS, problems, blocks=taken.blocks(), unread=taken.unread, marker=taken.marker
    )
    for record in records:
        if record is None:
            batch = taken.batches.popleft()
            reading.count += len(batch)
            yield batch
        elif (tree := reading.parse(record, _parse)) is not None:
            yield Treebank.from_trees([tree])
    problems.missing += sum(map(len, taken.batches))  # behind an error from which the parser did not recover


class _TakenOut:
    """A document out of which the core takes plain sentences; the XML parser gets all that remains.

    An empty element stands for each run of sentences that were taken out, with as many line breaks, so that
    the parser judges the whole document and counts its lines.

    Attributes
    ----------
    marker : the name of these elements, which no document can know.
    batches : the sentences, in the order of their markers.
    """

    def __init__(self, source: Source, native: Callable[..., Any], encoding: str) -> None:
        self.marker = f"run-{secrets.token_hex(16)}"
        self.batches: deque[Treebank] = deque()
        self._source, self._native, self._encoding = source, native, encoding
        self._blocks = Blocks(source)

    def blocks(self) -> Iterator[bytes]:
        """Yield what remains of the document, block by block."""
        blocks = self._blocks
        known = core_function("Vocabularies")()
        state = 0
        while blocks.more():
            text = Text(blocks.rest, self._encoding)
            columns, consumed, runs, state = self._native(text.utf8, blocks.final, state, known)
            around = self._around(text, consumed, runs, treebank_from_columns(columns))
            blocks.keep(text.original(consumed))
            yield around
            if blocks.is_too_long:
                raise FormatError(f"no <s> ends within {MAX_RECORD} bytes")

    def unread(self) -> Iterator[bytes]:
        """Yield what is behind the blocks yielded so far, as it stands in the source."""
        yield self._blocks.rest
        yield from iter(self._source.read, b"")

    def _around(self, text: Text, consumed: int, runs: list[tuple[int, int, int]], batch: Treebank) -> bytes:
        pieces = []
        place = sentence = 0
        for begin, end, count in runs:
            pieces += [text.original(place, begin), f"<{self.marker}/>".encode(self._encoding)]
            pieces.append(b"\n" * text.utf8.count(b"\n", begin, end))
            self.batches.append(batch[sentence : sentence + count])
            place, sentence = end, sentence + count
        pieces.append(text.original(place, consumed))
        return b"".join(pieces)


def _parse(record: Record) -> Tree:
    sentence = parse_element(record)
    id = sentence.get("id", "")
    try:
        return _tree(sentence, id)
    except (FormatError, InvalidTree) as error:
        message = error.message if isinstance(error, FormatError) else str(error)
        inner = getattr(error, "line", None) or 1
        raise FormatError(message, line=record.line + inner - 1, sentence=id or None) from error


def _tree(sentence: Element, id: str) -> Tree:
    terminals = list(sentence.iterfind("{*}graph/{*}terminals/{*}t"))
    nonterminals = list(sentence.iterfind("{*}graph/{*}nonterminals/{*}nt"))
    roots = [graph.get("root", "") for graph in sentence.iterfind("{*}graph")]
    virtual = [nt for nt in nonterminals if _is_virtual(nt, roots)]
    nodes = [nt for nt in nonterminals if nt not in virtual]
    index_of: dict[str, int] = {}
    for index, element in enumerate([*terminals, *nodes, *virtual]):
        name = _attribute(element, "id")
        if name in index_of:
            raise FormatError(f"the id {name!r} is given twice", line=line_of(element))
        index_of[name] = index
    count = len(terminals)
    parents = [TOP] * (count + len(nodes))
    functions = [""] * count + [filled(nt.get("function", "")) for nt in nodes]
    reached: set[int] = set()
    for nt in nonterminals:
        above = TOP if nt in virtual else index_of[nt.get("id")] - count
        for edge in nt.iterfind("{*}edge"):
            name = _attribute(edge, "idref")
            child = index_of.get(name)
            if child is None:
                raise FormatError(f"an edge leads to {name!r}, which is no node", line=line_of(edge))
            if child >= len(parents):
                raise FormatError(f"an edge leads to {name!r}, the root of everything", line=line_of(edge))
            if child in reached:
                raise FormatError(_edges_to(nonterminals, name), line=line_of(edge))
            reached.add(child)
            parents[child] = above
            functions[child] = filled(edge.get("label", ""))
    return tree_from_parents(
        [_attribute(t, "word") for t in terminals],
        parents[:count],
        [
            Node(filled(nt.get("cat", "")), function, parent)
            for nt, function, parent in zip(nodes, functions[count:], parents[count:], strict=True)
        ],
        tags=[filled(t.get("pos", "")) for t in terminals],
        word_functions=functions[:count],
        id=id,
        root_label=VIRTUAL_ROOT,
    )


def _edges_to(nonterminals: Sequence[Element], idref: str) -> str:
    """Return what is wrong with a node to which several edges lead, and which these are."""
    edges = [
        (nt.get("id"), e.get("label", ""))
        for nt in nonterminals
        for e in nt.iterfind("{*}edge[@idref]")
        if e.get("idref") == idref
    ]
    count = {2: "two", 3: "three"}.get(len(edges), str(len(edges)))
    told = [f"{parent!r}" + (f" ({label})" if label else "") for parent, label in edges]
    return f"{count} edges lead to {idref!r}: from {', '.join(told)}"


def _is_virtual(nt: Element, roots: Sequence[str]) -> bool:
    """Tell whether a node only stands for what is above everything, as the parent 0 of the export format."""
    id: str = nt.get("id", "")
    return (
        id.endswith(f"_{VIRTUAL_ROOT}")
        and id in roots
        and nt.get("cat") == VIRTUAL_ROOT
        and not filled(nt.get("function", ""))
    )


def _attribute(element: Element, name: str) -> str:
    value: str | None = element.get(name)
    if value is None:
        raise FormatError(f"<{etree.QName(element).localname}> has no {name!r}", line=line_of(element))
    return value


# ---- writing ----------------------------------------------------------------------------------------


class _Serialiser:
    """Turns trees into `<s>` elements; counts them for the ids of their nodes."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, tree: Tree) -> str:
        prefix = f"s{self._count + 1}"
        if not tree.words:
            body = ["<graph>", "<terminals>", "</terminals>", "<nonterminals>", "</nonterminals>", "</graph>"]
        else:
            body = list(self._graph(tree, prefix))
        text = "\n".join([f"<s id={_quoted(tree.id or prefix, 'id')}>", *body, "</s>", ""])
        self._count += 1
        return text

    def _graph(self, tree: Tree, prefix: str) -> Iterator[str]:
        """Yield the lines of a graph: other programs want a root named VROOT, and all attributes there."""
        virtual = int(has_virtual_root(tree))
        first = max(FIRST_NODE, len(tree.words) + 1) - virtual  # words are numbered from 1

        def edge(child: Child) -> str:
            function = (
                tree.word_functions[child.index] if child.is_word else tree.constituents[child.index].function
            )
            target = child.index + 1 if child.is_word else first + child.index
            return f'<edge label={_function(function)} idref="{prefix}_{target}"/>'

        gaps = "" if tree.is_continuous else ' discontinuous="true"'
        yield f'<graph root="{prefix}_{VIRTUAL_ROOT}"{gaps}>'
        yield "<terminals>"
        for number, (word, tag) in enumerate(zip(tree.words, tree.tags, strict=True), 1):
            word, tag = _quoted(word, "word"), _label(tag, "tag")
            yield f'<t id="{prefix}_{number}" word={word} lemma="--" pos={tag} morph="--"/>'
        yield "</terminals>"
        yield "<nonterminals>"
        for index in range(len(tree.constituents) - 1, virtual - 1, -1):
            yield f'<nt id="{prefix}_{first + index}" cat={_label(tree.constituents[index].label, "label")}>'
            yield from map(edge, tree.children[index])
            yield "</nt>"
        yield f'<nt id="{prefix}_{VIRTUAL_ROOT}" cat="{VIRTUAL_ROOT}">'
        yield from map(edge, tree.children[0] if virtual else [Child(False, 0)])
        yield "</nt>"
        yield "</nonterminals>"
        yield "</graph>"


class _Plain(_Serialiser):
    """Writes plain trees in the core, and counts them with the others."""

    def __init__(self, native: Callable[..., tuple[bytes, int]]) -> None:
        super().__init__()
        self._native = native
        self.expressions: Expressions = {
            "words": lambda text: _quoted(text, "word"),
            "tags": lambda text: _label(text, "tag"),
            "word_functions": _function,
            "labels": lambda text: _label(text, "label"),
            "functions": _function,
        }

    def needs_care(self, batch: Treebank) -> NDArray[np.bool_]:
        """Return which sentences have no words, or an id that XML cannot express."""
        odd = [NOT_XML.search(id) is not None for id in batch.ids.tolist()]
        care: NDArray[np.bool_] = np.array(odd, dtype=bool) | (batch.lengths == 0)
        return care

    def write(self, batch: Treebank, expressed: Treebank) -> tuple[bytes, int]:
        """Return a batch of plain sentences as elements."""
        first = self._count + 1
        openings = [
            f"<s id={_quoted(id or f's{number}', 'id')}>\n"
            for number, id in enumerate(batch.ids.tolist(), first)
        ]
        self._count += len(batch)
        return self._native(core_batch(expressed, openings, ["</s>\n"] * len(batch)), first)


def _label(text: str, what: str) -> str:
    if text == NOTHING:
        raise UnwritableTree(f"the {what} {NOTHING!r} stands for an empty one in this format")
    return _quoted(text or NOTHING, what)


def _function(text: str) -> str:
    # Treebanks that call a missing function "--" mean what this format means by it.
    return _quoted(text or NOTHING, "function")


def _quoted(text: str, what: str) -> str:
    if NOT_XML.search(text):
        raise UnwritableTree(f"the {what} {text!r} has a character that XML cannot express")
    return quoteattr(text)


def writer(stream: IO[bytes], unwritable: Unwritable) -> BatchWriter:
    """Open a writer."""
    native = core_function("write_tiger")
    plain = _Plain(native) if native is not None else None
    careful = TextWriter(
        stream, plain or _Serialiser(), "TIGER XML", unwritable, header=HEADER, footer=FOOTER
    )
    return PlainWriter(stream, careful, plain, unwritable) if plain is not None else careful
