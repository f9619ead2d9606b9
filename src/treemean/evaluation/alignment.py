"""Bringing a predicted and a gold treebank together: the same sentences, the same words, no punctuation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treemean.errors import MismatchError, TreemeanError
from treemean.evaluation.protocols import Protocol
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.punctuation import punctuation_mask, remove_words, unescape_brackets
from treemean.trees.strings import CodedStrings
from treemean.trees.treebank import gather, offsets_of

Match = Literal["position", "id"]
Flags = NDArray[np.bool_]

NO_WORDS = "no words are left without punctuation"
TOO_LONG = "longer than the limit"


@dataclass(frozen=True)
class Alignment:
    """Two treebanks over the same words, without punctuation.

    Parameters
    ----------
    predicted, gold : treebanks of the sentences to score.
    sentences : int64, the place of each of them in the gold treebank that was given.
    dropped : for every reason the places of the sentences left out.
    """

    predicted: Treebank
    gold: Treebank
    sentences: Ints
    dropped: dict[str, Ints]


def align(
    predicted: Treebank,
    gold: Treebank,
    protocol: Protocol,
    *,
    match: Match = "position",
    max_length: int | None = None,
    punctuation: str | Collection[str] = "auto",
) -> Alignment:
    """Pair the sentences of two treebanks, check their words, and remove punctuation from both.

    What is punctuation is decided by the gold treebank. A predicted sentence has all the words of the gold
    one, or lacks those that are punctuation (with or without the words that the protocol adds). Sentences
    that are not scored, being too long or nothing but punctuation, may be absent from the prediction.
    Raises `MismatchError` where the treebanks do not fit together.
    """
    if max_length is not None and max_length < 1:
        raise TreemeanError(f"the length limit must be 1 or more, not {max_length}")
    by_list = punctuation == "auto" and bool(protocol.punctuation_words)
    plain = punctuation_mask(gold, "tag" if by_list else punctuation)
    removed = plain | _listed_punctuation(gold, protocol) if by_list else plain
    left = _words_left(gold, removed)
    length = gold.lengths if protocol.length_with_punctuation else left

    wordy = left > 0
    scored = wordy & (length <= (np.inf if max_length is None else max_length))
    dropped = {NO_WORDS: np.flatnonzero(~wordy), TOO_LONG: np.flatnonzero(wordy & ~scored)}
    pairs = _pairs(predicted, gold, [_words_left(gold, plain) > 0, wordy, scored], match)
    chosen_predicted = _taken(predicted, pairs[:, 0])
    chosen_gold = _taken(gold, pairs[:, 1])
    if chosen_gold is not gold:
        tokens = gather(gold.word_offsets, pairs[:, 1])
        plain, removed = plain[tokens], removed[tokens]

    present = _check_words(chosen_predicted, chosen_gold, [plain, removed], pairs)
    if removed.any():
        chosen_predicted = remove_words(chosen_predicted, removed[present], drop_empty=False)
        chosen_gold = remove_words(chosen_gold, removed, drop_empty=False)
    return Alignment(
        chosen_predicted, chosen_gold, pairs[:, 1], {why: at for why, at in dropped.items() if len(at)}
    )


def _listed_punctuation(gold: Treebank, protocol: Protocol) -> Flags:
    listed = protocol.punctuation_words
    return gold.words.where(lambda word: unescape_brackets(word) in listed)


def _words_left(treebank: Treebank, removed: Flags) -> Ints:
    """Return how many words every sentence has left."""
    return np.diff(offsets_of(~removed)[treebank.word_offsets])


def _taken(treebank: Treebank, indices: Ints) -> Treebank:
    """Return the sentences at some places, without copying if that is all of them in order."""
    if len(indices) == len(treebank) and np.array_equal(indices, np.arange(len(treebank))):
        return treebank
    return treebank.take(indices)


# ---- sentences --------------------------------------------------------------------------------------


def _pairs(predicted: Treebank, gold: Treebank, may_be_all: list[Flags], match: Match) -> Ints:
    """Return an (m, 2) array: places in the prediction and in the gold of the sentences to score.

    Parameters
    ----------
    may_be_all : bool[S] each, which sentences of the gold the prediction may consist of, if not of all; the
        last are those to score.
    """
    if match == "id":
        return _pairs_by_id(predicted, gold, may_be_all[-1])
    if match != "position":
        raise TreemeanError(f"sentences can be matched by 'position' or 'id', not by {match!r}")
    for present in [np.ones(len(gold), dtype=bool), *may_be_all]:
        if len(predicted) == present.sum():
            pairs = np.stack([np.arange(len(predicted)), np.flatnonzero(present)], axis=1)
            return pairs[may_be_all[-1][pairs[:, 1]]]
    scored = int(may_be_all[-1].sum())
    raise MismatchError(
        f"the prediction has {len(predicted)} sentences and the gold has {len(gold)}"
        + (f", {scored} of them to be scored" if scored < len(gold) else "")
        + _first_difference(predicted, gold)
    )


def _first_difference(predicted: Treebank, gold: Treebank) -> str:
    """Say where two treebanks with different numbers of sentences part."""
    both = min(len(predicted), len(gold))
    for index in range(both):
        a, b = _words_of(predicted, index), _words_of(gold, index)
        if a != b:
            return f"; the first difference is at {_sentence(gold.ids[index], index)}\n{_side_by_side(a, b)}"
    longer, name = (predicted, "prediction") if len(predicted) > both else (gold, "gold")
    return (
        f"; the first {both} agree, and only the {name} has {_sentence(longer.ids[both], both)}: "
        + " ".join(_words_of(longer, both)[:20])
    )


def _pairs_by_id(predicted: Treebank, gold: Treebank, scored: Flags) -> Ints:
    places = {name: index for index, name in enumerate(_unique_ids(predicted, "prediction"))}
    gold_ids = _unique_ids(gold, "gold")
    extra = places.keys() - set(gold_ids)
    missing = [name for name, wanted in zip(gold_ids, scored.tolist()) if wanted and name not in places]
    complaints = [
        f"{len(names)} {'sentence' if len(names) == 1 else 'sentences'} of the {there} "
        f"{'is' if len(names) == 1 else 'are'} missing in the {here}: {_listed(names)}"
        for names, there, here in (
            (missing, "gold", "prediction"),
            (sorted(extra), "prediction", "gold"),
        )
        if names
    ]
    if complaints:
        raise MismatchError("; ".join(complaints))
    chosen = np.flatnonzero(scored)
    found = [places[gold_ids[index]] for index in chosen.tolist()]
    return np.stack([np.array(found, dtype=np.int64), chosen], axis=1)


def _unique_ids(treebank: Treebank, role: str) -> list[str]:
    ids = treebank.ids.tolist()
    if "" in ids:
        raise MismatchError(f"sentence {ids.index('') + 1} of the {role} has no id to match by")
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise MismatchError(f"ids occur more than once in the {role}: {_listed(repeated)}")
    return ids


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:10]) + (", …" if len(names) > 10 else "")


# ---- words ------------------------------------------------------------------------------------------


def _check_words(predicted: Treebank, gold: Treebank, removals: list[Flags], pairs: Ints) -> Flags:
    """Return which words of the gold are in the prediction: bool[N], in the order of the prediction.

    Parameters
    ----------
    removals : bool[N] each, several ways to remove punctuation from the gold; a predicted sentence may have
        been left whole or changed in one of these ways, which its length tells.
    pairs : (m, 2), the places of the sentences in the treebanks that were given, for messages.
    """
    present = np.zeros(len(gold.words), dtype=bool)
    fits = np.zeros(len(gold), dtype=bool)
    for removed in [np.zeros_like(present), *removals]:
        lengths_agree = ~fits & (predicted.lengths == _words_left(gold, removed))
        present |= np.repeat(lengths_agree, gold.lengths) & ~removed
        fits |= lengths_agree
    if not fits.all():
        s = int(np.argmin(fits))
        left = _words_left(gold, removals[-1])[s]
        raise MismatchError(
            f"{_sentence(gold.ids[s], pairs[s, 1])}: the prediction has {predicted.lengths[s]} words, "
            f"the gold has {gold.lengths[s]}"
            + (f", {left} without punctuation\n" if left < gold.lengths[s] else "\n")
            + _side_by_side(_words_of(predicted, s), _words_of(gold, s))
        )
    predicted_codes, gold_codes = _comparable(predicted.words, gold.words)
    different = predicted_codes != gold_codes[present]
    if different.any():
        word = int(np.argmax(different))
        s = int(np.searchsorted(predicted.word_offsets, word, side="right")) - 1
        position = word - int(predicted.word_offsets[s])
        ours = _words_of(predicted, s)
        theirs = [w for w, there in zip(_words_of(gold, s), present[_span(gold, s)].tolist()) if there]
        raise MismatchError(
            f"{_sentence(gold.ids[s], pairs[s, 1])}: word {position + 1} is {ours[position]!r} "
            f"in the prediction and {theirs[position]!r} in the gold\n{_side_by_side(ours, theirs)}"
        )
    return present


def _comparable(a: CodedStrings, b: CodedStrings) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return codes of two columns of words in one vocabulary, in which escaped brackets are brackets."""
    codes = CodedStrings.concatenate([a.map(unescape_brackets), b.map(unescape_brackets)]).codes
    return codes[: len(a)], codes[len(a) :]


def _span(treebank: Treebank, s: int) -> slice:
    return slice(int(treebank.word_offsets[s]), int(treebank.word_offsets[s + 1]))


def _words_of(treebank: Treebank, s: int) -> list[str]:
    span = _span(treebank, s)
    return list(treebank.words.decode(span.start, span.stop))


def _sentence(name: str, index: int) -> str:
    """Name a sentence by its number, counted from 1, and its id."""
    return f"sentence {index + 1} (id {name!r})" if name else f"sentence {index + 1}"


def _side_by_side(predicted: list[str], gold: list[str]) -> str:
    """Show two lists of words around their first difference."""
    same = 0
    while same < min(len(predicted), len(gold)) and predicted[same] == gold[same]:
        same += 1
    start = max(0, same - 5)
    lines = []
    for role, words in (("predicted", predicted), ("gold", gold)):
        shown = " ".join(words[start : start + 20])
        lines.append(f"  {role:9}: {'… ' if start else ''}{shown}{' …' if len(words) > start + 20 else ''}")
    return "\n".join(lines)
