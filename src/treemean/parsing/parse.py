"""Parsing sentences with a model: batched by length, in bounded memory, in the order of the input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
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
from treemean.trees import Constituent, SpanRow, SpanTable, Tree, Treebank

#: What constituents are called by a parser that knows no categories.
LABEL = "NT"
#: The name of the constituent value with the posterior probability.
POSTERIOR = "posterior"
#: How many sentences are read before they are parsed by length.
WINDOW = 1000
#: Longer sentences get a tree of nothing but the root, unless another limit is given.
MAX_LENGTH = 60
#: Spans with a smaller posterior are not listed, unless another threshold is given.
SPAN_THRESHOLD = 0.02
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
    span_threshold: float = SPAN_THRESHOLD

    def __post_init__(self) -> None:
        for what, value, known in (
            ("decoder", self.decoder, get_args(DecoderName)),
            ("way with punctuation", self.punctuation, get_args(PutBack)),
        ):
            if value not in known:
                raise InvalidOption(no_such(what, value, known))
        if any(number is not None and number < 1 for number in (self.batch_words, self.max_length)):
            raise InvalidOption("the size of batches and the length limit must be 1 or more")
        if not (isinstance(self.span_threshold, int | float) and 0 <= self.span_threshold <= 1):
            raise InvalidOption(f"the threshold of spans is {self.span_threshold!r}; it is from 0 to 1")


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
    spans: Callable[[SpanTable], object] | None = None,
    span_threshold: float = SPAN_THRESHOLD,
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
    spans : is called, before the trees of a batch are yielded, with all its spans whose posterior is above
        `span_threshold`, many for a sentence; they may cross.
    """
    options = options or ParseOptions(
        decoder, batch_words, posteriors, punctuation, max_length, span_threshold
    )
    counts = counts if counts is not None else ParseCounts()
    for window in windows(model, sentences):
        yield parse_window(model, window, options, counts, spans)


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


@dataclass
class ParsedSentence:
    """What was found for a sentence, over the words that the grammar sees.

    Parameters
    ----------
    constituents : of its tree.
    spans : of its table of spans, and how many constituents are `expected`.
    """

    constituents: list[Constituent] = field(default_factory=list)
    spans: list[tuple[int, float]] = field(default_factory=list)
    expected: float = 0.0


def parse_window(
    model: Model,
    window: Sequence[Sentence],
    options: ParseOptions,
    counts: ParseCounts,
    spans: Callable[[SpanTable], object] | None = None,
) -> Treebank:
    """Parse some sentences, and return their trees in the order given."""
    numbers = [model.numbers(sentence) for sentence in window]
    lengths = np.array([len(row) for row in numbers], dtype=np.int64)
    if options.max_length is not None:
        counts.too_long += int((lengths > options.max_length).sum())
        lengths[lengths > options.max_length] = 0  # in no batch
    found = [ParsedSentence() for _ in window]
    careful = Careful(model.grammar)
    for batch in cut_for(model.grammar, lengths, options.batch_words):
        words, known = _padded([numbers[index] for index in batch], model.device)
        with told_if_too_little(len(words), words.shape[1], _LESS):
            task = partial(_find, words=words, lengths=known, options=options, spans=spans is not None)
            for index, one in zip(batch, careful.compute(len(batch), task)):
                found[index] = one
    counts.sentences += len(window)
    counts.words += sum(map(len, numbers))
    counts.unknown += sum(row.count(0) for row in numbers)
    counts.again += careful.again
    if spans is not None:
        rows = (_span_row(sentence, one, options) for sentence, one in zip(window, found))
        spans(SpanTable.from_rows(rows, LABEL))
    return Treebank.from_trees(
        _tree(sentence, one.constituents, options) for sentence, one in zip(window, found)
    )


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return words padded with zeros, and how many there are, None if equally many in all sentences."""
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    words = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=device)
    return words, None if min(lengths) == longest else torch.tensor(lengths, device=device)


def _find(
    grammar: Grammar,
    *,
    words: torch.Tensor,
    lengths: torch.Tensor | None,
    options: ParseOptions,
    spans: bool,
) -> list[ParsedSentence]:
    """Return the constituents of a batch of sentences, and their spans if wanted."""
    decode = grammar.mbr if options.decoder == "mbr" else grammar.viterbi
    trees = decode(words, lengths)
    if not (options.posteriors or spans):
        return [ParsedSentence([Constituent(mask, LABEL) for mask in tree]) for tree in trees]
    values = grammar.posteriors(words, lengths).to("cpu")
    values.check_finite()

    def certainty(row: int, mask: int) -> dict[str, float]:
        # rounding may make a certain constituent a little more than certain
        return {POSTERIOR: min(1.0, values.of(row, mask))} if options.posteriors else {}

    found = [
        ParsedSentence([Constituent(mask, LABEL, "", certainty(row, mask)) for mask in tree])
        for row, tree in enumerate(trees)
    ]
    if spans:
        for one, listed, expected in zip(
            found, values.above(options.span_threshold), values.expected(), strict=True
        ):
            one.spans, one.expected = listed, expected
    return found


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


def _span_row(sentence: Sentence, found: ParsedSentence, options: ParseOptions) -> SpanRow:
    """Return the spans of a sentence over the words that its tree has."""
    kept, words = sentence.kept, sentence.words
    if options.punctuation == "keep-out" and kept:
        return SpanRow([words[place] for place in kept], sentence.id, found.spans, found.expected)
    inside = options.punctuation == "put-back"
    moved = put_back([Constituent(mask) for mask, _ in found.spans], kept, len(words), inside)
    spans = [(one.mask, posterior) for one, (_, posterior) in zip(moved, found.spans, strict=True)]
    return SpanRow(words, sentence.id, spans, found.expected)


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
