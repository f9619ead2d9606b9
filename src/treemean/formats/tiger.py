"""TIGER XML, as of the TIGER corpus 2.1 and 2.2 and of TIGERSearch.

Words are the terminals in the order of the file. Edges may lead from any node to any terminal; what no edge
leads to stands under the root, and a root `VROOT` is added where no node spans the whole sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO
from xml.sax.saxutils import quoteattr

from lxml import etree

from treemean.errors import FormatError, InvalidTree, UnwritableTree
from treemean.files.source import Source
from treemean.formats.parents import TOP, Node, tree_from_parents
from treemean.formats.problems import Problems
from treemean.formats.reading import Record, read_records
from treemean.formats.writing import BatchWriter, TextWriter, Unwritable
from treemean.formats.xmlstream import NOT_XML, Element, elements, line_of, parse_element
from treemean.trees import Tree, Treebank

#: What is written where there is nothing.
NOTHING = "--"
VIRTUAL_ROOT = "VROOT"
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
<feature name="pos" domain="T"/>
<feature name="cat" domain="NT"/>
<feature name="function" domain="NT"/>
<edgelabel/>
</annotation>
</head>
<body>
"""
FOOTER = "</body>\n</corpus>\n"


# ---- reading ----------------------------------------------------------------------------------------


def read(source: Source, problems: Problems, *, encoding: str) -> Iterator[Treebank]:
    """Read TIGER XML; its own declaration tells the encoding."""
    return read_records(source, elements(source, "s", ROOTS, problems), _parse, problems)


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
    index_of: dict[str, int] = {}
    for index, element in enumerate([*terminals, *nonterminals]):
        name = _attribute(element, "id")
        if name in index_of:
            raise FormatError(f"the id {name!r} is given twice", line=line_of(element))
        index_of[name] = index
    parents = [TOP] * len(index_of)
    functions = [""] * len(terminals) + [_filled(nt.get("function", "")) for nt in nonterminals]
    for parent, nt in enumerate(nonterminals):
        for edge in nt.iterfind("{*}edge"):
            child = index_of.get(_attribute(edge, "idref"))
            if child is None:
                raise FormatError(
                    f"an edge leads to {edge.get('idref')!r}, which is no node", line=line_of(edge)
                )
            if parents[child] != TOP:
                raise FormatError(_edges_to(nonterminals, _attribute(edge, "idref")), line=line_of(edge))
            parents[child] = parent
            functions[child] = _filled(edge.get("label", ""))
    count = len(terminals)
    return tree_from_parents(
        [_attribute(t, "word") for t in terminals],
        parents[:count],
        [
            Node(_filled(nt.get("cat", "")), function, parent)
            for nt, function, parent in zip(nonterminals, functions[count:], parents[count:], strict=True)
        ],
        tags=[_filled(t.get("pos", "")) for t in terminals],
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


def _attribute(element: Element, name: str) -> str:
    value: str | None = element.get(name)
    if value is None:
        raise FormatError(f"<{etree.QName(element).localname}> has no {name!r}", line=line_of(element))
    return value


def _filled(text: str) -> str:
    return "" if text == NOTHING else text


# ---- writing ----------------------------------------------------------------------------------------


class _Serialiser:
    """Turns trees into `<s>` elements; counts them for the ids of their nodes."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, tree: Tree) -> str:
        prefix = f"s{self._count + 1}"
        words = [f"{prefix}_{position + 1}" for position in range(len(tree.words))]
        first = max(FIRST_NODE, len(tree.words) + 1)  # words are numbered from 1
        nodes = [f"{prefix}_{first + index}" for index in range(len(tree.constituents))]
        root = f" root={quoteattr(nodes[0])}" if nodes else ""
        gaps = "" if tree.is_continuous else ' discontinuous="true"'
        lines = [f"<s id={_quoted(tree.id or prefix, 'id')}>", f"<graph{root}{gaps}>", "<terminals>"]
        for name, word, tag in zip(words, tree.words, tree.tags, strict=True):
            lines.append(f'<t id="{name}" word={_quoted(word, "word")} pos={_label(tag, "tag")}/>')
        lines += ["</terminals>", "<nonterminals>"]
        for index in range(len(nodes) - 1, -1, -1):
            lines += self._node(tree, index, words, nodes)
        lines += ["</nonterminals>", "</graph>", "</s>"]
        self._count += 1
        return "\n".join(lines) + "\n"

    @staticmethod
    def _node(tree: Tree, index: int, words: Sequence[str], nodes: Sequence[str]) -> Iterator[str]:
        constituent = tree.constituents[index]
        # A function is the label of the edge from above; there is none above the root.
        function = (
            f" function={_function(constituent.function)}" if index == 0 and constituent.function else ""
        )
        yield f'<nt id="{nodes[index]}" cat={_label(constituent.label, "label")}{function}>'
        for child in tree.children[index]:
            if child.is_word:
                label, target = tree.word_functions[child.index], words[child.index]
            else:
                label, target = tree.constituents[child.index].function, nodes[child.index]
            yield f'<edge label={_function(label)} idref="{target}"/>'
        yield "</nt>"


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
    return TextWriter(stream, _Serialiser(), "TIGER XML", unwritable, header=HEADER, footer=FOOTER)
