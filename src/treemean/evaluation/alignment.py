"""Bringing a predicted and a gold treebank together: the same sentences, the same words, no punctuation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treemean.errors import MismatchError, TreemeanError, check_type
from treemean.evaluation.deletion import evalb_errors, removed_words, sentence_lengths
from treemean.evaluation.protocols import Protocol
from treemean.names import Match
from treemean.trees import Treebank
from treemean.trees.bitsets import Ints
from treemean.trees.punctuation import remove_words, unescape_brackets
from treemean.trees.strings import comparable
from treemean.trees.treebank import gather, offsets_of

Flags = NDArray[np.bool_]
#: What messages call the two sides.
Names = tuple[str, str]
#: What they are called where nobody names them.
ROLES: Names = ("the prediction", "the gold")

NO_WORDS = "no words are left without punctuation"
TOO_SHORT = "fewer words than the protocol asks for"
EVALB_ERROR = "other words are left by the predicted tags, an error in EVALB"
TOO_LONG = "longer than the limit"


@dataclass(frozen=True)
class Alignment:
    """Two treebanks over the same words, without punctuation.

    Parameters
    ----------
    predicted, gold : treebanks of the sentences to score.
    sentences : int64, the place of each of them in the gold treebank that was given.
    lengths : int64, how long each of them is as the protocol measures it.
    dropped : for every reason the places of the sentences left out.
    """

    predicted: Treebank
    gold: Treebank
    sentences: Ints
    lengths: Ints
    dropped: dict[str, Ints]


def align(
    predicted: Treebank,
    gold: Treebank,
    protocol: Protocol,
    *,
    match: Match = "position",
    max_length: int | None = None,
    punctuation: str | Collection[str] = "auto",
    ignore_case: bool = False,
    names: Names = ROLES,
    first: int = 0,
) -> Alignment:
    """Pair the sentences of two treebanks, check their words, and remove punctuation from both.

    What is punctuation is decided by the gold treebank. A predicted sentence has all the words of the gold
    one, or lacks those that are punctuation (with or without the words that the protocol adds). Sentences
    that are not scored, being too long or nothing but punctuation, may be absent from the prediction.
    Raises `MismatchError` where the treebanks do not fit together; `names` is what it calls them, and `first`
    is how many sentences come before these, for its numbers.
    """
    check_type(names[0], predicted, Treebank)
    check_type(names[1], gold, Treebank)
    if max_length is not None and max_length < 1:
        raise TreemeanError(f"the length limit must be 1 or more, not {max_length}")
    plain, removed = removed_words(gold, protocol, punctuation)
    left = _words_left(gold, removed)
    length = sentence_lengths(gold, left, protocol)

    wordy = left >= max(1, protocol.min_words) if protocol.min_words else np.ones(len(gold), dtype=bool)
    scored = wordy & (length <= (np.inf if max_length is None else max_length))
    dropped = {
        NO_WORDS: np.flatnonzero(~wordy & (left == 0)),
        TOO_SHORT: np.flatnonzero(~wordy & (left > 0)),
        TOO_LONG: np.flatnonzero(wordy & ~scored),
    }
    same_word = _same_word(protocol, ignore_case)
    may_be_all = [_words_left(gold, plain) > 0, left > 0, wordy, scored]
    pairs = _pairs(predicted, gold, may_be_all, match, same_word, names)
    chosen_predicted = _taken(predicted, pairs[:, 0])
    chosen_gold = _taken(gold, pairs[:, 1])
    if chosen_gold is not gold:
        tokens = gather(gold.word_offsets, pairs[:, 1])
        plain, removed = plain[tokens], removed[tokens]

    places = pairs[:, 1] + first
    present = _check_words(chosen_predicted, chosen_gold, [plain, removed], places, same_word, names)
    if protocol.parameters is not None and protocol.parameters.program == "EVALB":
        removed, wrong = evalb_errors(chosen_predicted, chosen_gold, removed, present, protocol.parameters)
        if wrong.any():
            dropped[EVALB_ERROR] = pairs[wrong, 1]
            pairs = pairs[~wrong]
            tokens = gather(chosen_gold.word_offsets, np.flatnonzero(~wrong))
            removed, present = removed[tokens], present[tokens]
            chosen_predicted, chosen_gold = chosen_predicted.take(~wrong), chosen_gold.take(~wrong)
    if removed.any():
        chosen_predicted = remove_words(chosen_predicted, removed[present], drop_empty=False)
        chosen_gold = remove_words(chosen_gold, removed, drop_empty=False)
    return Alignment(
        chosen_predicted,
        chosen_gold,
        pairs[:, 1],
        length[pairs[:, 1]],
        {why: at for why, at in dropped.items() if len(at)},
    )


def _words_left(treebank: Treebank, removed: Flags) -> Ints:
    """Return how many words every sentence has left."""
    return np.diff(offsets_of(~removed)[treebank.word_offsets])


def _taken(treebank: Treebank, indices: Ints) -> Treebank:
    """Return the sentences at some places, without copying if that is all of them in order."""
    if len(indices) == len(treebank) and np.array_equal(indices, np.arange(len(treebank))):
        return treebank
    return treebank.take(indices)


# ---- sentences --------------------------------------------------------------------------------------


def _pairs(
    predicted: Treebank,
    gold: Treebank,
    may_be_all: list[Flags],
    match: Match,
    as_compared: Callable[[str], str],
    names: Names,
) -> Ints:
    """Return an (m, 2) array: places in the prediction and in the gold of the sentences to score.

    Parameters
    ----------
    may_be_all : bool[S] each, which sentences of the gold the prediction may consist of, if not of all; the
        last are those to score.
    as_compared : what words count as.
    """
    if match == "id":
        return _pairs_by_id(predicted, gold, may_be_all[-1], names)
    if match != "position":
        raise TreemeanError(f"sentences can be matched by 'position' or 'id', not by {match!r}")
    for present in [np.ones(len(gold), dtype=bool), *may_be_all]:
        if len(predicted) == present.sum():
            pairs = np.stack([np.arange(len(predicted)), np.flatnonzero(present)], axis=1)
            return pairs[may_be_all[-1][pairs[:, 1]]]
    scored = int(may_be_all[-1].sum())
    raise MismatchError(
        f"{names[0]} has {len(predicted)} sentence{'s' * (len(predicted) != 1)} "
        f"and {names[1]} has {len(gold)}"
        + (f", {scored} of them to be scored" if scored < len(gold) else "")
        + _first_difference(predicted, gold, as_compared, names)
    )


def _first_difference(
    predicted: Treebank, gold: Treebank, as_compared: Callable[[str], str], names: Names
) -> str:
    """Say where two treebanks with different numbers of sentences part."""
    both = min(len(predicted), len(gold))
    for index in range(both):
        a, b = _words_of(predicted, index), _words_of(gold, index)
        if list(map(as_compared, a)) != list(map(as_compared, b)):
            where = sentence_name(gold.ids[index], index)
            return f"; the first difference is at {where}\n{_side_by_side(a, b, names)}"
    longer, name = (predicted, names[0]) if len(predicted) > both else (gold, names[1])
    agree = f"the first {both} agree, and " if both > 1 else "the first agrees, and " if both else ""
    return f"; {agree}only {name} has {sentence_name(longer.ids[both], both)}: " + " ".join(
        _words_of(longer, both)[:20]
    )


def _pairs_by_id(predicted: Treebank, gold: Treebank, scored: Flags, called: Names) -> Ints:
    places = {name: index for index, name in enumerate(_unique_ids(predicted, called[0]))}
    gold_ids = _unique_ids(gold, called[1])
    extra = places.keys() - set(gold_ids)
    missing = [name for name, wanted in zip(gold_ids, scored.tolist()) if wanted and name not in places]
    complaints = [
        f"{len(names)} {'sentence' if len(names) == 1 else 'sentences'} of {there} "
        f"{'is' if len(names) == 1 else 'are'} missing in {here}: {_listed(names)}"
        for names, there, here in (
            (missing, called[1], called[0]),
            (sorted(extra), called[0], called[1]),
        )
        if names
    ]
    if complaints:
        raise MismatchError("; ".join(complaints))
    chosen = np.flatnonzero(scored)
    found = [places[gold_ids[index]] for index in chosen.tolist()]
    return np.stack([np.array(found, dtype=np.int64), chosen], axis=1)


def _unique_ids(treebank: Treebank, called: str) -> list[str]:
    ids = treebank.ids.tolist()
    if "" in ids:
        raise MismatchError(f"sentence {ids.index('') + 1} of {called} has no id to match by")
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise MismatchError(f"ids occur more than once in {called}: {_listed(repeated)}")
    return ids


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:10]) + (", …" if len(names) > 10 else "")


# ---- words ------------------------------------------------------------------------------------------


def _same_word(protocol: Protocol, ignore_case: bool) -> Callable[[str], str]:
    """Return what words are compared as: escaped brackets are brackets, and case may not matter."""
    equal = protocol.parameters.word_of if protocol.parameters is not None else str

    def as_compared(word: str) -> str:
        word = equal(unescape_brackets(equal(word)))
        return word.casefold() if ignore_case else word

    return as_compared


def _check_words(
    predicted: Treebank,
    gold: Treebank,
    removals: list[Flags],
    places: Ints,
    as_compared: Callable[[str], str],
    names: Names,
) -> Flags:
    """Return which words of the gold are in the prediction: bool[N], in the order of the prediction.

    Parameters
    ----------
    removals : bool[N] each, several ways to remove punctuation from the gold; a predicted sentence may have
        been left whole or changed in one of these ways, which its length tells.
    places : int64[m], the places of the sentences in the gold treebank, for messages.
    as_compared : what words count as; those that count as the same are the same.
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
            f"{sentence_name(gold.ids[s], places[s])}: {names[0]} has {predicted.lengths[s]} words, "
            f"{names[1]} has {gold.lengths[s]}"
            + (f", {left} without punctuation\n" if left < gold.lengths[s] else "\n")
            + _side_by_side(_words_of(predicted, s), _words_of(gold, s), names)
        )
    predicted_codes, gold_codes = comparable(predicted.words, gold.words, as_compared)
    different = predicted_codes != gold_codes[present]
    if different.any():
        word = int(np.argmax(different))
        s = int(np.searchsorted(predicted.word_offsets, word, side="right")) - 1
        position = word - int(predicted.word_offsets[s])
        ours = _words_of(predicted, s)
        theirs = [w for w, there in zip(_words_of(gold, s), present[_span(gold, s)].tolist()) if there]
        raise MismatchError(
            f"{sentence_name(gold.ids[s], places[s])}: word {position + 1} is {ours[position]!r} "
            f"in {names[0]} and {theirs[position]!r} in {names[1]}\n{_side_by_side(ours, theirs, names)}"
        )
    return present


def _span(treebank: Treebank, s: int) -> slice:
    return slice(int(treebank.word_offsets[s]), int(treebank.word_offsets[s + 1]))


def _words_of(treebank: Treebank, s: int) -> list[str]:
    span = _span(treebank, s)
    return list(treebank.words.decode(span.start, span.stop))


def sentence_name(name: str, index: int) -> str:
    """Name a sentence by its number, counted from 1, and its id."""
    return f"sentence {index + 1} (id {name!r})" if name else f"sentence {index + 1}"


def _side_by_side(predicted: list[str], gold: list[str], names: Names) -> str:
    """Show two lists of words around their first difference."""
    same = 0
    while same < min(len(predicted), len(gold)) and predicted[same] == gold[same]:
        same += 1
    start = max(0, same - 5)
    lines = []
    roles = [name.removeprefix("the ") for name in names]
    width = max(map(len, roles))
    for role, words in zip(roles, (predicted, gold), strict=True):
        shown = " ".join(words[start : start + 20])
        lines.append(
            f"  {role:{width}}: {'… ' if start else ''}{shown}{' …' if len(words) > start + 20 else ''}"
        )
    return "\n".join(lines)
