"""Looking at a corpus before a long run: what is in it, what would be left out, and what is wrong."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from treemean.errors import FormatError, InvalidOption
from treemean.parsing import ReadCounts, Vocabulary, read_sentences
from treemean.parsing.text import TEXT, counted, format_of
from treemean.training.batches import BatchOrder
from treemean.training.corpus import hold_out
from treemean.training.sections import DataConfig, TrainingConfig

#: The ends of the bins in which lengths are counted.
LENGTH_BINS = (1, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 100)
#: How many bad lines are named.
_NAMED = 10


@dataclass
class FileReport:
    """What is in one file.

    Attributes
    ----------
    path, role : the file, and whether it is for `train`, `development` or `test`.
    format : what it was read as.
    sentences, words : as the model would see them, punctuation apart.
    counts : blank lines, sentences of nothing but punctuation.
    one_word, too_long : sentences that are not trained on.
    repeated : sentences that stand in the file before.
    lengths : the number of sentences of every length.
    problems : what cannot be read, with its place; of many the first.
    bad_lines : how many lines cannot be read.
    """

    path: str
    role: str
    format: str
    sentences: int = 0
    words: int = 0
    counts: ReadCounts = field(default_factory=ReadCounts)
    one_word: int = 0
    too_long: int = 0
    repeated: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    bad_lines: int = 0

    def histogram(self) -> list[tuple[str, int]]:
        """Return how many sentences there are by ranges of length."""
        bounds = [*LENGTH_BINS, max([LENGTH_BINS[-1] + 1, *self.lengths])]
        shares, start = [], 1
        for end in bounds:
            count = sum(amount for length, amount in self.lengths.items() if start <= length <= end)
            if count:
                name = f"{start}" if start == end else f"{start}-{end}"
                shares.append((f"{start}+" if end > LENGTH_BINS[-1] else name, count))
            start = end + 1
        return shares


@dataclass
class DataReport:
    """What is in the files of a configuration.

    Attributes
    ----------
    files : one report each.
    vocabulary : how many words the model would know, of `types` different ones.
    train_coverage, development_coverage : the share of running words that it would know, in percent.
    overlap : development sentences that are also trained on.
    steps, first_epoch_steps, epochs : how many steps all epochs and the first one have.
    warnings : what deserves attention.
    errors : what would stop a run.
    """

    files: list[FileReport] = field(default_factory=list)
    vocabulary: int = 0
    types: int = 0
    train_coverage: float = 0.0
    development_coverage: float | None = None
    overlap: int = 0
    steps: int = 0
    first_epoch_steps: int = 0
    epochs: int = 0
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        told = asdict(self)
        for entry, file in zip(told["files"], self.files, strict=True):
            entry["lengths"] = dict(sorted(file.lengths.items()))
        return told


def inspect(config: TrainingConfig, test: str = "", test_format: str = "") -> DataReport:
    """Read all files of a configuration and report on them; bad lines are counted, not raised.

    All sentences are held in memory, as in training.

    Parameters
    ----------
    test, test_format : gold trees that an experiment is scored on, if there is one.
    """
    data = config.data
    report = DataReport(epochs=config.training.epochs)
    if not data.train:
        report.errors.append("data.train names no file")
    train: list[tuple[str, ...]] = []
    for path in data.train:
        train += _read(report, path, "train", data.format, data)
    development: list[tuple[str, ...]] = []
    if data.development:
        development = _read(report, data.development, "development", data.development_format, data)
        if config.training.select == "f1" and report.files[-1].format == TEXT:
            report.errors.append(
                'training.select = "f1" needs gold trees, and data.development is plain text'
            )
    elif config.training.select == "f1":
        report.errors.append('training.select = "f1" needs gold trees: name them in data.development')
    if test:
        _read(report, test, "test", test_format, data)
        if report.files[-1].format == TEXT:
            report.errors.append("ensemble.test needs gold trees, and it is plain text")
        elif not report.files[-1].sentences and not report.files[-1].problems:
            report.errors.append("there are no trees in ensemble.test")
    fitting = used = [words for words in train if 2 <= len(words) <= data.max_length]
    if data.train and not used:
        report.errors.append(f"no sentence to train on has 2 to {data.max_length} words")
    if used and not data.development:  # as in training
        try:
            used, development = hold_out(used, data.held_out)
        except InvalidOption as error:
            report.errors.append(str(error))
    _count_words(report, used, development, data)
    lengths = np.array([len(words) for words in used], dtype=np.int64)
    order = BatchOrder(lengths, config, run=1)
    report.steps = order.count_from(1, report.epochs)
    report.first_epoch_steps = order.count(1)
    if used and not report.first_epoch_steps:
        report.errors.append(
            "nothing would be learnt in the first epoch: batches.first_limit is "
            f"{config.batches.first_limit}, and the shortest sentence has {lengths.min()} words"
        )
    _warn(report, len(fitting), len(train), data.max_length)
    return report


def _read(report: DataReport, path: str, role: str, format: str, config: DataConfig) -> list[tuple[str, ...]]:
    """Read a file as far as possible and return its sentences as the model would see them."""
    file = FileReport(path, role, format or format_of(path))
    report.files.append(file)
    normalisation = config.normalisation
    seen: set[tuple[str, ...]] = set()
    found = []

    def note(error: FormatError) -> None:
        file.bad_lines += 1
        if len(file.problems) < _NAMED:
            file.problems.append(str(error))

    try:
        for sentence in read_sentences(
            path,
            normalisation,
            format=file.format,
            dialect=config.dialect,
            counts=file.counts,
            on_bad_line=note,
        ):
            words = tuple(normalisation.word(sentence.words[position]) for position in sentence.kept)
            if not words:
                continue
            found.append(words)
            file.lengths[len(words)] += 1
            file.repeated += words in seen
            seen.add(words)
    except FormatError as error:
        file.problems.append(str(error))
    file.sentences, file.words = len(found), sum(map(len, found))
    file.one_word = file.lengths[1]
    file.too_long = sum(count for length, count in file.lengths.items() if length > config.max_length)
    report.errors += file.problems[:_NAMED]
    if file.bad_lines > _NAMED:
        report.errors.append(f"{path}: {file.bad_lines - _NAMED} more lines are not valid UTF-8")
    return found


def _count_words(
    report: DataReport,
    train: Sequence[tuple[str, ...]],
    development: Sequence[tuple[str, ...]],
    config: DataConfig,
) -> None:
    types = Counter(word for words in train for word in words)
    vocabulary = Vocabulary.most_frequent(types.elements(), config.vocabulary)
    report.vocabulary, report.types = len(vocabulary.words), len(types)
    report.train_coverage = _coverage(train, vocabulary)
    development = [words for words in development if len(words) <= config.max_length]
    if development:
        report.development_coverage = _coverage(development, vocabulary)
        known = set(train)
        report.overlap = sum(words in known for words in development if len(words) > 1)


def _coverage(sentences: Iterable[tuple[str, ...]], vocabulary: Vocabulary) -> float:
    known = total = 0
    for words in sentences:
        total += len(words)
        known += sum(word in vocabulary for word in words)
    return 100 * known / total if total else 0.0


def _warn(report: DataReport, used: int, read: int, longest: int) -> None:
    for file in report.files:
        name = Path(file.path).name
        report.warnings += [f"{name}: {message}" for message in file.counts.describe()]
        if file.too_long:
            report.warnings.append(
                f"{name}: {counted(file.too_long, 'sentence')} left out, of more than {longest} words "
                "(data.max_length)"
            )
        if file.role == "train" and file.repeated > 0.1 * max(file.sentences, 1):
            report.warnings.append(f"{name}: {counted(file.repeated, 'sentence')} repeated")
    if read and used < 0.5 * read:
        report.warnings.append(f"only {used} of {read} sentences can be trained on")
    if report.overlap:
        report.warnings.append(f"also trained on: {counted(report.overlap, 'development sentence')}")
    coverage = report.development_coverage
    if coverage is not None and coverage < 80:
        report.warnings.append(f"only {coverage:.1f} % of the development words are known to the model")


def report_for(paths: Sequence[str | os.PathLike[str]], config: TrainingConfig) -> TrainingConfig:
    """Return a configuration that trains on some files, whatever the given one trains on, by likelihood."""
    data = replace(config.data, train=tuple(os.fspath(path) for path in paths), development="", format="")
    return replace(config, data=data, training=replace(config.training, select="likelihood"))
