"""Agreement of runs: against the naive version, and what must hold whatever the trees are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_agreement import by_chance, f1, has, who_has_what

import treemean
from commands import python, without_room
from strategies import parallel_treebanks
from treemean import InvalidOption, MismatchError, Tree, Treebank, agree
from treemean.agreement import Agreement, of_pairs, with_others
from treemean.agreement.streaming import agree_batches
from treemean.evaluation import agreement, evaluate
from treemean.trees import bitsets
from treemean.trees.strings import CodedStrings

#: Short sentences, so that some share their length, and few of them, so that all ways can be tried.
SMALL = {"runs": 3, "max_sentences": 5, "min_words": 3, "max_words": 4, "labels": ("A", "B")}


def same(value: float, expected: float | None) -> bool:
    return np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)


@given(parallel_treebanks(runs=3, punctuation=True), st.booleans())
def test_f1_is_that_of_the_standard_protocol(runs: list[Treebank], labelled: bool) -> None:
    found = agree(runs, labelled=labelled)
    assert np.array_equal(np.nan_to_num(found.f1), agreement(runs, labelled=labelled))


@given(parallel_treebanks(**SMALL), st.booleans())
def test_against_the_naive_version(runs: list[Treebank], labelled: bool) -> None:
    found = agree(runs, labelled=labelled, punctuation=())
    for i, ours in enumerate(runs):
        for j, theirs in enumerate(runs):
            sides = [[has(tree, labelled) for tree in bank] for bank in (ours, theirs)]
            assert same(found.f1[i, j], f1(*sides))
            compared, expected = by_chance(ours, theirs, labelled)
            assert same(found.chance.f1[i, j], compared)
            assert same(found.chance.expected[i, j], expected)
            corrected = None
            if expected is not None and expected < 100 - 1e-9:
                corrected = (compared - expected) / (100 - expected)
            assert same(found.chance.corrected[i, j], corrected)
    assert found.chance.sentences + found.chance.alone == len(runs[0])


@given(parallel_treebanks(runs=3, max_words=6, labels=("A", "B")), st.booleans())
def test_dispute_and_who_has_what(runs: list[Treebank], labelled: bool) -> None:
    found = agree(dict(zip("abc", runs, strict=True)), labelled=labelled, punctuation=())
    if len(runs[0]):
        scores = [evaluate(found.average, run, labelled=labelled, punctuation=()).sentence_f1 for run in runs]
        assert found.dispute == pytest.approx(1 - np.mean(scores, axis=0) / 100)
    order = [sentence.sentence for sentence in found.disputed_sentences()]
    assert order == sorted(order, key=lambda s: (-found.dispute[s - 1], s))
    rows = list(found.disputed())
    assert [row.sentence for row in rows] == sorted((r.sentence for r in rows), key=order.index)
    for sentence in found.disputed_sentences():
        s = sentence.sentence - 1
        expected = {
            (key[0], key[1], key[2], frozenset("abc"[number] for number in who))
            for key, who in who_has_what(runs, s, labelled).items()
            if len(who) < 3
        }
        own = [row for row in rows if row.sentence == s + 1]
        told = {(bitsets.mask_of(r.positions), r.label or "", r.copy, frozenset(r.runs)) for r in own}
        assert told == expected
        assert len(own) == len(expected) == sentence.constituents
        average = has(found.average[s], labelled)
        for row in own:
            assert row.share == pytest.approx(len(row.runs) / 3)
            assert row.words == tuple(runs[0][s].words[p] for p in row.positions)
            assert row.in_average == (average[bitsets.mask_of(row.positions), row.label or ""] >= row.copy)


def facts(found: Agreement) -> dict[str, object]:
    """Return what does not depend on the order of the runs, by their names."""
    order = np.argsort(found.runs)
    tables = (found.f1, found.chance.f1, found.chance.expected)
    return {
        "tables": [table[np.ix_(order, order)].tolist() for table in tables],
        "sentences": list(found.disputed_sentences()),
        "constituents": [row._replace(runs=tuple(sorted(row.runs))) for row in found.disputed()],
    }


@given(parallel_treebanks(runs=4, punctuation=True), st.permutations("abcd"), st.booleans())
def test_the_order_of_the_runs_does_not_matter(
    runs: list[Treebank], order: list[str], labelled: bool
) -> None:
    named = dict(zip("abcd", runs, strict=True))
    found = agree(named, labelled=labelled)
    other = agree({name: named[name] for name in order}, labelled=labelled)
    np.testing.assert_equal(facts(other), facts(found))


@given(parallel_treebanks(runs=3, punctuation=True), st.booleans())
def test_tables_are_symmetric_with_100_on_the_diagonal(runs: list[Treebank], labelled: bool) -> None:
    found = agree(runs, labelled=labelled)
    for table in (found.f1, found.chance.f1, found.chance.expected, found.chance.corrected):
        np.testing.assert_array_equal(table, table.T)
    for table, full in ((found.f1, 100), (found.chance.f1, 100), (found.chance.corrected, 1)):
        diagonal = np.diag(table)
        assert set(diagonal[~np.isnan(diagonal)].tolist()) <= {full}
    for row in np.flatnonzero(~np.isnan(found.means)):
        others = [found.f1[row, k] for k in range(3) if k != row and not np.isnan(found.f1[row, k])]
        assert found.means[row] == pytest.approx(sum(others) / len(others))


@given(parallel_treebanks(runs=1), st.booleans())
def test_equal_runs_agree_in_everything(runs: list[Treebank], labelled: bool) -> None:
    found = agree(runs * 3, labelled=labelled)
    assert set(found.f1[~np.isnan(found.f1)].tolist()) <= {100}
    corrected = found.chance.corrected
    assert set(corrected[~np.isnan(corrected)].tolist()) <= {1}
    assert (np.isnan(corrected) == (np.isnan(found.chance.f1) | (found.chance.expected == 100))).all()
    assert not found.dispute.any()
    assert not list(found.disputed())


# ---- known cases ------------------------------------------------------------------------------------


def bank(*trees: Tree) -> Treebank:
    return Treebank.from_trees(trees)


def tree(text: str, *sets: set[int], id: str = "", tags: list[str] | None = None, label: str = "X") -> Tree:
    words = text.split()
    inner = [(members, label) for members in sets]
    return Tree(words, [(range(len(words)), "S"), *inner], id=id, **({"tags": tags} if tags else {}))


def test_agreement_by_chance_of_two_sentences() -> None:
    """Of two sentences of a length there is one way to deal trees anew: they change places."""
    ann = bank(tree("a b c", {0, 1}), tree("d e f", {1, 2}))
    bob = bank(tree("a b c", {0, 1}), tree("d e f", {0, 1}))
    found = agree({"ann": ann, "bob": bob})
    assert found.f1.tolist() == [[100, 50], [50, 100]]
    # Trees of ann are never the same, those of bob always; of the trees of ann, bob always has the first.
    assert found.chance.expected.tolist() == [[0, 50], [50, 100]]
    assert found.chance.corrected[0].tolist() == [1, 0]
    assert np.isnan(found.chance.corrected[1, 1])


def test_a_sentence_alone_in_its_length_says_nothing_about_chance() -> None:
    ann = bank(tree("a b c", {0, 1}), tree("d e f", {1, 2}), tree("a b c d", {0, 1}))
    bob = bank(tree("a b c", {0, 1}), tree("d e f", {0, 1}), tree("a b c d", {2, 3}))
    found = agree([ann, bob])
    assert (found.chance.sentences, found.chance.alone) == (2, 1)
    assert found.f1[0, 1] == pytest.approx(100 / 3)
    assert (found.chance.f1[0, 1], found.chance.expected[0, 1]) == (50, 50)


def test_labels_and_copies() -> None:
    ann, bob = bank(tree("a b c", {0, 1}, {0, 1}, label="NP")), bank(tree("a b c", {0, 1}, label="NP"))
    assert agree([ann, bob]).f1[0, 1] == 100
    found = agree({"ann": ann, "bob": bob}, labelled=True)
    assert found.f1[0, 1] == pytest.approx(200 / 3)
    assert [(row.label, row.copy, row.runs) for row in found.disputed()] == [("NP", 2, ("ann",))]
    other = agree([bob, bank(tree("a b c", {0, 1}, label="VP"))], labelled=True)
    assert other.f1[0, 1] == 0


def test_runs_with_and_without_punctuation() -> None:
    """A word is punctuation if any run with all the words says so; positions are of the sentence with it."""
    tags = ["n", "punct", "v", "p"]
    ann = bank(tree("a x b c", {0, 1, 2}, tags=tags, id="s"))
    bob = bank(tree("a x b c", {2, 3}))
    cem = bank(tree("a b c", {0, 2}))
    for runs in ({"ann": ann, "bob": bob, "cem": cem}, {"cem": cem, "bob": bob, "ann": ann}):
        found = agree(runs)
        told = {row.runs: (row.positions, row.words) for row in found.disputed()}
        assert told == {
            ("ann",): ((0, 2), ("a", "b")),
            ("bob",): ((2, 3), ("b", "c")),
            ("cem",): ((0, 3), ("a", "c")),
        }


def test_sentences_by_id_case_and_escaped_brackets() -> None:
    ann = bank(tree("De -LRB- kat", {0, 2}, id="x"), tree("a b c", {0, 1}, id="y"))
    bob = bank(tree("a b c", {0, 1}, id="y"), tree("de ( kat", {0, 2}, id="x"))
    found = agree([ann, bob], match="id", ignore_case=True, punctuation=[])
    assert found.f1[0, 1] == 100
    assert [sentence.id for sentence in found.disputed_sentences()] == ["x", "y"]


def test_sentences_of_nothing_but_punctuation_are_left_out() -> None:
    found = agree([bank(tree("a b c", {0, 1}), tree(". .")), bank(tree("a b c", {0, 1}))])
    assert found.dropped == {"no words are left without punctuation": ("#2",)}
    assert found.sentences.tolist() == [0]


@pytest.mark.parametrize("runs", [[], [bank(tree("a b c"))]])
def test_one_run_has_nobody_to_agree_with(runs: list[Treebank]) -> None:
    with pytest.raises(InvalidOption, match="agreement is between two runs or more"):
        agree(runs)


def test_other_words_are_told_by_the_names_of_the_runs() -> None:
    ann, bob = bank(tree("a b c", id="q")), bank(tree("a d c"))
    with pytest.raises(MismatchError, match=r"^sentence 1 \(id 'q'\): word 2 is 'd' in bob and 'b' in ann"):
        agree({"ann": ann, "bob": bob})
    with pytest.raises(MismatchError, match=r"^run 2 has 0 sentences and run 1 has 1"):
        agree([ann, Treebank.empty()])
    with pytest.raises(MismatchError, match=r"^sentence 1 of bob has no id"):
        agree({"ann": ann, "bob": bob}, match="id")
    with pytest.raises(
        InvalidOption, match="run 2: a tree, a treebank or a list of trees is needed, not a int"
    ):
        agree([ann, 7])  # type: ignore[list-item]
    with pytest.raises(InvalidOption, match="a list of treebanks, not a Treebank"):
        agree(ann)  # type: ignore[arg-type]


@pytest.mark.parametrize("runs", [Treebank.empty(), bank(tree("a"), tree("b")), bank(tree("a b"))])
def test_nothing_to_compare_is_no_score(runs: Treebank) -> None:
    found = agree([runs, runs])
    for table in (found.f1, found.means, found.chance.expected, found.chance.corrected):
        assert np.isnan(table).all()
    assert np.isnan(of_pairs(found.f1))
    told = found.to_dict()
    assert told["f1"] == [[None, None], [None, None]]
    assert (told["mean_f1"], told["overall_f1"]) == ([None, None], None)
    assert not found.dispute.any()


def test_means_leave_out_what_is_no_score() -> None:
    nan = float("nan")
    table = np.array([[100, 50, nan], [50, 100, 40], [nan, 40, nan]])
    assert with_others(table).tolist() == [50, 45, 40]
    assert of_pairs(table) == 45


# ---- real data --------------------------------------------------------------------------------------


def test_the_ten_published_runs(lassy: Callable[[str, str], Treebank]) -> None:
    runs = {name: lassy("test", name) for name in (f"run{number:02}" for number in range(1, 11))}
    found = agree(runs)
    assert np.array_equal(found.f1, agreement(list(runs.values())))
    pairs = found.f1[np.triu_indices(10, 1)]
    told = (of_pairs(found.f1), pairs.min(), pairs.max())
    assert told == pytest.approx((60.36, 50.03, 73.09), abs=0.005)
    assert (found.chance.sentences, found.chance.alone) == (1048, 1)
    for row, other in ((0, 1), (3, 8)):  # trees are dealt anew at random: the mean is what was computed
        ours, theirs = (list(runs.values())[k] for k in (row, other))
        assert found.chance.expected[row, other] == pytest.approx(drawn(ours, theirs), abs=0.5)


def drawn(ours: Treebank, theirs: Treebank) -> float:
    """Return the mean F1 when each sentence gets the tree of another one of its length, at random."""
    rng = np.random.default_rng(0)
    masks = [[{c.mask for c in tree if 1 < len(c) < len(tree)} for tree in bank] for bank in (ours, theirs)]
    scores = []
    for _ in range(20):
        matched = both = 0
        for length in np.unique(ours.lengths):
            places = rng.permutation(np.flatnonzero(ours.lengths == length)).tolist()
            if len(places) > 1:
                step = rng.integers(1, len(places))
                for a, b in zip(places, places[step:] + places[:step], strict=True):
                    matched += len(masks[0][a] & masks[1][b])
                    both += len(masks[0][a]) + len(masks[1][b])
        scores.append(200 * matched / both)
    return float(np.mean(scores))


def test_spoilt_copies_of_alpino_with_labels(data_folder: Path) -> None:
    """Copies in which other labels were put agree as far as labels were left alone; copies agree fully."""
    path = data_folder / "dutch" / "alpino.xml.gz"
    if not path.is_file():
        pytest.skip(f"the treebank is absent: there is no file {path}")
    gold = next(iter(treemean.read_batches(path)))[:300]
    rng = np.random.default_rng(1)

    def spoilt(rate: float) -> Treebank:
        labels = ["spoilt" if rng.random() < rate else label for label in gold.labels.tolist()]
        return gold.with_columns(labels=CodedStrings.of(labels))

    runs = {"gold": gold, "copy": gold, "some": spoilt(0.1), "many": spoilt(0.5)}
    found = agree(runs, labelled=True)
    assert found.f1[0, 1] == 100
    assert found.chance.corrected[0, 1] == 1
    assert 87 < found.f1[0, 2] < 93
    assert 45 < found.f1[0, 3] < 55
    assert found.means.argmin() == 3
    assert (agree(runs).f1 == 100).all()
    for other in ("copy", "some", "many"):
        score = evaluate(runs[other], gold, labelled=True).overall.f1
        assert found.f1[0, found.runs.index(other)] == score


@given(parallel_treebanks(runs=3, punctuation=True, labels=("A", "B")), st.booleans(), st.integers(1, 4))
def test_batch_by_batch_as_at_once(runs: list[Treebank], labelled: bool, size: int) -> None:
    """All numbers, to the last bit; one run lacks its punctuation."""
    runs[1] = treemean.transforms.remove_punctuation(runs[1], drop_empty=False)
    named = dict(zip("abc", runs, strict=True))
    at_once = agree(named, labelled=labelled)
    parts = [[run[start : start + size] for run in runs] for start in range(0, len(runs[0]), size)]
    found = agree_batches(lambda: iter(parts), "abc", labelled=labelled)
    assert found.to_dict() == at_once.to_dict()
    assert np.array_equal(found.dispute, at_once.dispute)
    assert [*found.disputed()] == [*at_once.disputed()]
    assert found.unproven == at_once.unproven


def test_no_sentences_batch_by_batch() -> None:
    found = agree_batches(lambda: iter([]), ["a", "b"])
    assert found.to_dict() == agree({"a": Treebank.empty(), "b": Treebank.empty()}).to_dict()


def test_a_full_disk_for_temporary_files_is_told(tmp_path):
    """In one line, without the complaints of files that are closed at the end."""
    for number, run in enumerate(treemean.sample.runs()[:2]):
        treemean.write(run, tmp_path / f"{number}.jsonl")

    command = ("-m", "treemean", "agree", "0.jsonl", "1.jsonl")
    done = python(*command, code=1, cwd=tmp_path, **without_room(20_000))
    assert done.stderr.startswith("error: temporary files in ")
    assert done.stderr.count("\n") == 1
