"""Tables of spans of a parser: every span of the chart, its posterior, and the words that the tree has."""

from __future__ import annotations

import pytest
import torch

from treemean import SpanTable, Treebank
from treemean.errors import InvalidOption
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.spans import SpanPosteriors
from treemean.parsing import Model, Vocabulary, parse
from treemean.parsing.parse import POSTERIOR
from treemean.trees import bitsets

torch.set_num_threads(1)

SENTENCES = ["De kat slaapt .".split(), [], ["Ja"], ["!", "?"], "( De oude kat , slaapt vandaag )".split()]
SIZES = {
    "tn-lcfrs": {"discontinuous": 3, "ranks": (4, 2, 4, 2)},
    "c-lcfrs": {"discontinuous": 3, "latent": 4},
    "n-pcfg": {},
}


def model_of(kind: str) -> Model:
    torch.manual_seed(1)
    vocabulary = Vocabulary(["de", "kat", "slaapt", "N"])
    config = GrammarConfig(kind, 4, 5, embedding=8, **{"discontinuous": 0, **SIZES[kind]})
    return Model(build_grammar(config, len(vocabulary)), vocabulary)


def table_of(model: Model, **options: object) -> tuple[Treebank, SpanTable]:
    tables: list[SpanTable] = []
    trees = Treebank.concatenate(list(parse(model, SENTENCES, spans=tables.append, **options)))
    return trees, SpanTable.concatenate(tables)


def rows_of(table: SpanTable, sentence: int) -> dict[int, float]:
    own = table[sentence : sentence + 1]
    masks = [mask_of_row(row) for _, rows in own.columns.rows() for row in rows]
    return dict(zip(masks, own.posteriors.tolist(), strict=True))


def mask_of_row(row) -> int:
    return sum(int(word) << 64 * place for place, word in enumerate(row))


@pytest.mark.parametrize("kind", SIZES)
def test_listed_spans_are_those_of_the_chart(kind: str) -> None:
    """Of every set of words, the chart is asked for its posterior; the sentences differ in length."""
    grammar = model_of(kind).grammar
    words, lengths = (
        torch.tensor([[1, 2, 3, 0, 1], [2, 1, 4, 0, 0], [3, 0, 0, 0, 0]]),
        torch.tensor([5, 3, 1]),
    )
    with torch.no_grad():
        charts = grammar.posteriors(words, lengths)
    for least in (0.0, 0.1, 0.3):
        listed = charts.above(least)
        for s, n in enumerate(lengths.tolist()):
            inner = (m for m in range(1, 1 << n) if 2 <= m.bit_count() < n and bitsets.fan_out_of(m) <= 2)
            known = {mask: charts.of(s, mask) for mask in inner}
            assert dict(listed[s]) == {m: pytest.approx(p) for m, p in known.items() if p > least}
            assert len(listed[s]) == len(dict(listed[s]))
            assert charts.expected()[s] == pytest.approx(sum(known.values()), abs=1e-6)
            assert charts.expected()[s] == pytest.approx(max(n - 2, 0), abs=1e-4)  # trees are binary


def test_a_certain_span_is_not_more_than_certain() -> None:
    charts = SpanPosteriors(torch.diag_embed(torch.ones(1, 4), 1))
    charts.continuous[0, 0, 2] = 1.0000002
    assert charts.above(0.5) == [[(0b11, 1.0)]]


def test_tables_have_the_words_and_the_order_of_the_trees() -> None:
    trees, table = table_of(model_of("tn-lcfrs"), posteriors=True, span_threshold=0.0)
    assert table.columns.words == trees.words
    assert table.columns.lengths.tolist() == trees.lengths.tolist()
    assert table.expected.tolist() == pytest.approx([1, 0, 0, 0, 3], abs=1e-4)
    for s, tree in enumerate(trees):
        listed = rows_of(table, s)
        for constituent in tree.constituents:
            if 2 <= constituent.mask.bit_count() < len(tree.words):
                assert listed[constituent.mask] == pytest.approx(constituent.values[POSTERIOR])
    assert len(rows_of(table, 4)) > 20  # of five words


@pytest.mark.parametrize("way", ["put-back", "root"])
def test_punctuation_goes_where_it_goes_in_trees(way: str) -> None:
    trees, table = table_of(model_of("tn-lcfrs"), punctuation=way, span_threshold=0.0)
    assert table.columns.words == trees.words
    for s, tree in enumerate(trees):
        own = {c.mask for c in tree.constituents}
        assert {mask for mask in own if mask.bit_count() >= 2} <= set(rows_of(table, s))


def test_long_sentences_have_no_spans_but_the_whole() -> None:
    trees, table = table_of(model_of("tn-lcfrs"), max_length=4)
    assert rows_of(table, 4) == {0b11111: 1.0}
    assert table.expected[4] == 0
    assert [c.mask for c in trees[4]] == [0b11111]


def test_the_threshold_is_a_probability() -> None:
    for wrong in (-0.1, 1.1, float("nan"), "a"):
        with pytest.raises(InvalidOption, match="threshold of spans"):
            table_of(model_of("n-pcfg"), span_threshold=wrong)
