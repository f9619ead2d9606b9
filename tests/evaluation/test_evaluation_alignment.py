from __future__ import annotations

import pytest

from treemean.errors import MismatchError, TreemeanError
from treemean.evaluation import evaluate
from treemean.trees import Tree, Treebank


def bank_of(*sentences: str, ids: str = "", tags: str | None = None) -> Treebank:
    """Make flat trees of sentences; ids are single letters."""
    trees = []
    for i, sentence in enumerate(sentences):
        words = sentence.split()
        constituents = [(range(len(words)), "S")] if words else []
        trees.append(Tree(words, constituents, id=ids[i] if ids else "", tags=tags.split() if tags else None))
    return Treebank.from_trees(trees)


def message(predicted: Treebank, gold: Treebank, **options: object) -> str:
    with pytest.raises(MismatchError) as error:
        evaluate(predicted, gold, **options)
    return str(error.value)


def test_a_different_word_is_named() -> None:
    text = message(bank_of("a b", "c x e"), bank_of("a b", "c d e", ids="pq"))
    assert text.splitlines() == [
        "sentence 2 (id 'q'): word 2 is 'x' in the prediction and 'd' in the gold",
        "  prediction: c x e",
        "  gold      : c d e",
    ]


def test_a_different_word_behind_removed_punctuation_is_named() -> None:
    text = message(bank_of("a x"), bank_of("a , b"))
    assert text.startswith("sentence 1: word 2 is 'x' in the prediction and 'b' in the gold")


def test_case_can_be_ignored() -> None:
    predicted, gold = bank_of("de kat ZAT"), bank_of("De Kat zat")
    assert "word 1 is 'de' in the prediction and 'De' in the gold" in message(predicted, gold)
    assert evaluate(predicted, gold, ignore_case=True).exact_matches == 1
    assert "word 2 is 'kat'" in message(bank_of("De kat zat"), bank_of("de hond zat"), ignore_case=True)


def test_different_punctuation_is_a_different_word() -> None:
    assert "word 2 is ';' in the prediction" in message(bank_of("a ; b"), bank_of("a , b"))


def test_a_different_length_is_named() -> None:
    text = message(bank_of("a", "a b c d", ids="xy"), bank_of("a", "a , b c .", ids="xy"))
    assert text.splitlines()[0] == (
        "sentence 2 (id 'y'): the prediction has 4 words, the gold has 5, 3 without punctuation"
    )


def test_long_sentences_are_shown_around_the_difference() -> None:
    words = [f"w{i}" for i in range(100)]
    changed = [*words[:50], "other", *words[51:]]
    text = message(bank_of(" ".join(changed)), bank_of(" ".join(words)))
    assert "… w45 w46 w47 w48 w49 other w51" in text
    assert "w99" not in text


def test_a_different_number_of_sentences() -> None:
    text = message(bank_of("a", "c"), bank_of("a", "b", "c", ids="xyz"))
    assert "the prediction has 2 sentences and the gold has 3" in text
    assert "the first difference is at sentence 2 (id 'y')" in text
    text = message(bank_of("a", "b"), bank_of("a"))
    assert "the first agrees, and only the prediction has sentence 2: b" in text


def test_number_of_sentences_to_be_scored() -> None:
    assert "the gold has 3, 2 of them to be scored" in message(bank_of("a"), bank_of("a", ".", "b"))


def test_sentences_that_are_not_scored_may_be_absent() -> None:
    gold = bank_of("a", "...", "b c d", "e", ids="wxyz")
    assert evaluate(bank_of("a", "b c d", "e"), gold).sentences.tolist() == [0, 2, 3]
    assert evaluate(bank_of("a", "e"), gold, max_length=2).sentences.tolist() == [0, 3]
    by_id = evaluate(bank_of("e", "a", ids="zw"), gold, match="id", max_length=2)
    assert by_id.sentences.tolist() == [0, 3]
    assert "missing in the prediction: 'y'" in message(bank_of("e", "a", ids="zw"), gold, match="id")


def test_bracket_escapes_are_equal() -> None:
    gold = bank_of("f -LRB- x -RRB- f#LRB#", tags="n n n n n")
    evaluate(bank_of("f ( x #RRB# f("), gold, punctuation="tag")
    assert "word 2 is '['" in message(bank_of("f [ x ) f("), gold, punctuation="tag")


def test_prediction_and_gold_may_be_of_one_piece() -> None:
    both = bank_of("f (", "f -LRB-", tags="n n")
    evaluate(both[:1], both[1:], punctuation="tag")


def test_the_gold_decides_what_punctuation_is() -> None:
    gold = bank_of("a % b .", tags="noun noun noun punct")
    assert evaluate(bank_of("a % b ."), gold).by_length[0].sentences == 1
    evaluate(bank_of("a % b"), gold)
    assert "has 2 words, the gold has 4, 3 without punctuation" in message(bank_of("a b"), gold)
    evaluate(bank_of("a b"), gold, punctuation="word")
    evaluate(bank_of("a %"), gold, punctuation=["b", "."])


def test_each_sentence_may_have_its_punctuation_or_not() -> None:
    gold = bank_of("a , b .", "c , d .")
    assert len(evaluate(bank_of("a b", "c , d ."), gold).sentences) == 2


def test_words_of_the_discodop_protocol() -> None:
    """A word such as & is punctuation for that protocol though its tag is another."""
    gold = bank_of("a & b .", tags="noun noun noun punct")
    for predicted in ("a & b .", "a & b", "a b"):
        evaluation = evaluate(bank_of(predicted), gold, "discodop")
        assert evaluation.branching.depth == 1.0
    with pytest.raises(MismatchError):
        evaluate(bank_of("a b"), gold, "paper")


def test_discodop_deletes_listed_words_only() -> None:
    """A sign that is not on the list is a word, also where no tag tells what is punctuation."""
    gold = bank_of("5 % .")
    assert len(evaluate(bank_of("5 %"), gold, "discodop").sentences) == 1
    with pytest.raises(MismatchError):
        evaluate(bank_of("5"), gold, "discodop")
    assert len(evaluate(bank_of("5"), gold, "paper").sentences) == 1


def test_ids_that_are_missing_or_doubled() -> None:
    two = bank_of("a", "b", ids="xy")
    assert message(bank_of("a", "b", ids="xx"), two, match="id") == (
        "ids occur more than once in the prediction: 'x'"
    )
    assert (
        message(two, bank_of("a", "b", ids="yy"), match="id") == "ids occur more than once in the gold: 'y'"
    )
    assert message(bank_of("a", "b"), two, match="id") == "sentence 1 of the prediction has no id to match by"
    assert message(bank_of("a", "c", "d", ids="xzw"), two, match="id") == (
        "1 sentence of the gold is missing in the prediction: 'y'; "
        "2 sentences of the prediction are missing in the gold: 'w', 'z'"
    )


def test_wrong_options() -> None:
    bank = bank_of("a")
    with pytest.raises(TreemeanError, match="matched by 'position' or 'id', not by 'name'"):
        evaluate(bank, bank, match="name")  # type: ignore[arg-type]
    with pytest.raises(TreemeanError, match="1 or more, not 0"):
        evaluate(bank, bank, max_length=0)
    with pytest.raises(TreemeanError, match="no protocol 'papers'; known are standard, paper"):
        evaluate(bank, bank, "papers")
    with pytest.raises(TreemeanError, match="no metric 'f1'"):
        evaluate(bank, bank).counts("f1")  # type: ignore[arg-type]
