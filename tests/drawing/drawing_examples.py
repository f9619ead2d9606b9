"""Trees for golden files, small enough to be checked by eye."""

from __future__ import annotations

from treemean.trees import Constituent, Tree


def supported(tree: Tree, support: list[float]) -> Tree:
    """Return the tree with numbers named "support" on its constituents."""
    constituents = [
        Constituent(c.mask, c.label, c.function, {"support": share})
        for c, share in zip(tree.constituents, support, strict=True)
    ]
    return tree.replace(constituents=constituents)


BOOK = Tree(
    ["Buy", "the", "pretty", "book"],
    [(range(4), "VP"), ({1, 2, 3}, "NP"), ({2, 3}, "NP")],
    tags=["VB", "DT", "JJ", "NN"],
)
WAKE = Tree(
    ["Wake", "your", "friend", "up"],
    [(range(4), "S"), ({0, 3}, "V"), ({1, 2}, "NP")],
    tags=["VB", "PRP$", "NN", "RP"],
)
GERMAN = Tree(
    ["Damit", "sollen", "den", "Kassen", "Beitragserhöhungen", "erschwert", "werden"],
    [(range(7), "S"), ({0, 2, 3, 5, 6}, "VP"), ({0, 2, 3, 5}, "VP"), ({2, 3}, "NP")],
    tags=["PROAV", "VMFIN", "ART", "NN", "NN", "VVPP", "VAINF"],
)
GERMAN_GUESS = Tree(
    GERMAN.words, [(range(7), "S"), ({0, 2, 3, 5, 6}, "VP"), ({2, 3}, "NP"), ({5, 6}, "VP")], tags=GERMAN.tags
)
CROSS_SERIAL = Tree(
    ["dat", "Jan", "Piet", "Marie", "zag", "helpen", "zwemmen"],
    [(range(7), "CP"), (range(1, 7), "S"), ({1, 4}, "VP"), ({2, 5}, "VP"), ({3, 6}, "VP")],
)
JAPANESE = Tree(
    ["太郎", "が", "花子", "に", "本", "を", "読んだ"],
    [
        (range(7), "文"),
        ({0, 1}, "後置詞句"),
        (range(2, 7), "VP"),
        ({2, 3}, "PP"),
        ({4, 5}, "PP"),
        ({4}, "NP"),
    ],
    tags=["名詞", "助詞", "名詞", "助詞", "名詞", "助詞", "動詞"],
)
LETTER = Tree(
    ["The", "board", "sent", "a", "letter", "to", "all", "members", "today", "that", "nobody", "liked"],
    [
        (range(12), "S"),
        ({0, 1}, "NP"),
        (range(2, 12), "VP"),
        ({3, 4, 9, 10, 11}, "NP"),
        ({3, 4}, "NP"),
        ({5, 6, 7}, "PP"),
        ({6, 7}, "NP"),
        ({8}, "NP"),
        ({9, 10, 11}, "SBAR"),
        ({10, 11}, "S"),
        ({10}, "NP"),
    ],
    tags=["DT", "NN", "VBD", "DT", "NN", "IN", "DT", "NNS", "NN", "WDT", "NN", "VBD"],
)
UNARY = Tree(["hi"], [({0}, "S"), ({0}, "VP"), ({0}, "")], tags=["UH"])
