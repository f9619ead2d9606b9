"""Parsing sentences with a model: batched by length, in bounded memory, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import islice
from typing import get_args

import numpy as np
import torch

from treemean.errors import InvalidOption, no_such
from treemean.grammars import Careful, Grammar
from treemean.grammars.memory import told_if_too_little
from treemean.names import DecoderName, PutBack
from treemean.parsing.batches import cut_for
from treemean.parsing.model import Model
from treemean.parsing.text import Sentence, counted
from treemean.trees import Constituent, Tree, Treebank

#: What constituents are called by a parser that knows no categories.
LABEL = "NT"
#: The name of the constituent value with the posterior probability.
POSTERIOR = "posterior"
#: How many sentences are read before they are parsed by length.
WINDOW = 1000
#: Longer sentences get a tree of nothing but the root, unless another limit is given.
MAX_LENGTH = 60
_LESS = "Parse fewer words together (--batch-words), or leave out long sentences (--max-length)"


@dataclass
class ParseCounts:
    """What was met while parsing.

    Attributes
    ----------
    sentences, words : how many were parsed; punctuation does not count.
    unknown : words that the model does not know.
    too_long : sentences over the limit, which have only a root.
    again : sentences parsed once more in float64, because charts of their batch overflowed.
    """

    sentences: int = 0
    words: int = 0
    unknown: int = 0
    too_long: int = 0
    again: int = 0

    def describe(self, max_length: int | None) -> list[str]:
        """Return in words what else happened than parsing; empty if nothing did."""
        messages = []
        if self.too_long:
            long = counted(self.too_long, "sentence")
            messages.append(f"{long} of more than {max_length} words with nothing but a root")
        if self.again:
            again = counted(self.again, "sentence")
            messages.append(f"{again} parsed again in float64, as float32 was not enough")
        return messages

    def add(self, other: ParseCounts) -> None:
        """Add what was met elsewhere."""
        for entry in fields(self):
            setattr(self, entry.name, getattr(self, entry.name) + getattr(other, entry.name))


@dataclass(frozen=True)
class ParseOptions:
    """How sentences are parsed; the parameters are those of `parse`."""

    decoder: DecoderName = "mbr"
    batch_words: int | None = None
    posteriors: bool = False
    punctuation: PutBack = "keep-out"
    max_length: int | None = MAX_LENGTH

    def __post_init__(self) -> None:
        for what, value, known in (
            ("decoder", self.decoder, get_args(DecoderName)),
            ("way with punctuation", self.punctuation, get_args(PutBack)),
        ):
            if value not in known:
                raise InvalidOption(no_such(what, value, known))
        if any(number is not None and number < 1 for number in (self.batch_words, self.max_length)):
            raise InvalidOption("the size of batches and the length limit must be 1 or more")


def parse(
    model: Model,
    sentences: Iterable[Sentence | Sequence[str]],
    *,
    decoder: DecoderName = "mbr",
    batch_words: int | None = None,
    posteriors: bool = False,
    punctuation: PutBack = "keep-out",
    max_length: int | None = MAX_LENGTH,
    options: ParseOptions | None = None,
    counts: ParseCounts | None = None,
) -> Iterator[Treebank]:
    """Parse sentences and yield their trees, batch by batch, in the order of the sentences.

    Parameters
    ----------
    sentences : from `read_sentences`, or lists of words. There may be any number of them; `WINDOW` are held
        at a time.
    decoder : `"mbr"`, the tree with the highest expected number of correct constituents, or `"viterbi"`, the
        tree of the most probable derivation.
    batch_words : about how many words are parsed together; by default 800, and more on a GPU. Sentences in a
        batch have the same length, or on a GPU similar ones.
    posteriors : give every constituent the value `posterior`, its probability under the grammar.
    punctuation : `"keep-out"` leaves it out of the trees, but for sentences of nothing else, which have only
        a root over it. `"put-back"` puts it back below the smallest constituent with the words on both sides
        of it (below the root at either end), so that no constituent gets or loses a gap. `"root"` puts all of
        it below the root, as many treebanks do; a constituent with punctuation inside then has a gap there.
    max_length : sentences of more words (without punctuation) get a tree with only a root; None for no
        limit. Time grows with the fifth power of the length (LCFRS) or the third (PCFG).
    options : all of these in one, instead.
    counts : is updated with what was read.
    """
    options = options or ParseOptions(decoder, batch_words, posteriors, punctuation, max_length)
    counts = counts if counts is not None else ParseCounts()
    for window in windows(model, sentences):
        yield parse_window(model, window, options, counts)


def windows(model: Model, sentences: Iterable[Sentence | Sequence[str]]) -> Iterator[list[Sentence]]:
    """Cut a stream of sentences into lists of `WINDOW`."""
    stream = (_as_sentence(model, sentence) for sentence in sentences)
    while window := list(islice(stream, WINDOW)):
        yield window


def _as_sentence(model: Model, given: Sentence | Sequence[str]) -> Sentence:
    if isinstance(given, Sentence):
        return given
    if isinstance(given, str):
        raise TypeError("a sentence must be a sequence of words, not one string: split it first")
    return Sentence(tuple(given), model.normalisation.kept(given))


def parse_window(
    model: Model, window: Sequence[Sentence], options: ParseOptions, counts: ParseCounts
) -> Treebank:
    """Parse some sentences, and return their trees in the order given."""
    numbers = [model.numbers(sentence) for sentence in window]
    lengths = np.array([len(row) for row in numbers], dtype=np.int64)
    if options.max_length is not None:
        counts.too_long += int((lengths > options.max_length).sum())
        lengths[lengths > options.max_length] = 0  # in no batch
    found: list[list[Constituent]] = [[] for _ in window]
    careful = Careful(model.grammar)
    for batch in cut_for(model.grammar, lengths, options.batch_words):
        words, known = _padded([numbers[index] for index in batch], model.device)
        with told_if_too_little(len(words), words.shape[1], _LESS):
            trees = careful.compute(
                len(batch), partial(_constituents, words=words, lengths=known, options=options)
            )
        for index, constituents in zip(batch, trees):
            found[index] = constituents
    counts.sentences += len(window)
    counts.words += sum(map(len, numbers))
    counts.unknown += sum(row.count(0) for row in numbers)
    counts.again += careful.again
    return Treebank.from_trees(
        _tree(sentence, constituents, options) for sentence, constituents in zip(window, found)
    )


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return words padded with zeros, and how many there are, None if equally many in all sentences."""
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    words = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=device)
    return words, None if min(lengths) == longest else torch.tensor(lengths, device=device)


def _constituents(
    grammar: Grammar, *, words: torch.Tensor, lengths: torch.Tensor | None, options: ParseOptions
) -> list[list[Constituent]]:
    """Return the constituents of a batch of sentences, over the words that the grammar sees."""
    decode = grammar.mbr if options.decoder == "mbr" else grammar.viterbi
    trees = decode(words, lengths)
    if not options.posteriors:
        return [[Constituent(mask, LABEL) for mask in tree] for tree in trees]
    values = grammar.posteriors(words, lengths).to("cpu")
    values.check_finite()
    return [
        # rounding may make a certain constituent a little more than certain
        [Constituent(mask, LABEL, "", {POSTERIOR: min(1.0, values.of(row, mask))}) for mask in tree]
        for row, tree in enumerate(trees)
    ]


def _tree(sentence: Sentence, constituents: Sequence[Constituent], options: ParseOptions) -> Tree:
    kept = sentence.kept
    certain = {POSTERIOR: 1.0} if options.posteriors else {}
    if kept and not constituents:  # one word, or too many
        constituents = [Constituent((1 << len(kept)) - 1, LABEL, "", certain)]
    if sentence.words and not kept:  # few formats can hold a sentence without words
        everything = Constituent((1 << len(sentence.words)) - 1, LABEL, "", certain)
        return Tree(sentence.words, [everything], id=sentence.id)
    if options.punctuation == "keep-out":
        return Tree([sentence.words[position] for position in kept], constituents, id=sentence.id)
    inside = options.punctuation == "put-back"
    return Tree(sentence.words, put_back(constituents, kept, len(sentence.words), inside), id=sentence.id)


def put_back(
    constituents: Sequence[Constituent], kept: Sequence[int], length: int, inside: bool = True
) -> list[Constituent]:
    """Return the constituents of a tree over some words of a sentence as those of a tree over all of them.

    Parameters
    ----------
    constituents : over the words at the positions `kept`, the root among them.
    kept : ascending positions.
    length : of the whole sentence.
    inside : a word in between is added to every constituent with the words nearest to it on both sides;
        otherwise to the root only.

    >>> pair, root = Constituent(0b011), Constituent(0b111)
    >>> [bin(c.mask) for c in put_back([root, pair], [0, 2, 3], 5)]
    ['0b11111', '0b111']
    """
    whole = (1 << len(kept)) - 1
    added = []  # for every position between two kept words: these two, and the position
    for left in range(len(kept) - 1) if inside else ():
        between = (1 << kept[left + 1]) - (1 << (kept[left] + 1))
        if between:
            added.append((0b11 << left, between))
    result = []
    for constituent in constituents:
        mask = 0
        if constituent.mask == whole:
            mask = (1 << length) - 1
        else:
            for place, position in enumerate(kept):
                mask |= (constituent.mask >> place & 1) << position
            for neighbours, between in added:
                if constituent.mask & neighbours == neighbours:
                    mask |= between
        result.append(Constituent(mask, constituent.label, constituent.function, constituent.values))
    return result
