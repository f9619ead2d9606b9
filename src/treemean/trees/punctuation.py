"""Which words are punctuation, where it is attached, and trees without some of their words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treemean.errors import TreemeanError
from treemean.trees import bitsets
from treemean.trees.arguments import takes
from treemean.trees.bitsets import Bits, Ints
from treemean.trees.treebank import Treebank, gather, offsets_of

PUNCTUATION_TAGS: frozenset[str] = frozenset(
    {
        *(
            "punct",
            "LET",
            "let",
        ),  # Alpino, and Lassy and CGN (also with features, as in LET() or punct(komma))
        *("PUNCT", "PUNC"),  # Universal Dependencies, Arabic treebanks
        *("$.", "$,", "$(", "$["),  # NEGRA, TIGER, TüBa: the STTS tagset
        *("$*LRB*", "$LRB", "$-LRB-", "$#LRB#"),  # the same bracket, as it is escaped in bracketed files
        *(".", ",", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")"),  # Penn Treebank
        *("-LSB-", "-RSB-", "-LCB-", "-RCB-", "HYPH", "NFP"),  # and its later extensions
        *("PU", "PONCT", "interp"),  # Chinese Treebank, French Treebank, National Corpus of Polish
    }
)

_FEATURES = re.compile(r"^([A-Za-z]+)[(\[].*$")
_ESCAPED_BRACKET = re.compile(r"([-#*])([LR])([RSC])B\1", re.IGNORECASE)
_BRACKETS = {"LR": "(", "RR": ")", "LS": "[", "RS": "]", "LC": "{", "RC": "}"}
_CELLS = 1 << 20  # how many (constituent, position) cells are unpacked at a time


def unescape_brackets(word: str) -> str:
    """Return a word with the usual escapes of brackets undone.

    >>> unescape_brackets("-LRB-"), unescape_brackets("#RSB#"), unescape_brackets("kat")
    ('(', ']', 'kat')
    """
    return _ESCAPED_BRACKET.sub(lambda found: _BRACKETS[found[2].upper() + found[3].upper()], word)


def is_punctuation_tag(tag: str) -> bool:
    """Tell whether a part-of-speech tag is a known one for punctuation, with features or without.

    >>> [is_punctuation_tag(tag) for tag in ("punct", "LET()", "$(", "N(soort,ev)", "")]
    [True, True, True, False, False]
    """
    return tag in PUNCTUATION_TAGS or _FEATURES.sub(r"\1", tag) in PUNCTUATION_TAGS


def is_punctuation_word(word: str) -> bool:
    """Tell whether a word has no letter and no digit, of any script; escaped brackets have none either.

    >>> [is_punctuation_word(word) for word in ("...", "-LRB-", "’s", "3", "猫", "")]
    [True, True, False, False, False, False]
    """
    return word != "" and not any(character.isalnum() for character in unescape_brackets(word))


@takes(Treebank)
def punctuation_mask(treebank: Treebank, by: str | Collection[str] = "auto") -> NDArray[np.bool_]:
    """Decide for every word of a treebank whether it is punctuation.

    Parameters
    ----------
    by : `"tag"` (see `PUNCTUATION_TAGS`), `"word"` (no letter and no digit), `"auto"` (by tag if any known
        punctuation tag occurs in the treebank, else by word), or the words that are punctuation.

    Returns bool[N] over all words; every tag and word of the vocabulary is looked at once.

    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees([Tree(["Ja", ",", "hoor", "!"], [(range(4), "S")])])
    >>> punctuation_mask(bank).tolist(), punctuation_mask(bank, ["hoor"]).tolist()
    ([False, True, False, True], [False, False, True, False])
    """
    by = settle_punctuation(treebank, by)
    if not isinstance(by, str):
        words = frozenset(by)
        return treebank.words.where(lambda word: word in words)
    if by == "word":
        return treebank.words.where(is_punctuation_word)
    return treebank.tags.where(is_punctuation_tag)


@takes(Treebank)
def settle_punctuation(treebank: Treebank, by: str | Collection[str]) -> str | Collection[str]:
    """Return what `"auto"` means for a treebank, `"tag"` or `"word"`; other ways are given back.

    Whoever changes a treebank batch by batch settles this once, so that all batches are treated alike.
    """
    if by == "auto":
        return "tag" if treebank.tags.where(is_punctuation_tag).any() else "word"
    if isinstance(by, str) and by not in ("tag", "word"):
        raise TreemeanError(
            f"punctuation can be found by 'auto', 'tag', 'word' or a list of words, not by {by!r}"
        )
    return by


@takes(Treebank)
def remove_punctuation(
    treebank: Treebank, by: str | Collection[str] = "auto", drop_empty: bool = True
) -> Treebank:
    """Return a treebank without its punctuation; see `punctuation_mask` and `remove_words`."""
    return remove_words(treebank, punctuation_mask(treebank, by), drop_empty=drop_empty)


@takes(Treebank)
def remove_words(treebank: Treebank, mask: NDArray[Any], *, drop_empty: bool = True) -> Treebank:
    """Return a treebank without the words under a mask.

    The words left are renumbered, constituents left without words are gone, and the others are put in
    canonical order again; of sets that become equal the upper one stays the upper one.

    Parameters
    ----------
    mask : bool[N], true for words to remove.
    drop_empty : leave out sentences without words; otherwise they stay, empty.

    Time is linear in the sum of n per constituent of a sentence of n words, memory beside the result is
    bounded (but for one row of flags).

    >>> from treemean.trees import Tree
    >>> bank = Treebank.from_trees([Tree(["a", ",", "b"], [({0, 1, 2}, "S"), ({0, 1}, "X")])])
    >>> [(c.positions, c.label) for c in remove_words(bank, [False, True, False])[0]]
    [((0, 1), 'S'), ((0,), 'X')]
    """
    removed = np.asarray(mask, dtype=bool)
    if len(removed) != len(treebank.words):
        raise IndexError(f"a mask of {len(removed)} for a treebank of {len(treebank.words)} words")
    result = _without(treebank, removed) if removed.any() else treebank
    if drop_empty and not result.lengths.all():
        result = result.take(result.lengths > 0)
    return result


def _without(treebank: Treebank, removed: NDArray[np.bool_]) -> Treebank:
    """Return a treebank without some words, sentences left empty included."""
    left_before = offsets_of(~removed)
    squeezed = treebank.with_columns(  # not in canonical order yet
        word_offsets=left_before[treebank.word_offsets],
        words=treebank.words.take(~removed),
        tags=treebank.tags.take(~removed),
        word_functions=treebank.word_functions.take(~removed),
        bits=_squeezed_bits(treebank, removed, left_before),
    )
    return _in_canonical_order(squeezed)


def _in_canonical_order(treebank: Treebank) -> Treebank:
    """Return a treebank with its constituents in order, without empty ones; equal sets keep theirs."""
    order = np.lexsort((-treebank.sizes, treebank.firsts, treebank.sentence_of))
    order = order[treebank.sizes[order] > 0]
    width = np.repeat(bitsets.widths(treebank.lengths), treebank.constituent_counts)
    return treebank.with_columns(
        constituent_offsets=offsets_of(np.bincount(treebank.sentence_of[order], minlength=len(treebank))),
        labels=treebank.labels.take(order),
        functions=treebank.functions.take(order),
        bits=treebank.bits[gather(offsets_of(width), order)],
        constituent_values={name: values[order] for name, values in treebank.constituent_values.items()},
    )


def _squeezed_bits(treebank: Treebank, removed: NDArray[np.bool_], left_before: Ints) -> Bits:
    """Return the sets of all constituents, in the same order, over the words that are left.

    Parameters
    ----------
    left_before : int64[N + 1], the number of words left before each word.
    """
    new_offsets = left_before[treebank.word_offsets]
    new_widths = bitsets.widths(np.diff(new_offsets))[treebank.sentence_of]
    new_starts = offsets_of(new_widths)
    result = np.zeros(int(new_starts[-1]), dtype=np.uint64)
    for nodes, cells in _cells(treebank):
        sentence = treebank.sentence_of[nodes]
        node, position = np.nonzero(cells)
        token = treebank.word_offsets[sentence[node]] + position
        stays = ~removed[token]
        node, token = node[stays], token[stays]
        starts = offsets_of(new_widths[nodes])
        flags = np.zeros(64 * int(starts[-1]), dtype=np.uint8)
        flags[64 * starts[node] + left_before[token] - new_offsets[sentence[node]]] = 1
        result[gather(new_starts, nodes)] = np.packbits(flags, bitorder="little").view("<u8")
    return result


def _cells(treebank: Treebank) -> Iterator[tuple[Ints, NDArray[np.uint8]]]:
    """Yield (indices of constituents, for each a row of 0 and 1 by position), not too many at once."""
    for all_nodes, all_rows in treebank.rows():
        step = max(1, _CELLS // (64 * max(1, all_rows.shape[1])))
        for begin in range(0, len(all_nodes), step):
            raw = np.ascontiguousarray(all_rows[begin : begin + step], dtype="<u8").view(np.uint8)
            yield all_nodes[begin : begin + step], np.unpackbits(raw, axis=1, bitorder="little")


@takes(Treebank)
def move_punctuation(treebank: Treebank, by: str | Collection[str] = "auto") -> Treebank:
    """Attach every punctuation mark to the smallest constituent that has the words on both sides of it.

    "Words" are those that are no punctuation. A mark before the first or after the last of them stays with
    the constituents that are the whole sentence. So no mark makes a gap: every constituent has the fan-out
    that it has without punctuation. A constituent of nothing but punctuation stays if it is continuous, and
    is removed otherwise.

    Parameters
    ----------
    by : what is punctuation, see `punctuation_mask`.

    Vectorised over the treebank, in bounded memory beside the result.

    >>> from treemean.trees import Tree
    >>> tree = Tree(["Ja", ",", "dat", "kan", "."], [(range(5), "top"), ({0, 2, 3}, "du"), ({2, 3}, "s")])
    >>> [(c.positions, c.label) for c in move_punctuation(Treebank.from_trees([tree]))[0]]
    [((0, 1, 2, 3, 4), 'top'), ((0, 1, 2, 3), 'du'), ((2, 3), 's')]
    """
    marks = punctuation_mask(treebank, by)
    if not marks.any():
        return treebank
    left, right = _neighbours(treebank, marks)
    result = treebank.bits.copy()
    width = np.repeat(bitsets.widths(treebank.lengths), treebank.constituent_counts)
    starts = offsets_of(width)
    fan_outs, whole = treebank.fan_outs, treebank.sizes == treebank.lengths[treebank.sentence_of]
    for nodes, cells in _cells(treebank):
        sentence = treebank.sentence_of[nodes]
        columns = np.arange(cells.shape[1])
        inside = columns < treebank.lengths[sentence][:, None]
        tokens = np.where(inside, treebank.word_offsets[sentence][:, None] + columns, 0)
        is_mark = marks[tokens] & inside
        row = np.arange(len(nodes))[:, None]
        # Positions before the first and behind the last word are -1, that is a column of zeros at the end.
        padded = np.pad(cells, ((0, 0), (0, 1)))
        moved = np.where(inside, padded[row, left[tokens]] & padded[row, right[tokens]], 0)
        only_marks = ~(cells.astype(bool) & ~is_mark).any(axis=1)
        moved = np.where((only_marks & (fan_outs[nodes] == 1) | whole[nodes])[:, None], cells, moved)
        result[gather(starts, nodes)] = np.packbits(moved, axis=1, bitorder="little").view("<u8").ravel()
    return _in_canonical_order(treebank.with_columns(bits=result))


def _neighbours(treebank: Treebank, marks: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return for a word its position twice, for a mark those of the words on both sides, -1 if none."""
    sentence = np.repeat(np.arange(len(treebank)), treebank.lengths)
    token = np.arange(len(marks))
    start = treebank.word_offsets[sentence]
    before = np.maximum.accumulate(np.where(marks, -1, token))
    behind = np.minimum.accumulate(np.where(marks, len(marks), token)[::-1])[::-1]
    left = np.where(before >= start, before - start, -1)
    right = np.where(behind < treebank.word_offsets[sentence + 1], behind - start, -1)
    return left, right
