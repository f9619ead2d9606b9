"""Parameter files give the numbers of EVALB and disco-dop, and what is wrong in them is named.

The numbers below were printed by these programs for the pairs of `spoilt.py`, written by `treemean.write`:

- EVALB (Sekine, Collins; with the repair of quotes by Ellis, 2006): `evalb -p FILE gold.ptb predicted.ptb`;
- disco-dop 0.5.2: `discodop eval gold.discbracket predicted.discbracket FILE --fmt=discbracket`, with
  `--disconly` for DISC_ONLY, which its command line does not take from the file; and `--fmt=export`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoilt import continuous_pair, discontinuous_pair, spoilt_copies

from strategies import parallel_treebanks
from treemean.errors import InvalidOption, MismatchError, TreemeanError
from treemean.evaluation import Evaluation, LengthBin, Protocol, evaluate, read_prm
from treemean.evaluation.parameters import parse_parameters
from treemean.formats import read, write
from treemean.trees import Tree, Treebank

EVALB = """
# for the sample
DEBUG 0
MAX_ERROR 1000
CUTOFF_LEN 8
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL punct
DELETE_LABEL PP
DELETE_LABEL_FOR_LENGTH punct
EQ_LABEL ADVP PRT
EQ_LABEL noun XX
"""
DISCODOP = """
CUTOFF_LEN 9
LABELED 1
DELETE_LABEL ROOT
DELETE_LABEL punct
DELETE_WORD de
DELETE_LABEL_FOR_LENGTH punct
EQ_LABEL ADVP PRT
EQ_WORD -LRB- (
"""
UNLABELLED = ("LABELED 1", "LABELED 0")


def prm(folder: Path, text: str, **options: bool) -> Protocol:
    path = folder / "test.prm"
    path.write_text(text, encoding="utf-8")
    return read_prm(path, **options)


def printed(found: Evaluation | LengthBin) -> str:
    """Recall, precision, F1, exact match and tag accuracy, as the programs print them."""
    counts, tags = found.overall, found.tags
    assert tags is not None
    numbers = (counts.recall, counts.precision, counts.f1, found.exact_match, tags.accuracy)
    return " ".join(f"{number:.2f}" for number in numbers)


@pytest.mark.parametrize(
    ("text", "everything", "short"),
    [
        (EVALB, "64.42 69.46 66.84 17.04 92.78", "64.84 70.46 67.53 24.68 93.35"),
        (EVALB.replace(*UNLABELLED), "81.29 87.65 84.35 34.07 92.78", "81.05 88.08 84.42 44.94 93.35"),
    ],
)
def test_numbers_of_evalb(tmp_path: Path, text: str, everything: str, short: str) -> None:
    found = evaluate(*continuous_pair(), prm(tmp_path, text))
    assert found.cutoff is not None
    assert (printed(found), printed(found.cutoff)) == (everything, short)
    assert (len(found.sentences), found.cutoff.sentences) == (270, 158)  # "valid" ones
    assert sorted(len(names) for names in found.dropped.values()) == [1, 30]  # skipped, errors


@pytest.mark.parametrize(
    ("wrapped", "everything", "short"),
    [
        (("predicted", "gold"), "72.12 76.47 74.23 17.04 92.78", "74.78 79.32 76.98 24.68 93.35"),
        (("gold",), "50.48 69.46 58.47 0.00 92.78", "46.51 70.46 56.03 0.00 93.35"),
        (("predicted",), "64.42 53.53 58.47 0.00 92.78", "64.84 49.34 56.03 0.00 93.35"),
    ],
)
def test_evalb_counts_brackets_without_label_around_trees(
    tmp_path: Path, wrapped: tuple[str, ...], everything: str, short: str
) -> None:
    """`( (TOP …))` has one bracket more than `(TOP …)` has."""
    banks = []
    for name, bank in zip(("predicted", "gold"), continuous_pair(), strict=True):
        path = tmp_path / f"{name}.ptb"
        write(bank, path)
        if name in wrapped:
            path.write_text("".join(f"( {line})\n" for line in path.read_text().splitlines()))
        banks.append(read(path, keep_wrapper=True))
    found = evaluate(banks[0], banks[1], prm(tmp_path, EVALB))
    assert found.protocol.keep_wrapper
    assert found.cutoff is not None
    assert (printed(found), printed(found.cutoff)) == (everything, short)


@pytest.mark.parametrize(
    ("text", "keep_functions", "everything", "short"),
    [
        (DISCODOP, True, "62.61 68.63 65.48 10.56 90.50", "63.71 68.10 65.83 14.42 91.81"),
        (DISCODOP, False, "63.63 69.75 66.55 11.22 90.54", "64.92 69.40 67.08 15.38 91.89"),
        (
            DISCODOP.replace(*UNLABELLED),
            True,
            "82.39 90.31 86.17 27.72 90.50",
            "83.47 89.22 86.25 34.13 91.81",
        ),
        (
            DISCODOP + "DELETE_ROOT_PRETERMS 1\n",
            True,
            "62.65 68.77 65.57 11.55 91.03",
            "63.67 68.22 65.87 15.87 92.57",
        ),
        (DISCODOP + "DISC_ONLY 1\n", True, "63.33 73.89 68.21 50.30 90.50", "65.45 74.23 69.57 52.08 91.81"),
    ],
)
def test_numbers_of_discodop(
    tmp_path: Path, text: str, keep_functions: bool, everything: str, short: str
) -> None:
    """Functions stay in the labels of discbracket files; in export files they are left out."""
    found = evaluate(*discontinuous_pair(), prm(tmp_path, text, keep_functions=keep_functions))
    assert found.cutoff is not None
    assert (printed(found), printed(found.cutoff)) == (everything, short)
    assert (len(found.sentences), found.cutoff.sentences) == (303, 208)


@pytest.mark.parametrize(
    ("text", "everything", "short", "sentences"),
    [
        (EVALB, "57.57 63.98 60.61 3.90 93.44", "63.32 62.93 63.13 15.96 93.14", 188),
        (EVALB.replace(*UNLABELLED), "79.87 88.76 84.08 10.00 93.44", "87.21 86.69 86.95 34.57 93.14", 188),
        (DISCODOP, "58.42 64.32 61.23 3.30 89.90", "61.79 66.82 64.21 12.93 89.72", 232),
        (
            DISCODOP.replace(*UNLABELLED),
            "82.72 91.07 86.69 12.00 89.90",
            "84.35 91.20 87.64 34.05 89.72",
            232,
        ),
        (DISCODOP + "DISC_ONLY 1\n", "56.74 62.64 59.54 35.31 89.90", "53.85 67.74 60.00 44.12 89.72", 232),
    ],
)
def test_numbers_on_real_trees(
    tmp_path: Path, data_folder: Path, text: str, everything: str, short: str, sentences: int
) -> None:
    """The first thousand trees of Alpino; for EVALB without what is discontinuous."""
    path = data_folder / "dutch" / "alpino.xml.gz"
    if not path.is_file():
        pytest.skip(f"the Alpino treebank is absent: there is no file {path}")
    pair = spoilt_copies(read(path)[:1000], continuous="DELETE_WORD" not in text)
    found = evaluate(*pair, prm(tmp_path, text, keep_functions=True))
    assert found.cutoff is not None
    assert (printed(found), printed(found.cutoff)) == (everything, short)
    assert (len(found.sentences), found.cutoff.sentences) == (1000, sentences)


def test_a_small_case_of_evalb_by_hand(tmp_path: Path) -> None:
    """Words left: a b c. Gold brackets: S(abc), NP(ab), VP(c); TOP and the comma are deleted, and -SBJ goes.

    Predicted: S(abc), PRT(ab), NP(ab), VP(c), VP(c). PRT is ADVP, which is not in the gold. Matched are S, NP
    and one VP: recall 3/3, precision 3/5. Tags: b is wrong, c is right because VB and VBD are equal: 2/3.
    """
    words = ["a", ",", "b", "c"]
    gold = Tree(
        words,
        [(range(4), "TOP"), (range(4), "S"), ({0, 1, 2}, "NP-SBJ"), ({3}, "VP")],
        tags=["N", ",", "N", "VB"],
    )
    guess = Tree(
        words,
        [(range(4), "S"), ({0, 1, 2}, "PRT"), ({0, 2}, "NP=2"), ({3}, "VP"), ({3}, "VP-X")],
        tags=["N", ",", "J", "VBD"],
    )
    text = "DELETE_LABEL TOP\nDELETE_LABEL ,\nEQ_LABEL ADVP PRT\nEQ_LABEL VB VBD"
    found = evaluate(Treebank.from_trees([guess]), Treebank.from_trees([gold]), prm(tmp_path, text))
    assert (found.overall.matched, found.overall.predicted, found.overall.gold) == (3, 5, 3)
    assert printed(found) == "100.00 60.00 75.00 0.00 66.67"
    assert found.by_label["ADVP"].predicted == 1
    assert found.cutoff is not None
    assert found.cutoff.longest == 40  # where the file does not say


def test_quotes_are_put_back_as_in_evalb(tmp_path: Path) -> None:
    """The quote is deleted by the gold tag only; with QUOTE_LABEL both sides keep it."""
    words, constituents = ["'", "a", "b"], [(range(3), "S"), ({0, 1}, "X"), ({1}, "Y")]
    gold = Treebank.from_trees([Tree(words, constituents, tags=["''", "N", "N"])])
    guess = Treebank.from_trees([Tree(words, constituents, tags=["POS", "N", "N"])])
    text = "DELETE_LABEL ''\n"
    found = evaluate(guess, gold, prm(tmp_path, text))
    assert (len(found.sentences), list(found.dropped.values())) == (0, [("#1",)])
    found = evaluate(guess, gold, prm(tmp_path, text + "QUOTE_LABEL ''\nQUOTE_LABEL POS\n"))
    assert (found.overall.matched, found.lengths.tolist()) == (3, [3])


def test_equal_words(tmp_path: Path) -> None:
    one, other = (
        Treebank.from_trees([Tree([w, "kat"], [(range(2), "S")], tags=["D", "N"])]) for w in ("Die", "de")
    )
    with pytest.raises(MismatchError, match="word 1 is 'Die'"):
        evaluate(one, other, prm(tmp_path, "EQ_WORD de De"))
    assert evaluate(one, other, prm(tmp_path, "EQ_WORD de De\nEQ_WORD De Die")).exact_matches == 1


def test_the_file_says_whether_labels_count(tmp_path: Path) -> None:
    a, b = (Treebank.from_trees([Tree(["x", "y"], [(range(2), label)])]) for label in "AB")
    assert evaluate(a, b, prm(tmp_path, "LABELED 0")).overall.matched == 1
    assert evaluate(a, b, prm(tmp_path, "LABELED 0"), labelled=True).overall.matched == 0
    assert evaluate(a, b, prm(tmp_path, "")).overall.matched == 0
    assert evaluate(a, b, prm(tmp_path, ""), labelled=False).overall.matched == 1
    with pytest.raises(InvalidOption, match="leave out punctuation"):
        evaluate(a, b, prm(tmp_path, ""), punctuation="word")


def test_which_program_a_file_is_for() -> None:
    assert parse_parameters(EVALB).program == "EVALB"
    for line in ("DELETE_WORD x", "DISC_ONLY 0", "TED 0"):
        assert parse_parameters(f"{EVALB}{line}\n").program == "disco-dop"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("DELETE_LABELS X", "DELETE_LABELS is not supported; known are CUTOFF_LEN, DEBUG"),
        ("labeled 1", "labeled is not supported"),
        ("LABELED", "LABELED takes 1 value, not 0"),
        ("LABELED yes", "LABELED takes a whole number, not 'yes'"),
        ("LABELED 2", "LABELED is 0 or 1, not 2"),
        ("CUTOFF_LEN 0", "CUTOFF_LEN must be 1 or more, not 0"),
        ("CUTOFF_LEN --3", "CUTOFF_LEN takes a whole number"),
        ("EQ_LABEL ADVP", "EQ_LABEL takes 2 values, not 1"),
        ("DELETE_LABEL A B", "DELETE_LABEL takes 1 value, not 2"),
        ("TED 1", "TED is not supported: this score is not computed"),
        ("CUTOFF_LEN 3\nCUTOFF_LEN 4", "CUTOFF_LEN is given twice"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "bad.prm"
    path.write_text(f"# a comment\n\nDEBUG 0\n{line}\n", encoding="utf-8")
    with pytest.raises(TreemeanError) as error:
        read_prm(path)
    number = 4 + line.count("\n")
    assert str(error.value).startswith(f"{path}:{number}: {complaint}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TreemeanError, match=r"absent\.prm: No such file"):
        read_prm(tmp_path / "absent.prm")
    (tmp_path / "latin.prm").write_bytes(b"DELETE_WORD \xab\n")
    with pytest.raises(TreemeanError, match=r"latin\.prm: not UTF-8 .* byte 12"):
        read_prm(tmp_path / "latin.prm")


def naive_brackets(tree: Tree, deleted: set[int], drop: set[str]) -> Counter[tuple[tuple[int, ...], str]]:
    """The brackets of a tree, one at a time: PRT is ADVP, functions go, and so do deleted words."""
    brackets: Counter[tuple[tuple[int, ...], str]] = Counter()
    for c in tree.constituents:
        label = c.label.split("-")[0]
        label = "ADVP" if label == "PRT" else label
        left = tuple(p for p in c.positions if p not in deleted)
        if left and label not in drop:
            brackets[left, label] += 1
    return brackets


@given(
    parallel_treebanks(punctuation=True, labels=("S", "NP", "NP-SBJ", "ADVP", "PRT", "TOP")), st.booleans()
)
def test_equals_naive(banks: list[Treebank], labelled: bool) -> None:
    """Deleted words keep their numbers in the naive scorer: only which words are left matters."""
    predicted, gold = banks
    text = "DELETE_LABEL TOP\nDELETE_LABEL punct\nDELETE_WORD kat\nEQ_LABEL ADVP PRT"
    protocol = Protocol(
        name="test",
        used_by="this test",
        drop_whole_sentence=False,
        count_single_words=True,
        duplicates="multiset",
        min_words=0,
        labelled=labelled,
        parameters=parse_parameters(text),
    )
    counts = evaluate(predicted, gold, protocol).per_sentence["overall"]
    for s, (guess, truth) in enumerate(zip(predicted, gold, strict=True)):
        deleted = {p for p in range(len(truth)) if truth.tags[p] == "punct" or truth.words[p] == "kat"}
        ours, theirs = (naive_brackets(tree, deleted, {"TOP"}) for tree in (guess, truth))
        if not labelled:
            ours, theirs = (
                Counter((words, "") for (words, _), times in brackets.items() for _ in range(times))
                for brackets in (ours, theirs)
            )
        assert counts.matched[s] == (ours & theirs).total()
        assert (counts.predicted[s], counts.gold[s]) == (ours.total(), theirs.total())
