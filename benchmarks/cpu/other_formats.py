"""Formats as other programs, or a few lines of plain Python, read and write them, to compare ours with."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import nltk

from treemean.trees import Tree

try:
    import udapi.core.document

    HAS_UDAPI = True
except ImportError:
    HAS_UDAPI = False
try:
    from discodop.treebank import NegraCorpusReader, writetree

    HAS_DISCODOP = True
except ImportError:
    HAS_DISCODOP = False

#: The constituents of a sentence: label and positions.
Sets = list[tuple[str, tuple[int, ...]]]


# ---- brackets and Alpino XML --------------------------------------------------------------------------


def nltk_trees(path: Path) -> list[nltk.Tree]:
    return [nltk.Tree.fromstring(line) for line in path.read_text().splitlines()]


def nltk_sets(tree: nltk.Tree) -> set[frozenset[int]]:
    return {
        frozenset(int(leaf.partition("=")[0]) for leaf in part.leaves())
        for part in tree.subtrees(lambda t: not isinstance(t[0], str))
    }


def alpino_sets(path: Path) -> list[Sets]:
    """Walk the XML plainly: the words of a node are those of its children."""

    def walk(node: ElementTree.Element, found: Sets) -> set[int]:
        if node.get("word") is not None:
            return {int(node.get("begin", -1))}
        inside: set[int] = set()
        for child in node:
            inside |= walk(child, found)
        if inside:
            found.append((node.get("cat", ""), tuple(sorted(inside))))
        return inside

    sentences = []
    for top in ElementTree.parse(path).getroot().iterfind(".//alpino_ds/node"):
        found: Sets = []
        walk(top, found)
        sentences.append(sorted(found))
    return sentences


# ---- export -------------------------------------------------------------------------------------------


def split_export(path: Path) -> int:
    """Only split the lines, and do nothing with what they say."""
    return sum(len(line.split()) for line in path.open(encoding="utf-8"))


def export_loop(path: Path) -> list[Sets]:
    """Read sentences of version 3 in the plainest way."""
    sentences = []
    parents: dict[str | int, str] = {}
    labels: dict[str | int, str] = {}
    for line in path.open(encoding="utf-8"):
        fields = line.split()
        if fields[0] == "#FORMAT":
            continue
        if len(fields) == 6:  # with a lemma
            del fields[1]
        if fields[0] == "#BOS":
            parents.clear()
            labels.clear()
            words = 0
        elif fields[0] == "#EOS":
            sentences.append(_climb(words, parents, labels, "0", "VROOT"))
        elif fields[0][0] == "#" and fields[0][1:].isdigit():
            parents[fields[0][1:]], labels[fields[0][1:]] = fields[4], fields[1]
        else:
            parents[words] = fields[4]
            words += 1
    return sentences


def _climb(words: int, parents: dict[Any, Any], labels: dict[Any, str], top: Any, root: str) -> Sets:
    """Put every word into the nodes above it; add a root if none holds them all."""
    inside: dict[Any, list[int]] = {node: [] for node in labels}
    for word in range(words):
        above = parents[word]
        while above != top:
            inside[above].append(word)
            above = parents[above]
    found = [(label, tuple(inside[node])) for node, label in labels.items()]
    if all(len(positions) < words for _, positions in found):
        found.append((root, tuple(range(words))))
    return sorted(found)


def discodop_read(path: Path) -> list[Any]:
    return [item for _, item in NegraCorpusReader(str(path)).itertrees()]


def discodop_sets(item: Any) -> Sets:
    """Return the sets of one of its trees, without the root that it adds."""
    nodes = [node for node in item.tree.subtrees() if not isinstance(node[0], int)][1:]
    found = [(node.label, tuple(sorted(node.leaves()))) for node in nodes]
    if all(len(positions) < len(item.sent) for _, positions in found):
        found.append(("VROOT", tuple(range(len(item.sent)))))
    return sorted(found)


def discodop_write(items: Sequence[Any], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, item in enumerate(items, 1):
            file.write(writetree(item.tree, item.sent, str(number), "export"))


# ---- CoNLL-U ------------------------------------------------------------------------------------------


def conllu_loop(path: Path) -> list[list[tuple[int, ...]]]:
    """Read sentences in the plainest way: words with dependents, each with its descendants."""
    sentences = []
    heads: list[int] = []
    for line in path.open(encoding="utf-8"):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 10:
            if fields[0].isdigit():
                heads.append(int(fields[6]))
        elif not line.strip() and heads:
            sentences.append(_descendants(heads))
            heads = []
    return sentences


def _descendants(heads: Sequence[int]) -> list[tuple[int, ...]]:
    below: dict[int, list[int]] = {head: [] for head in heads if head}
    for word in range(1, len(heads) + 1):
        above = word
        while above:
            if above in below:
                below[above].append(word - 1)
            above = heads[above - 1]
    sets = [tuple(words) for words in below.values()]
    return sorted(sets if any(len(s) == len(heads) for s in sets) else [*sets, tuple(range(len(heads)))])


def udapi_read(path: Path) -> Any:
    document = udapi.core.document.Document()
    document.load_conllu(str(path))
    return document


def udapi_heads(document: Any) -> list[list[tuple[int, ...]]]:
    return [_descendants([node.parent.ord for node in tree.descendants]) for tree in document.trees]


# ---- TIGER XML ----------------------------------------------------------------------------------------


def tiger_sets(path: Path) -> list[Sets]:
    """Walk the XML plainly: ids, edges, and the way up from every word."""
    sentences = []
    for sentence in ElementTree.parse(path).getroot().iter("s"):
        order = {t.get("id"): position for position, t in enumerate(sentence.iter("t"))}
        parents: dict[Any, Any] = dict.fromkeys(order.values())
        labels: dict[Any, str] = {}
        for nt in sentence.iter("nt"):
            name = nt.get("id", "")
            virtual = name.endswith("_VROOT")
            if not virtual:
                labels[name] = nt.get("cat", "")
                parents.setdefault(name, None)
            for edge in nt.iter("edge"):
                target = edge.get("idref")
                parents[order.get(target, target)] = None if virtual else name
        sentences.append(_climb(len(order), parents, labels, None, "VROOT"))
    return sentences


def tiger_write(trees: Iterable[Tree], path: Path) -> None:
    """Build the elements and let ElementTree write them."""
    corpus = ElementTree.Element("corpus")
    body = ElementTree.SubElement(corpus, "body")
    for number, tree in enumerate(trees, 1):
        sentence = ElementTree.SubElement(body, "s", id=tree.id or f"s{number}")
        graph = ElementTree.SubElement(sentence, "graph", root=f"s{number}_VROOT")
        terminals = ElementTree.SubElement(graph, "terminals")
        for position, (word, tag) in enumerate(zip(tree.words, tree.tags, strict=True), 1):
            features = {"id": f"s{number}_{position}", "word": word, "lemma": "--", "pos": tag or "--"}
            ElementTree.SubElement(terminals, "t", features, morph="--")
        nodes = ElementTree.SubElement(graph, "nonterminals")
        for index, constituent in enumerate(tree.constituents):
            node = ElementTree.SubElement(
                nodes, "nt", id=f"s{number}_{500 + index}", cat=constituent.label or "--"
            )
            for child in tree.children[index]:
                if child.is_word:
                    label, target = tree.word_functions[child.index], child.index + 1
                else:
                    label, target = tree.constituents[child.index].function, 500 + child.index
                ElementTree.SubElement(node, "edge", label=label or "--", idref=f"s{number}_{target}")
    ElementTree.ElementTree(corpus).write(path, encoding="utf-8", xml_declaration=True)


# ---- JSON Lines ---------------------------------------------------------------------------------------


def json_sets(path: Path) -> list[Sets]:
    """Decode the lines, and fill the sets from their spans."""
    sentences = []
    for line in path.open(encoding="utf-8"):
        found = []
        for constituent in json.loads(line).get("constituents", ()):
            positions = [p for start, end in constituent["spans"] for p in range(start, end)]
            found.append((constituent.get("label", ""), tuple(positions)))
        sentences.append(sorted(found))
    return sentences


def json_write(trees: Iterable[Tree], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for tree in trees:
            constituents = []
            for c in tree.constituents:
                entry: dict[str, Any] = {"spans": c.spans}
                entry |= {name: text for name, text in (("label", c.label), ("function", c.function)) if text}
                constituents.append(entry)
            data: dict[str, Any] = {"id": tree.id, "words": tree.words}
            data |= {"tags": tree.tags} if any(tree.tags) else {}
            data |= {"functions": tree.word_functions} if any(tree.word_functions) else {}
            data["constituents"] = constituents
            file.write(json.dumps(data, ensure_ascii=False) + "\n")
