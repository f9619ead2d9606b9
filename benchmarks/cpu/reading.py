"""Speed of readers and writers against other programs and plain Python, as ratios of one run.

Before anything is timed, both sides must find the same trees, or write files with the same trees. disco-dop
and udapi take part where they are installed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import treemean
from benchmarks.common import data_folder, show, times
from benchmarks.cpu import other_formats as others
from treemean.trees import Constituent, Treebank

COLUMNS = ["format", "against", "sentences", "ours, CPU ms", "theirs, CPU ms", "ratio", "in single rounds"]
ROUNDS = 5


class Race:
    """Processor time for a file that we and others read, or write; one row for each of the others.

    Rounds alternate between all of them, so that other work on the machine disturbs all alike. The ratio is
    that of the best times; that of each round shows how far to trust it.
    """

    def __init__(self, sentences: int) -> None:
        self._sentences = sentences
        self.rows: list[list[str | float]] = []

    def run(self, name: str, ours: Callable[[], object], **theirs: Callable[[], object]) -> None:
        tasks = {"": ours, **theirs}
        taken: dict[str, list[float]] = {title: [] for title in tasks}
        for _ in range(ROUNDS):
            for title, task in tasks.items():
                taken[title] += times(task, 1, time.process_time)
        fast = min(taken[""])
        for title in theirs:
            slow = min(taken[title])
            ratios = sorted(other / own for other, own in zip(taken[title], taken[""], strict=True))
            self.rows.append(
                [
                    name,
                    title.replace("_", " "),
                    self._sentences,
                    1e3 * fast,
                    1e3 * slow,
                    slow / fast,
                    f"{ratios[0]:.1f} to {ratios[-1]:.1f}",
                ]
            )


def our_sets(bank: Treebank) -> list[others.Sets]:
    return [sorted((c.label, c.positions) for c in tree) for tree in bank]


def with_heads(bank: Treebank) -> Treebank:
    """Make the first child of every constituent its head, so that CoNLL-U can express the trees."""
    trees = []
    for tree in bank:
        words, nodes = ["dep"] * len(tree.words), ["dep"] * len(tree.constituents)
        for first, *_ in tree.children:
            (words if first.is_word else nodes)[first.index] = "hd"
        constituents = [
            Constituent(c.mask, c.label, f) for c, f in zip(tree.constituents, nodes, strict=True)
        ]
        trees.append(tree.replace(word_functions=words, constituents=constituents))
    return Treebank.from_trees(trees)


def read_all(folder: Path, bank: Treebank, headed: Treebank) -> Race:
    race = Race(len(bank))

    def file(name: str, given: Treebank = bank) -> tuple[Path, Callable[[], Treebank]]:
        path = folder / name
        treemean.write(given, path, warn=False)
        return path, lambda: treemean.read(path)

    path, ours = file("trees.discbracket")
    for tree, other in zip(ours(), others.nltk_trees(path), strict=True):
        assert {frozenset(c.positions) for c in tree} == others.nltk_sets(other)
    race.run("discbracket", ours, NLTK=lambda: others.nltk_trees(path))

    alpino, ours = file("trees.alpino.xml")
    assert our_sets(ours()) == others.alpino_sets(alpino)
    race.run("Alpino XML", ours, ElementTree_walk=lambda: others.alpino_sets(alpino))

    export, ours = file("trees.export")
    assert our_sets(ours()) == others.export_loop(export)
    rivals = {
        "loop_that_only_splits_lines": lambda: others.split_export(export),
        "loop,_same_sets": lambda: others.export_loop(export),
    }
    if others.HAS_DISCODOP:
        assert our_sets(ours()) == [others.discodop_sets(item) for item in others.discodop_read(export)]
        rivals["disco-dop"] = lambda: others.discodop_read(export)
    race.run("export", ours, **rivals)

    conllu, ours = file("trees.conllu", headed)
    expected = [sorted(c.positions for c in tree) for tree in ours()]
    assert others.conllu_loop(conllu) == expected
    rivals = {"loop,_same_sets": lambda: others.conllu_loop(conllu)}
    if others.HAS_UDAPI:
        assert others.udapi_heads(others.udapi_read(conllu)) == expected
        rivals["udapi"] = lambda: others.udapi_read(conllu)
    race.run("CoNLL-U", ours, **rivals)

    tiger, ours = file("trees.tiger.xml")
    assert our_sets(ours()) == others.tiger_sets(tiger)
    race.run("TIGER XML", ours, ElementTree_walk=lambda: others.tiger_sets(tiger))

    lines, ours = file("trees.jsonl")
    assert our_sets(ours()) == others.json_sets(lines)
    race.run("JSON Lines", ours, **{"json.loads,_same_sets": lambda: others.json_sets(lines)})
    return race


def write_all(folder: Path, bank: Treebank, headed: Treebank) -> Race:
    race = Race(len(bank))
    trees = list(bank)
    for tree in trees:
        _ = tree.children  # what every writer needs is not part of the race

    def file(name: str, given: Treebank = bank) -> tuple[Path, Path, Callable[[], None]]:
        def ours() -> None:
            treemean.write(given, path, warn=False)

        path = folder / f"ours.{name}"
        ours()
        return path, folder / f"theirs.{name}", ours

    export, other_export, ours = file("export")
    if others.HAS_DISCODOP:
        items = others.discodop_read(export)
        others.discodop_write(items, other_export)
        assert others.export_loop(other_export) == others.export_loop(export)
        race.run("export", ours, **{"disco-dop": lambda: others.discodop_write(items, other_export)})

    conllu, other_conllu, ours = file("conllu", headed)
    if others.HAS_UDAPI:
        document = others.udapi_read(conllu)
        document.store_conllu(str(other_conllu))
        assert others.conllu_loop(other_conllu) == others.conllu_loop(conllu)
        race.run("CoNLL-U", ours, udapi=lambda: document.store_conllu(str(other_conllu)))

    tiger, other_tiger, ours = file("tiger.xml")
    others.tiger_write(trees, other_tiger)
    assert others.tiger_sets(other_tiger) == others.tiger_sets(tiger)
    race.run("TIGER XML", ours, ElementTree=lambda: others.tiger_write(trees, other_tiger))

    lines, other_lines, ours = file("jsonl")
    others.json_write(trees, other_lines)
    assert other_lines.read_bytes() == lines.read_bytes()
    race.run("JSON Lines", ours, **{"json.dumps": lambda: others.json_write(trees, other_lines)})
    return race


def main() -> None:
    data = data_folder()
    if data is not None:
        bank, name = treemean.read(data / "dutch" / "alpino.xml.gz"), "the Alpino treebank"
    else:
        bank, name = Treebank.concatenate([treemean.sample.gold()] * 20), "our sample, 20 times"
    headed = with_heads(bank)
    with tempfile.TemporaryDirectory() as folder:
        rows = read_all(Path(folder), bank, headed).rows
        show(
            COLUMNS,
            rows,
            f"Reading {name} (processor time, best of {ROUNDS} rounds of one run; both find the same trees)",
        )
        rows = write_all(Path(folder), bank, headed).rows
        show(
            COLUMNS,
            rows,
            f"Writing {name} (processor time, best of {ROUNDS} rounds of one run; both write the same trees)",
        )
    for package, found in (("disco-dop", others.HAS_DISCODOP), ("udapi", others.HAS_UDAPI)):
        if not found:
            print(f"{package} is not installed: its rows are left out")


if __name__ == "__main__":
    main()
