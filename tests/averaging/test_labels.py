"""Labels by vote: chains, functions, tags; equal trees come back as they are, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treemean
from commands import run
from examples import examples
from strategies import parallel_treebanks, treebanks
from treemean import sample
from treemean.averaging import average, count_labels, k_best
from treemean.averaging.words import winners
from treemean.errors import InvalidOption
from treemean.formats.registry import all_formats
from treemean.trees import Constituent, Tree, Treebank

FORMATS = sorted(all_formats())
ALPINO = Path(__file__).resolve().parents[2] / "../shared/data/dutch/alpino.xml.gz"


def phrase(*labels: str, function: str = "", tags: str = "xyz") -> Tree:
    """Return a tree over three words; the first two have a chain of labels, the last of them a function."""
    chain = [Constituent(0b011, label) for label in labels[:-1]]
    chain += [Constituent(0b011, label, function) for label in labels[-1:]]
    return Tree(list("abc"), [Constituent(0b111, "S"), *chain], tags=list(tags))


def chain_of(tree: Tree) -> list[str]:
    return [c.label for c in tree if c.mask == 0b011]


def test_chains_are_voted_on_as_wholes() -> None:
    trees = [phrase("NP"), phrase("VP", "NP"), phrase("VP", "NP"), phrase("VP"), phrase("VP")]
    assert chain_of(average(trees[:4])) == ["VP", "NP"]
    assert chain_of(average(trees, [1, 1, 1, 1, 2])) == ["VP"]
    result = average(trees[:4])
    assert [c.values["support"] for c in result] == [1, 1, 1]
    assert [c.values["support_labelled"] for c in result] == [1, 0.75, 0.75]


def test_equal_votes_go_to_the_more_frequent_chain_then_by_the_alphabet() -> None:
    disputed, more = [phrase("AP"), phrase("NP")], [phrase("NP"), phrase("PP")]
    assert chain_of(average(disputed)) == ["AP"]
    banks = [Treebank.from_trees([one, other]) for one, other in zip(disputed, more, strict=True)]
    assert chain_of(average(banks)[0]) == ["NP"]
    whole = count_labels([banks])
    assert chain_of(average([bank[:1] for bank in banks], frequencies=whole)[0]) == ["NP"]
    assert chain_of(average([bank[:1] for bank in banks], frequencies=whole, method="greedy")[0]) == ["NP"]
    assert chain_of(average([bank[:1] for bank in banks])[0]) == ["AP"]
    # Those who have no say are not counted, either.
    silent = Treebank.from_trees([phrase("X"), phrase("NP")])
    known = average([*banks[:1], Treebank.from_trees([phrase("B"), phrase("PP")]), silent], [1, 1, 0])
    assert chain_of(known[0]) == ["AP"]
    for wrong in (whole[:1], ["NP", "AP"]):
        with pytest.raises(InvalidOption, match="frequencies must be a list of 2"):
            average(banks, frequencies=wrong)


def test_functions_are_those_of_the_label_that_won() -> None:
    trees = [
        phrase("NP", function="SBJ"),
        phrase("NP", function="OBJ"),
        phrase("NP", function="OBJ"),
        phrase("VP", function="SBJ"),
        phrase("VP", function="SBJ"),
    ]
    found = average(trees)
    assert [(c.label, c.function) for c in found][1] == ("NP", "OBJ")
    # No function is an opinion where others have some; a run without any has none.
    partly = [phrase("NP"), phrase("NP"), phrase("NP", function="SBJ")]
    with_function = phrase("NP", function="OBJ")
    assert average(partly).constituents[1].function == "SBJ"
    banks = [Treebank.from_trees([tree, with_function]) for tree in partly]
    assert average(banks)[0].constituents[1].function == ""


def test_tags_and_functions_of_words_are_voted_on() -> None:
    trees = [phrase("NP", tags="xyz"), phrase("NP", tags="xqz"), phrase("NP", tags="pqz")]
    assert average(trees).tags == ("x", "q", "z")
    assert average(trees, [3, 1, 1]).tags == ("x", "y", "z")
    untagged = phrase("NP").replace(tags=["", "", ""])
    assert average([untagged, untagged, trees[0]]).tags == ("x", "y", "z")
    assert average([untagged, trees[0]], [1, 0]).tags == ("", "", "")
    told = phrase("NP").replace(word_functions=["hd", "", "mod"])
    assert average([phrase("NP"), told]).word_functions == ("hd", "", "mod")
    assert k_best([trees[0], trees[1], trees[2]], 1)[0].tags == ("x", "q", "z")


@given(st.data(), st.integers(1, 4), st.integers(1, 4))
@examples(50)
def test_winners_by_definition(data: st.DataObject, voters: int, things: int) -> None:
    codes = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 2), min_size=things, max_size=things),
                min_size=voters,
                max_size=voters,
            )
        )
    )
    weights = data.draw(st.lists(st.integers(0, 3), min_size=voters, max_size=voters))
    preference = np.array(data.draw(st.permutations(range(3))))
    for thing, winner in enumerate(winners(codes, weights, preference).tolist()):
        votes = {
            code: sum(w for w, c in zip(weights, codes[:, thing]) if c == code) for code in codes[:, thing]
        }
        assert winner == min(votes, key=lambda code: (-votes[code], preference[code]))


@given(
    parallel_treebanks(3, min_sentences=1, max_sentences=3, max_words=5), st.sampled_from([None, (2, 1, 1)])
)
@examples(150)
def test_the_core_votes_as_the_definition_says(banks: list[Treebank], weights: list[float] | None) -> None:
    fast, slow = average(banks, weights), average(banks, weights, method="exhaustive")
    assert fast == slow
    for name in ("support", "support_labelled"):
        assert fast.constituent_values[name].tolist() == slow.constituent_values[name].tolist()


@given(treebanks(min_sentences=1, max_sentences=3), st.sampled_from(FORMATS), st.sampled_from([1, 2, 5]))
@examples(150)
def test_equal_trees_come_back_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, drawn: Treebank, name: str, copies: int
) -> None:
    path = tmp_path_factory.mktemp("equal") / f"bank.{name}"
    treemean.write(drawn, path, format=name, unwritable="skip")
    bank = treemean.read(path, format=name)
    mean = average([bank] * copies)
    assert mean == bank
    assert [{**tree.metadata} for tree in bank] == [without_method(tree) for tree in mean]
    again = path.with_suffix(".again")
    treemean.write(mean, again, format=name)
    assert treemean.read(again, format=name) == bank


def without_method(tree: Tree) -> dict[str, str]:
    return {key: value for key, value in tree.metadata.items() if key != "average_method"}


@pytest.mark.parametrize("name", FORMATS)
def test_the_sample_is_its_own_average_in_every_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"gold.{name}"
    treemean.write(sample.gold(), path, format=name, unwritable="skip")
    bank = treemean.read(path, format=name)
    for labelled in (False, True):
        mean = average([bank] * 4, labelled=labelled)
        assert mean == bank
        treemean.write(mean, tmp_path / "mean", format=name)
        assert treemean.read(tmp_path / "mean", format=name) == bank


@pytest.mark.skipif(not ALPINO.exists(), reason="the Alpino treebank is not here")
def test_the_alpino_treebank_is_its_own_average() -> None:
    bank = treemean.read(ALPINO)
    mean = average([bank] * 3)
    assert mean == bank
    assert (mean.sentence_values["objective"] == 1).all()
    assert (mean.constituent_values["support_labelled"] == 1).all()


def test_batches_are_counted_first(tmp_path: Path) -> None:
    """What is frequent at the end of a file decides ties at its beginning; standard input is read once."""
    count = 3000  # more than a batch
    first = Treebank.from_trees([phrase("AP")] + [phrase("NP")] * count)
    second = Treebank.from_trees([phrase("NP")] + [phrase("NP")] * count)
    treemean.write(first, tmp_path / "first.dbr")
    treemean.write(second, tmp_path / "second.dbr")
    arguments = ("second.dbr", "-o", "mean.dbr", "--from", "discbracket")
    run("average", "first.dbr", *arguments, cwd=tmp_path)
    assert chain_of(treemean.read(tmp_path / "mean.dbr")[0]) == ["NP"]
    text = (tmp_path / "first.dbr").read_text()
    run("average", "-", *arguments, cwd=tmp_path, text=text)
    assert chain_of(treemean.read(tmp_path / "mean.dbr")[0]) == ["NP"]
