"""What averages of treebanks and tables of spans tell: labels, support, ids; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from naive_span_average import averaged, row_of, table_of

from instances import tree_of
from treemean import InvalidOption, MismatchError, SpanTable, Tree, Treebank, TreemeanError, average
from treemean.averaging import all_optima, count_labels, k_best
from treemean.trees import Constituent, SpanRow

# ---- labels -----------------------------------------------------------------------------------------


def test_treebanks_vote_on_labels_and_tables_where_there_is_none() -> None:
    tree = Treebank.from_trees(
        [Tree("a b c d e".split(), [(range(5), "S"), ({0, 1}, "NP")], tags="D N V D N".split())]
    )
    words = tree[0].words
    agreed = SpanRow(words, "", [(0b00011, 1.0), (0b11000, 1.0)], 2.0)
    one, two = table_of(agreed, label="X"), table_of(agreed, label="Y")
    result = average([tree, one, two, two], [1, 1, 1, 1])[0]
    assert [(c.positions, c.label) for c in result] == [((0, 1, 2, 3, 4), "S"), ((0, 1), "NP"), ((3, 4), "Y")]
    assert result.tags == ("D", "N", "V", "D", "N")
    result = average([tree, one, two], [1, 3, 2])[0]
    assert [c.label for c in result] == ["S", "NP", "X"]
    # Of a treebank without weight nobody hears anything.
    result = average([tree, one], [0, 1])[0]
    assert [c.label for c in result] == ["X", "X", "X"]


def test_chains_of_labels_and_functions_are_those_of_treebanks() -> None:
    tree = Tree(
        "a b c".split(),
        [Constituent(0b111, "ROOT"), Constituent(0b111, "S", "x"), Constituent(0b011, "NP", "su")],
    )
    bank = Treebank.from_trees([tree])
    table = table_of(SpanRow(tree.words, "", [(0b011, 0.9), (0b110, 0.1)], 1.0), label="T")
    for weights in ([1, 1], [1, 5]):
        result = average([bank, table], weights)[0]
        assert [(c.mask, c.label, c.function) for c in result] == [
            (0b111, "ROOT", ""),
            (0b111, "S", "x"),
            (0b011, "NP", "su"),
        ]


def test_votes_of_treebanks_are_counted_without_those_of_tables() -> None:
    def bank(label: str) -> Treebank:
        return Treebank.from_trees([Tree("a b c".split(), [({0, 1, 2}, "S"), ({0, 1}, label)])])

    table = table_of(SpanRow("a b c".split(), "", [(0b011, 1.0)], 1.0), label="B")
    result = average([bank("A"), bank("B"), table], [2, 1, 9])[0]
    assert [c.label for c in result] == ["S", "A"]


# ---- what comes out ---------------------------------------------------------------------------------


def test_labels_of_tables_decide_no_votes_of_treebanks() -> None:
    words = ["a", "b", "c", "d"]
    banks = [Treebank.from_trees([tree_with(words, label)]) for label in "AB"]
    table = SpanTable.from_rows([SpanRow(words, "", [(0b1100, 0.1), (0b11, 1.0)], 1.0)], "B")
    assert [c.label for c in average(banks)[0]] == ["S", "A"]
    assert [c.label for c in average([*banks, table])[0]] == ["S", "A"]


def test_labels_of_tables_are_not_counted_beside_treebanks() -> None:
    bank = Treebank.from_trees([tree_with(["a", "b", "c", "d"], "A")])
    table = SpanTable.from_rows([SpanRow(["a", "b", "c", "d"], "", [(0b11, 1.0)], 1.0)], "B")
    of_bank, of_table = count_labels([[bank, table], [bank, table]])
    assert of_bank.chains == {("S",): 2, ("A",): 2}
    assert not of_table.chains
    assert count_labels([[table]])[0].chains == {("B",): 2}


def test_tables_say_nothing_of_single_words() -> None:
    words = ["a", "b", "c", "d"]
    bank = Treebank.from_trees([Tree(words, [(range(4), "S"), ({0, 1}, "A"), ({3}, "N")])])
    table = SpanTable.from_rows([SpanRow(words, "", [(0b11, 1.0)], 1.0)])
    assert [c.label for c in average([bank, table, table])[0]] == ["S", "A", "N"]


def tree_with(words: list[str], label: str) -> Tree:
    return Tree(words, [(range(4), "S"), ({0, 1}, label)])


def test_there_is_no_support_of_labels() -> None:
    bank = Treebank.from_trees([tree_of(3, [0b011])])
    table = table_of(row_of(3, [(0b011, 0.5)], 1.0))
    assert average([bank, table]).constituent_values.keys() == {"support"}
    assert average([bank]).constituent_values.keys() == {"support", "support_labelled"}


def test_support_that_a_reader_can_check() -> None:
    tree = tree_of(4, [0b0011])
    row = row_of(4, [(0b0011, 0.5), (0b1001, 0.75)], 1.0)
    result = averaged([tree, row], {"continuous": [1, 3], "discontinuous": [0, 1]}, additive=True)
    # 0011 is worth 1·1 + 3·0.5, of 4; the gapped one crosses it, and is worth 0.75.
    assert [(c.mask, c.values["support"]) for c in result] == [(0b1111, 1.0), (0b0011, 2.5 / 4)]
    assert result.values["objective"] == 2.5 / 4
    alone = averaged([row], additive=True)
    assert [(c.mask, c.values["support"]) for c in alone] == [(0b1111, 1.0), (0b1001, 0.75)]


def test_ids_and_metadata_are_those_of_the_first_individual() -> None:
    tree = tree_of(3, []).replace(id="mine", metadata={"source": "us"})
    row = row_of(3, [(0b011, 1.0)], 1.0, id="other")
    result = averaged([tree, row])
    assert (result.id, dict(result.metadata)) == ("mine", {"source": "us", "average_method": "exact"})
    assert averaged([row]).id == "other"


# ---- what is refused --------------------------------------------------------------------------------

BANK = Treebank.from_trees([tree_of(3, [0b011]), tree_of(2, [])])
TABLE = table_of(row_of(3, [(0b011, 0.5), (0b110, 0.5)], 1.0), row_of(2, [], 0.0))


def test_tables_come_after_treebanks() -> None:
    for given_ in ([TABLE, BANK], [BANK, TABLE, BANK]):
        with pytest.raises(InvalidOption, match=r"^give tables of spans after all treebanks$"):
            average(given_)


@pytest.mark.parametrize("method", ["majority", "integer-programming", "dynamic-programming", "select"])
def test_other_methods_take_no_tables(method: str) -> None:
    message = f"^the method {method} takes no tables of spans; the method exact does$"
    with pytest.raises(InvalidOption, match=message):
        average([BANK, TABLE], method=method)


@pytest.mark.parametrize(
    ("options", "which"),
    [
        ({"labelled": True}, "labelled averages"),
        ({"labelled": True, "unaries": "none"}, "labelled averages"),
        ({"ties": lambda constituent: 1}, "values for ties"),
        ({"ties": [{}, {}]}, "values for ties"),
    ],
)
def test_what_needs_labels_or_trees(options: dict[str, object], which: str) -> None:
    for individuals in ([BANK, TABLE], [TABLE]):
        with pytest.raises(InvalidOption, match=f"they cannot be used with {which}$"):
            average(individuals, **options)  # type: ignore[arg-type]


def test_a_table_is_no_list_and_no_tree() -> None:
    with pytest.raises(InvalidOption, match=r"must be a list of treebanks.*not a SpanTable"):
        average(TABLE)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="all trees or all treebanks, not some of each"):
        average([tree_of(3, []), TABLE])
    for function in (all_optima, lambda individuals: k_best(individuals, 2)):
        with pytest.raises(InvalidOption, match="must be a list of trees over one sentence"):
            function([TABLE])


def test_hits_that_do_not_fit_a_table() -> None:
    with pytest.raises(InvalidOption, match="individual 2 has 4 constituents, but hits of shape"):
        average([BANK, TABLE], hits=[np.ones(3), np.ones(3)])
    with pytest.raises(InvalidOption, match="one array for each of 2 individuals"):
        average([BANK, TABLE], hits=[np.ones(3)])
    with pytest.raises(InvalidOption, match="individual 1 has no constituent values named 'posterior'"):
        average([BANK, TABLE], hits="posterior")


def test_weights_count_tables() -> None:
    with pytest.raises(InvalidOption, match="1 weights for 2 individuals"):
        average([BANK, TABLE], [1])
    with pytest.raises(InvalidOption, match="all weights are zero"):
        average([TABLE], [0])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE[:1], r"^individual 2 has 1 sentences, individual 1 has 2$"),
        (
            table_of(row_of(3, [], 0.0), row_of(3, [], 0.0, id="x")),
            r"^sentence 2: individual 2 has 3 words, individual 1 has 2$",
        ),
        (
            table_of(row_of(3, [], 0.0), SpanRow(["w0", "other"], "", [], 0.0)),
            r"^sentence 2: word 2 is 'other' in individual 2 and 'w1' in individual 1$",
        ),
    ],
)
def test_other_sentences(table: SpanTable, message: str) -> None:
    with pytest.raises(MismatchError, match=message):
        average([BANK, table])
    with pytest.raises(MismatchError, match=message.replace("individual 2", "individual 3")):
        average([BANK, TABLE, table])


def test_damaged_columns_are_refused() -> None:
    """Columns that no reader returns, but somebody may make."""
    for values, message in (
        (
            {"constituent_values": {"posterior": np.array([1.0, 1.5, 0.5, 1.0])}},
            "posterior that is not between",
        ),
        ({"constituent_values": {"posterior": np.array([1.0, np.nan, 0.5, 1.0])}}, "must be finite"),
        ({"sentence_values": {"expected": np.array([-1.0, 0.0])}}, "a size that no tree has, in sentence 1"),
    ):
        damaged = SpanTable(TABLE.columns.with_columns(**values))
        with pytest.raises(TreemeanError, match=message):
            average([BANK, damaged])
