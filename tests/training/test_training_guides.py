"""Guided runs: trees of the training sentences whose constituents count for more."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import treemean
from parser_instances import tiny_config
from training_instances import COMPOUND, Interrupted, failing, model_bytes
from treemean.errors import FormatError, InvalidOption, TreemeanError
from treemean.parsing import Model, parse, read_sentences
from treemean.training import TrainingConfig, train
from treemean.training.folders import checksum_of
from treemean.training.guides import spans_of
from treemean.training.single import prepare_folder
from treemean.training.together import Job, train_together
from treemean.trees import Tree, Treebank
from treemean.trees.punctuation import remove_punctuation

#: Rules over symbols, from which nothing is drawn while a run learns.
DENSE = ("grammar.kind=n-pcfg", "grammar.ranks=[]", "grammar.discontinuous=0")


def trees_of(config: TrainingConfig) -> list[Tree]:
    """Return left-branching trees over the words of the training sentences, with a gap in those of four."""
    trees = []
    for sentence in read_sentences(config.data.train[0]):
        words, kept = sentence.words, sentence.kept
        sets = [set(range(len(words)))] + [set(kept[:size]) for size in range(2, len(kept))]
        if len(kept) == 4:
            sets[1:] = [{kept[0], kept[2]}, set(kept[:3])]
        trees.append(Tree(words, [(found, "") for found in sets]))
    return trees


def guided(
    folder: Path, *overrides: str, trees: list[Tree] | None = None, weight: float = 5.0
) -> TrainingConfig:
    config = tiny_config(folder, *overrides)
    path = folder / "guides.jsonl"
    treemean.write(Treebank.from_trees(trees_of(config) if trees is None else trees), path)
    data = replace(config.data, guides=(str(path),))
    return replace(config, data=data, training=replace(config.training, guidance=weight))


def test_spans_among_the_words_that_a_parser_sees():
    tree = Tree(
        "a , b c d".split(),
        [(range(5), "S"), ({0, 1, 2, 4}, "X"), ({0, 1}, "Y"), ({2, 4}, "Z"), ({0, 1, 2, 3, 4}, "T")],
    )
    assert spans_of(tree, (0, 2, 3, 4)) == [(0, 2, 3, 4), (1, 2, 3, 4)]
    two_gaps = Tree("a b c d e".split(), [(range(5), "S"), ({0, 2, 4}, "X")])
    assert spans_of(two_gaps, (0, 1, 2, 3, 4)) == []


@pytest.mark.parametrize("overrides", [(), COMPOUND])
def test_what_guides_have_is_learnt(tmp_path, overrides):
    """More of the constituents of the guides are found than by a run that gives them no weight."""
    overrides = (*overrides, "training.epochs=6", "optimiser.rate=0.02")
    found = {}
    for weight in (5.0, 0.0):
        config = guided(tmp_path, *overrides, weight=weight)
        model = Model.load(train(config, tmp_path / f"{weight}").model)
        trees = trees_of(config)
        if not model.grammar.config.has_gaps:
            trees = [Tree(t.words, [c for c in t.constituents if c.is_continuous]) for t in trees]
        gold = Treebank.from_trees(trees)
        parsed = Treebank.concatenate(list(parse(model, read_sentences(config.data.train[0]))))
        found[weight] = treemean.evaluate(parsed, gold).overall.f1
    assert found[5.0] > found[0.0] + 10
    plain = train(tiny_config(tmp_path, *overrides), tmp_path / "plain")
    assert model_bytes(tmp_path / "plain")[0] == model_bytes(tmp_path / "0.0")[0], plain


def test_gaps_that_guides_lack_are_unlearnt(tmp_path):
    """With little weight on other gaps, a run proposes fewer gaps of its own."""
    overrides, found = ("training.epochs=6", "optimiser.rate=0.02", "grammar.gap_share=0.5"), {}
    for other in (0.0, -6.0):
        config = guided(tmp_path, *overrides, weight=0.0)
        config = replace(config, training=replace(config.training, other_gaps=other))
        model = Model.load(train(config, tmp_path / f"{other}").model)
        guides = remove_punctuation(Treebank.from_trees(trees_of(config)), by="word")
        own = {tree.words: {c.mask for c in tree.constituents} for tree in guides}
        parsed = Treebank.concatenate(list(parse(model, read_sentences(config.data.train[0]))))
        found[other] = sum(
            not c.is_continuous and c.mask not in own[tree.words]
            for tree in parsed
            for c in tree.constituents
        )
    assert found[-6.0] < found[0.0] / 2


def test_guided_runs_go_on_bit_for_bit(tmp_path):
    config = guided(tmp_path)
    train(config, tmp_path / "whole")
    for stop in (4, 9):
        with pytest.raises(Interrupted):
            train(config, tmp_path / "parts", make_learner=failing(stop=stop))
    train(config, tmp_path / "parts")
    assert model_bytes(tmp_path / "whole") == model_bytes(tmp_path / "parts")
    (tmp_path / "guides.jsonl").unlink()  # what is kept is enough
    train(replace(config, run=replace(config.run, order_seed=1)), tmp_path / "parts")


def test_micro_batches_take_their_own_weights(tmp_path):
    whole, parts = guided(tmp_path, "training.precision=float64"), tmp_path / "parts"
    first = Model.load(train(whole, tmp_path / "whole").model)
    second = Model.load(train(replace(whole, batches=replace(whole.batches, at_once=1)), parts).model)
    for own, other in zip(first.grammar.parameters(), second.grammar.parameters()):
        assert own.allclose(other, atol=1e-8)


def test_other_trees_are_told(tmp_path):
    trees = trees_of(tiny_config(tmp_path))
    cases = {
        r"guides\.jsonl: there are only 35 trees, fewer than sentences": trees[:-1],
        r"guides\.jsonl: there are more trees than the 36 sentences": [*trees, trees[0]],
        r"guides\.jsonl: tree 1 is of 'Ik zie de kat', not of 'De kat slaapt \.'": trees[1:],
    }
    for number, (message, given) in enumerate(cases.items()):
        with pytest.raises(FormatError, match=message):
            prepare_folder(guided(tmp_path, trees=given), tmp_path / str(number))
    text = replace(tiny_config(tmp_path).data, guides=(str(tmp_path / "train.txt"),))
    with pytest.raises(FormatError, match=r"train\.txt: guides are trees, but this is plain text"):
        prepare_folder(replace(tiny_config(tmp_path), data=text), tmp_path / "text")
    with pytest.raises(InvalidOption, match=r"data\.guides needs as many files as data\.train"):
        replace(text, guides=("a", "b"))


def test_too_strong_guidance_is_told(tmp_path):
    training = guided(tmp_path, weight=15.0).training
    with pytest.raises(InvalidOption, match=r"must add up to something from -20 to 20, not 25"):
        replace(training, gap_guidance=10.0)
    with pytest.raises(InvalidOption, match=r"training\.other_gaps works only with data\.guides"):
        tiny_config(tmp_path, "training.other_gaps=-3")


def test_guidance_too_strong_for_float32_is_computed_again(tmp_path):
    """Factors of many gaps, one in another, are more than float32 has room for: no step is left out."""
    trees = []
    for sentence in read_sentences(tiny_config(tmp_path).data.train[0]):
        kept = sentence.kept
        nested = [{kept[0], *kept[2:end]} for end in range(3, len(kept) + 1)]
        trees.append(
            Tree(sentence.words, [(found, "") for found in [set(range(len(sentence.words))), *nested]])
        )
    overrides = ("training.epochs=1", "batches.first_limit=7")
    config = guided(tmp_path, *overrides, trees=trees, weight=20.0)
    config = replace(config, training=replace(config.training, other_gaps=-20.0))
    model = Model.load(train(config, tmp_path / "runs").model)
    lines = (tmp_path / "runs" / "run01" / "metrics.jsonl").read_text().splitlines()
    events = {json.loads(line)["event"] for line in lines}
    assert "redo" in events
    assert "skip" not in events
    assert all(bool(parameter.isfinite().all()) for parameter in model.grammar.parameters())


def test_trees_without_punctuation_are_the_same_guides(tmp_path):
    whole = guided(tmp_path)
    expected = prepare_folder(whole, tmp_path / "whole").guides
    bare = list(remove_punctuation(Treebank.from_trees(trees_of(whole)), by="word"))
    found = prepare_folder(guided(tmp_path, trees=bare), tmp_path / "bare").guides
    assert expected is not None
    assert found is not None
    assert (expected.spans == found.spans).all()
    assert (expected.offsets == found.offsets).all()


def test_guides_are_part_of_what_decides_a_run(tmp_path):
    config, plain = guided(tmp_path), tiny_config(tmp_path)
    data, folder = prepare_folder(plain, tmp_path / "plain"), tmp_path / "guided"
    assert "guid" not in " ".join(plain.deciding())  # runs from before there were guides go on
    found = prepare_folder(config, folder)
    assert found.guides is not None
    assert "guiding constituents" in found.describe()
    assert checksum_of(config, found.facts) != checksum_of(plain, data.facts)
    with pytest.raises(TreemeanError, match=r"made from files of other content \(data\.guides\)"):
        prepare_folder(plain, folder)
    with pytest.raises(TreemeanError, match=r"made from files of other content \(data\.guides\)"):
        prepare_folder(config, tmp_path / "plain")
    Path(plain.data.train[0]).unlink()  # contents cannot be compared any more
    for given, place, word in ((plain, folder, "with"), (config, tmp_path / "plain", "without")):
        with pytest.raises(TreemeanError, match=rf"was made {word} data\.guides"):
            prepare_folder(given, place)


@pytest.mark.parametrize("overrides", [(), ("batches.lengths=mixed", "batches.at_once=2"), DENSE])
def test_guided_runs_together_are_what_they_are_alone(tmp_path, overrides):
    """And each has its own guidance, and its own for gaps."""
    overrides = (*overrides, "training.precision=float64", "training.epochs=1")
    configs = [guided(tmp_path, *overrides, weight=weight) for weight in (5.0, 1.0, 1.0)]
    configs[2] = replace(configs[2], training=replace(configs[2].training, gap_guidance=2.0, other_gaps=-3.0))
    jobs = [Job(config, tmp_path / f"together{number}", 1) for number, config in enumerate(configs)]
    train_together(jobs)
    for number, config in enumerate(configs):
        alone = Model.load(train(config, tmp_path / f"alone{number}").model)
        beside = Model.load(tmp_path / f"together{number}" / "run01" / "model")
        for own, other in zip(alone.grammar.parameters(), beside.grammar.parameters(), strict=True):
            assert own.allclose(other, rtol=0, atol=1e-7)
    if configs[0].grammar.has_gaps:
        second, third = (model_bytes(tmp_path / f"alone{number}") for number in (1, 2))
        assert second != third
    plain = Job(tiny_config(tmp_path, *overrides), tmp_path / "plain")
    with pytest.raises(InvalidOption, match=r"with data\.guides and without cannot be trained together"):
        train_together([Job(configs[0], tmp_path / "guided"), plain])


def test_every_sentence_of_a_batch_has_the_spans_of_its_own_tree(tmp_path):
    config = guided(tmp_path)
    data, known = prepare_folder(config, tmp_path / "out"), {}
    assert data.guides is not None
    for tree in trees_of(config):
        kept = data.normalisation.kept(tree.words)
        words = [data.normalisation.word(tree.words[position]) for position in kept]
        known[tuple(data.vocabulary.numbers(words))] = set(spans_of(tree, kept))
    places = data.train.lengths.argsort()[::-1].copy()
    how = replace(config.training, guidance=2.0, gap_guidance=1.5, other_gaps=-3.0)
    weights = data.guides.weights(places, how)
    for number, place in enumerate(places.tolist()):
        start, end = data.train.offsets[place : place + 2].tolist()
        own = {tuple(span) for span in weights.spans[weights.sentences == number].tolist()}
        assert own == known[tuple(data.train.numbers[start:end].tolist())]
    gapped = weights.spans[:, 1] != weights.spans[:, 2]
    assert gapped.any()
    assert set(weights.logarithms[gapped].tolist()) == {3.5}
    assert set(weights.logarithms[~gapped].tolist()) == {2.0}
    assert weights.others is not None
    assert weights.others.tolist() == [-3.0] * len(places)
