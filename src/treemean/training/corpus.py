"""The data of a run as numbers: read and normalised once, then kept in the folder of the runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray

from treemean.errors import FormatError, InvalidOption, TreemeanError
from treemean.files.checksums import checksum
from treemean.files.output import open_output, write_file
from treemean.files.sealed import sealed, unsealed
from treemean.formats import read, write
from treemean.parsing import (
    Normalisation,
    ReadCounts,
    Sentence,
    Vocabulary,
    read_sentences,
)
from treemean.parsing.text import TEXT, counted, format_of, sentences_of
from treemean.training.guides import Guides, Span, with_guides
from treemean.training.sections import DataConfig
from treemean.trees import Treebank
from treemean.trees.treebank import offsets_of

#: Of the layout on disk. Version 1 had gold trees in another format.
_VERSION, _BEFORE = 2, 1
_FOLDER, _NUMBERS, _GOLD, _DESCRIPTION = "corpus", "numbers.npz", "gold.jsonl", "corpus.json"

#: The settings that name files.
_FILES = ("train", "development", "guides")
#: A sentence, with whatever belongs to it.
Held = TypeVar("Held")


@dataclass(frozen=True)
class Corpus:
    """Sentences as numbers of words, in columns.

    Parameters
    ----------
    numbers : int32[N], the numbers of all words.
    offsets : int64[S + 1], where each sentence begins.
    """

    numbers: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]]) -> Corpus:
        """Make a corpus from lists of numbers."""
        numbers = [number for sentence in sentences for number in sentence]
        return cls(np.array(numbers, dtype=np.int32), offsets_of([len(s) for s in sentences]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """int64[S]: the number of words of each sentence."""
        return np.diff(self.offsets)

    def batch(self, places: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return sentences as int64 (B, n), padded with zeros, and their lengths (None if all are n)."""
        lengths = self.lengths[places]
        longest = int(lengths.max())
        column = np.arange(longest)
        inside = column < lengths[:, None]
        at = np.where(inside, self.offsets[places][:, None] + column, 0)
        words = torch.from_numpy(np.where(inside, self.numbers[at], 0).astype(np.int64))
        return words, None if inside.all() else torch.from_numpy(lengths)


@dataclass(frozen=True)
class Data:
    """Everything a run learns from and is measured on.

    Parameters
    ----------
    train : sentences of 2 to `data.max_length` words.
    development : the sentences of 1 to `data.max_length` words of the development set.
    gold : the whole development treebank; None if there are no trees, only text.
    kept : for every sentence of `development` its words, without punctuation, if there is gold.
    guides : of the sentences of `train`, if there are any.
    vocabulary, normalisation : of the model.
    facts : checksums of the files, and what was met while reading.
    """

    train: Corpus
    development: Corpus
    gold: Treebank | None
    kept: list[tuple[str, ...]]
    vocabulary: Vocabulary
    normalisation: Normalisation
    facts: dict[str, Any]
    guides: Guides | None = None

    def describe(self) -> str:
        """Return in words what is learnt from and measured on, and what was left out."""
        read, longest = self.facts["train"], self.facts["way"]["max_length"]
        left_out = [
            f"{counted(read[name], noun)} {rest}".rstrip()
            for name, noun, rest in (
                ("empty_lines", "empty line", ""),
                ("punctuation_only", "sentence", "of nothing but punctuation"),
                ("one_word", "sentence", "of one word"),
                ("too_long", "sentence", f"of more than {longest} words (data.max_length)"),
            )
            if read[name]
        ]
        trees = "with gold trees" if self.gold is not None else "without trees"
        text = (
            f"{counted(len(self.train), 'sentence')} to train on, {len(self.vocabulary.words)} known words, "
        )
        text += f"{counted(len(self.development), 'development sentence')} {trees}"
        if self.guides is not None:
            text += f", {counted(len(self.guides.spans), 'guiding constituent')}"
        if left_out:
            text += f"; left out: {', '.join(left_out)}"
        if read["too_long"] > read["sentences"] / 2:
            text += (
                f". Most of the text is left out: raise data.max_length, now {longest}, or take a preset "
                "for texts (tn-lcfrs-text, tn-pcfg-text)"
            )
        return text


def prepare(config: DataConfig, folder: str | os.PathLike[str] | None = None) -> Data:
    """Read the files of a configuration; keep the result in a folder, and take it from there the next time.

    What is kept is used if it was made from files of the same content in the same way, or if the files are
    not there (any more): a folder that was prepared on one machine can be trained in on another. Raises
    `TreemeanError` if the folder holds something made from other files.
    """
    checksums = _checksums(config)
    way = {name: value for name, value in asdict(config).items() if name not in _FILES}
    if folder is None:
        return _read(config, checksums, way)
    place = Path(folder) / _FOLDER
    kept = _load(place, config)
    if kept is None:
        data = _read(config, checksums, way)
        _save(data, place)
        return data
    if checksums is not None and checksums != kept.facts["files"]:
        raise TreemeanError(
            f"{place} was made from files of other content "
            f"({_difference(kept.facts['files'], checksums)}): train in another folder, or remove this one"
        )
    before = {"dialect": "auto", **kept.facts["way"]}  # folders of earlier versions do not tell it
    changed = [name for name in way if before.get(name) != way[name] and "format" not in name]
    if changed:
        names = ", ".join(f"data.{name}" for name in changed)
        raise TreemeanError(
            f"{place} was made with another {names}: train in another folder, or remove this one"
        )
    if bool(config.guides) != (kept.guides is not None):
        raise TreemeanError(
            f"{place} was made {'with' if kept.guides is not None else 'without'} data.guides: train in "
            "another folder, or remove this one"
        )
    return kept


# ---- reading ----------------------------------------------------------------------------------------


def _checksums(config: DataConfig) -> dict[str, Any] | None:
    """Return the SHA-256 of every file, None if one is absent."""
    if not config.train:
        raise InvalidOption(
            "data.train names no file: set it in the configuration, or with --override data.train=FILE"
        )
    paths = [*config.train, *([config.development] if config.development else []), *config.guides]
    for path in paths:
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            raise InvalidOption(
                f"{path} is neither a file nor a folder, but training reads its data more than once: save "
                "them in a file first"
            )
    if not all(os.path.exists(path) for path in paths):
        return None
    development = {Path(config.development).name: checksum(config.development)} if config.development else {}
    sums = {"train": _numbered_checksums(config.train), "development": development}
    return sums | ({"guides": _numbered_checksums(config.guides)} if config.guides else {})


def _numbered_checksums(paths: Sequence[str]) -> dict[str, str]:
    return {f"{number}: {Path(path).name}": checksum(path) for number, path in enumerate(paths, 1)}


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    changed = [
        part for part in _FILES if sorted(now.get(part, {}).values()) != sorted(before.get(part, {}).values())
    ]
    return ", ".join(f"data.{part}" for part in changed) or "names of files"


def _read(config: DataConfig, checksums: dict[str, Any] | None, way: dict[str, Any]) -> Data:
    normalisation = config.normalisation
    counts = ReadCounts()
    train = [
        (seen, spans)
        for sentence, spans in _read_training(config, counts)
        if (seen := _seen(sentence, normalisation))
    ]
    fitting = [held for held in train if 2 <= len(held[0]) <= config.max_length]
    facts: dict[str, Any] = {
        "files": checksums,
        "way": way,
        "train": {
            **asdict(counts),
            "too_long": sum(len(words) > config.max_length for words, _ in train),
            "one_word": sum(len(words) == 1 for words, _ in train),
        },
    }
    if not fitting:
        raise InvalidOption(
            f"there is nothing to train on in data.train ({', '.join(config.train)}): "
            f"{counted(counts.sentences, 'sentence')} read, and none has 2 to {config.max_length} words "
            "(data.max_length)"
        )
    gold = None
    if config.development:
        gold, sentences, facts["development"] = _read_development(config)
        development = [
            _seen(sentence, normalisation)
            for sentence in sentences
            if 1 <= len(sentence.kept) <= config.max_length
        ]
        kept = [
            tuple(sentence.words[position] for position in sentence.kept)
            for sentence in sentences
            if 1 <= len(sentence.kept) <= config.max_length
        ]
        if not any(len(words) > 1 for words in development):
            raise InvalidOption(
                f"there is nothing to measure on in data.development ({config.development}): "
                f"no sentence has 2 to {config.max_length} words (data.max_length)"
            )
    else:
        fitting, held_out = hold_out(fitting, config.held_out)
        development = [words for words, _ in held_out]
        facts["development"] = {"sentences": len(development), "held_out": True}
        kept = []
    vocabulary = Vocabulary.most_frequent((w for words, _ in fitting for w in words), config.vocabulary)
    facts["train"] |= {"used": len(fitting), "words": sum(len(words) for words, _ in fitting)}
    facts["development"] |= {"used": len(development), "words": sum(map(len, development))}
    return Data(
        train=Corpus.of([vocabulary.numbers(words) for words, _ in fitting]),
        development=Corpus.of([vocabulary.numbers(words) for words in development]),
        gold=gold,
        kept=kept if gold is not None else [],
        vocabulary=vocabulary,
        normalisation=normalisation,
        facts=facts,
        guides=Guides.of(spans for _, spans in fitting) if config.guides else None,
    )


def _read_training(config: DataConfig, counts: ReadCounts) -> Iterator[tuple[Sentence, list[Span]]]:
    """Yield the sentences to train on, with the spans of their guides."""
    for number, path in enumerate(config.train):
        sentences = read_sentences(
            path, config.normalisation, format=config.format or None, dialect=config.dialect, counts=counts
        )
        if config.guides:
            yield from with_guides(sentences, config.guides[number])
        else:
            yield from ((sentence, []) for sentence in sentences)


def _seen(sentence: Sentence, normalisation: Normalisation) -> list[str]:
    return [normalisation.word(sentence.words[position]) for position in sentence.kept]


def _read_development(config: DataConfig) -> tuple[Treebank | None, list[Sentence], dict[str, Any]]:
    path, counts = config.development, ReadCounts()
    chosen = config.development_format or format_of(path)
    if chosen == TEXT:
        sentences = list(read_sentences(path, config.normalisation, format=TEXT, counts=counts))
        return None, sentences, asdict(counts) | {"gold": False, "too_long": _too_long(sentences, config)}
    gold = read_gold(path, chosen, config.dialect)
    sentences = list(sentences_of([gold], config.normalisation))
    counts.sentences = len(sentences)
    counts.punctuation_only = sum(not sentence.kept for sentence in sentences)
    return gold, sentences, asdict(counts) | {"gold": True, "too_long": _too_long(sentences, config)}


def _too_long(sentences: Iterable[Sentence], config: DataConfig) -> int:
    return sum(len(sentence.kept) > config.max_length for sentence in sentences)


def read_gold(path: str, format: str, dialect: str) -> Treebank:
    """Read gold trees; raise an error, which names the file, if there are none in it."""
    if path != "-" and not os.path.exists(path):  # whatever it would be
        raise FormatError("No such file or directory", path=path)
    chosen = format or format_of(path)
    if chosen == TEXT:
        raise InvalidOption(f"{path} is plain text, but scores need gold trees: give a file of trees")
    return read(path, format=chosen, dialect=dialect)


def hold_out(sentences: list[Held], share: float) -> tuple[list[Held], list[Held]]:
    """Set aside an evenly spread share of the sentences, at least one, and leave at least one."""
    count = min(max(1, round(share * len(sentences))), len(sentences) - 1)
    if not count:
        raise InvalidOption(
            "one sentence in data.train is not enough to train on and to measure on: give more, or "
            "data.development"
        )
    chosen = set(np.linspace(0, len(sentences) - 1, count).astype(int).tolist())
    return (
        [held for place, held in enumerate(sentences) if place not in chosen],
        [held for place, held in enumerate(sentences) if place in chosen],
    )


# ---- keeping ----------------------------------------------------------------------------------------


def _save(data: Data, place: Path) -> None:
    """Write numbers and trees first and the description, which vouches for them, last."""
    place.mkdir(parents=True, exist_ok=True)
    with open_output(place / _NUMBERS) as stream:
        arrays = {
            "train": data.train.numbers,
            "train_offsets": data.train.offsets,
            "development": data.development.numbers,
            "development_offsets": data.development.offsets,
        }
        if data.guides is not None:
            arrays |= {"guides": data.guides.spans, "guide_offsets": data.guides.offsets}
        np.savez_compressed(cast(Any, stream), **cast(Any, arrays))
    if data.gold is not None:
        write(data.gold, place / _GOLD)
    description = {
        "version": _VERSION,
        "numbers_sha256": checksum(place / _NUMBERS),
        "gold_sha256": checksum(place / _GOLD) if data.gold is not None else "",
        "facts": data.facts,
        "normalisation": data.normalisation.to_dict(),
        "vocabulary": list(data.vocabulary.words),
    }
    write_file(place / _DESCRIPTION, sealed(description, ensure_ascii=False))


def _load(place: Path, config: DataConfig) -> Data | None:
    """Return what is kept in a folder, None if that is nothing; raise `FormatError` if it is damaged."""
    description = place / _DESCRIPTION
    if not description.exists():
        return None
    try:
        told = unsealed(description.read_bytes())
        has_gold = told["gold_sha256"] != ""
        if told["version"] != _VERSION and (has_gold or told["version"] != _BEFORE):
            raise FormatError(
                f"the corpus was prepared by another treemean (version {told['version']}, not {_VERSION}): "
                f"remove {place}; it is made anew, and the runs go on",
                path=str(description),
            )
        for name in (_NUMBERS, _GOLD) if has_gold else (_NUMBERS,):
            expected = told["numbers_sha256" if name == _NUMBERS else "gold_sha256"]
            if checksum(place / name) != expected:
                raise ValueError(f"{name} is not as it was written")
        with open(place / _NUMBERS, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            train = Corpus(file["train"], file["train_offsets"])
            development = Corpus(file["development"], file["development_offsets"])
            guides = Guides(file["guides"], file["guide_offsets"]) if "guides" in file else None
        vocabulary = Vocabulary.from_json(told["vocabulary"])
        normalisation = Normalisation.from_dict(told["normalisation"])
        facts = _checked_facts(told["facts"])
    except FormatError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else error
        raise FormatError(
            f"the prepared corpus is damaged ({what}): remove {place}, and it is made anew",
            path=str(description),
        ) from error
    gold, kept = None, []
    if has_gold:
        gold = read(place / _GOLD)
        kept = [
            tuple(sentence.words[position] for position in sentence.kept)
            for sentence in sentences_of([gold], normalisation)
            if 1 <= len(sentence.kept) <= config.max_length
        ]
    return Data(train, development, gold, kept, vocabulary, normalisation, facts, guides)


def _checked_facts(facts: Any) -> dict[str, Any]:
    """Return what was met while reading; raise `ValueError` if that cannot be."""
    counts = ("empty_lines", "punctuation_only", "one_word", "too_long")
    if not all(isinstance(facts[name], dict) for name in ("way", "files", "train", "development")):
        raise ValueError("its facts are not tables")
    if not all(isinstance(sums, dict) for sums in facts["files"].values()):
        raise ValueError("its checksums are not tables")
    if not all(isinstance(facts["train"][name], int) for name in counts):
        raise ValueError("its counts are not whole numbers")
    return cast(dict[str, Any], facts)
