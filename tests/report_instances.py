"""Small subjects of reports, with what makes them hard: gaps, chains, punctuation, markup in words."""

from __future__ import annotations

from treemean import Tree, Treebank, sample
from treemean.trees import Constituent

#: Words that would be more than words if a page took them for HTML.
SCRIPT = "</script><script>window.hacked=1</script>"
IMAGE = "<img/src=x/onerror=window.hacked=1>"


def nasty() -> tuple[dict[str, Treebank], Treebank]:
    """Return runs and gold of a few sentences, by hand."""
    words = ["Wake", "your", SCRIPT, "up", "!"]
    tags = ["v", "d", "n", "p", "punct"]

    def tree(*sets: tuple[set[int], str], id: str = "<b>one</b>") -> Tree:
        return Tree(words, [(range(5), "S"), *sets], tags=tags, id=id)

    other = ["Ring", ",", IMAGE, "old", "mother", "."]
    other_tags = ["v", "punct", "d", "a", "n", "punct"]

    def ring(*sets: tuple[set[int], str]) -> Tree:
        chain = [Constituent((1 << 6) - 1, "TOP"), Constituent((1 << 6) - 1, "S", "main")]
        return Tree(
            other, [*chain, *(Constituent.over(*s) for s in sets)], tags=other_tags, id="two & a half"
        )

    gold = Treebank.from_trees(
        [tree(({0, 3}, "V"), ({1, 2}, "NP")), ring(({2, 3, 4}, "NP"), ({3, 4}, "N"), ({0}, "VP"))]
    )
    runs = {
        "ann": [tree(({0, 3}, "V"), ({1, 2}, "<i>NP</i>")), ring(({2, 3, 4}, "NP"), ({2, 3}, "DP"))],
        "bob": [tree(({1, 2, 3}, "VP"), ({1, 2}, "NP")), ring(({0, 1, 2}, "VP"), ({3, 4}, "N"))],
        "cem": [tree(({0, 3}, "V")), ring(({2, 3, 4}, "NP"), ({3, 4}, "N"))],
    }
    return {name: Treebank.from_trees(trees) for name, trees in runs.items()}, gold


def small(sentences: int = 60) -> tuple[dict[str, Treebank], Treebank]:
    """Return runs and gold of some sentences of the sample."""
    step = 360 // sentences
    gold = sample.gold()[::step]
    return {f"run{number}": run[::step] for number, run in enumerate(sample.runs(), 1)}, gold
