"""Reading speed: discbracket against NLTK, Alpino XML against ElementTree, as ratios of one run.

Before anything is timed, both readers must find the same trees.
"""

from __future__ import annotations

import io
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nltk

import treemean
from benchmarks.common import data_folder, show, times


def nltk_trees(path: Path) -> list[nltk.Tree]:
    return [nltk.Tree.fromstring(line) for line in path.read_text().splitlines()]


def nltk_sets(tree: nltk.Tree) -> set[frozenset[int]]:
    return {
        frozenset(int(leaf.partition("=")[0]) for leaf in part.leaves())
        for part in tree.subtrees(lambda t: not isinstance(t[0], str))
    }


def element_tree_sets(data: bytes) -> list[list[tuple[str | None, frozenset[int]]]]:
    """Walk the XML plainly: the words of a node are those of its children."""
    sentences = []

    def walk(node: ElementTree.Element, found: list[tuple[str | None, frozenset[int]]]) -> set[int]:
        if node.get("word") is not None:
            return {int(node.get("begin", -1))}
        inside: set[int] = set()
        for child in node:
            inside |= walk(child, found)
        if inside:
            found.append((node.get("cat"), frozenset(inside)))
        return inside

    for sentence in ElementTree.parse(io.BytesIO(data)).getroot().iter("alpino_ds"):
        found: list[tuple[str | None, frozenset[int]]] = []
        walk(sentence.find("node"), found)
        sentences.append(found)
    return sentences


def discbracket_row(folder: Path) -> list[str | float]:
    bank = treemean.sample.gold()
    path = folder / "sample.discbracket"
    treemean.write(treemean.Treebank.concatenate([bank] * 5), path)
    ours, theirs = treemean.read(path), nltk_trees(path)
    for tree, other in zip(ours, theirs, strict=True):
        assert {frozenset(c.positions) for c in tree} == nltk_sets(other)
    fast = times(lambda: treemean.read(path), 5)[0]
    slow = times(lambda: nltk_trees(path), 3)[0]
    return ["discbracket", "NLTK Tree.fromstring", len(ours), 1e3 * fast, 1e3 * slow, slow / fast]


def alpino_row(folder: Path) -> list[str | float]:
    data = data_folder()
    if data is not None:
        bank = treemean.read(data / "dutch" / "alpino.xml.gz")
        name = "Alpino XML (the Alpino treebank)"
    else:
        bank = treemean.Treebank.concatenate([treemean.sample.gold()] * 20)
        name = "Alpino XML (our sample, 20 times)"
    path = folder / "trees.alpino.xml"
    treemean.write(bank, path)
    ours, theirs = treemean.read(path), element_tree_sets(path.read_bytes())
    for tree, found in zip(ours, theirs, strict=True):
        assert sorted((c.label, c.positions) for c in tree) == sorted(
            (cat, tuple(sorted(p))) for cat, p in found
        )
    fast = times(lambda: treemean.read(path), 5)[0]
    slow = times(lambda: element_tree_sets(path.read_bytes()), 3)[0]
    return [name, "ElementTree walk", len(ours), 1e3 * fast, 1e3 * slow, slow / fast]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [discbracket_row(Path(folder)), alpino_row(Path(folder))]
    show(
        ["format", "against", "sentences", "ours, ms", "theirs, ms", "ratio"],
        rows,
        "Reading speed (best of several, one run; both find the same trees)",
    )


if __name__ == "__main__":
    main()
