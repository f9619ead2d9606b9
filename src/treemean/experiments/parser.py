"""An ensemble as a parser: all its models parse, and their trees are averaged as the ensemble's were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from treemean.averaging import average
from treemean.errors import FormatError, InvalidOption, MismatchError, reason_of
from treemean.experiments.individuals import model_called
from treemean.files import stored
from treemean.fitting import HitModel, load
from treemean.names import DecoderName
from treemean.parsing import Model, ParseCounts, Sentence
from treemean.parsing.model import DESCRIPTION
from treemean.parsing.parse import ParseOptions, parse_window, put_back, windows
from treemean.scaling.windows import windows_in_parallel
from treemean.trees import Treebank

#: What tells how an ensemble was made.
RESULTS = "results.json"
_DAMAGED = "the results of the ensemble are damaged"


@dataclass(frozen=True)
class ParsedWindow:
    """Some sentences, and what every model says about them, without punctuation."""

    sentences: Sequence[Sentence]
    runs: list[Treebank]

    def __len__(self) -> int:
        return len(self.sentences)


@dataclass(frozen=True)
class EnsembleParser:
    """The models of an ensemble, and how their trees are averaged.

    Parameters
    ----------
    folder : of `treemean ensemble`.
    runs : names of the runs that parse.
    weights : one for each run; not asked where a model was fitted.
    hits : what weighs their constituents, if it was fitted.
    decoder : which tree of each model was averaged.
    others : folders of runs beside its own.
    """

    folder: Path
    runs: tuple[str, ...]
    weights: tuple[float, ...]
    hits: HitModel | None
    decoder: DecoderName
    others: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> EnsembleParser:
        """Read how an ensemble was made.

        Raises `FormatError`, which names the file, where nothing tells that, and `InvalidOption` for an
        ensemble of trees that no model of the folder made.
        """
        place = Path(folder)
        name = str(place / RESULTS)
        data = _results(place)
        try:
            selection, trained = data["results"]["selection"], data["training"]
            runs = stored.texts(selection, "chosen")
            weights = tuple(stored.reals(selection, "weights").tolist())
            fitted = selection["model"] is not None
            decoder = data["config"]["ensemble"].get("decoder", "mbr")
            others = stored.texts({"others": [], **data["config"]["ensemble"]}, "others")
        except (KeyError, TypeError, AttributeError) as error:
            raise FormatError(f"{_DAMAGED} ({error!r})", path=name) from error
        except FormatError as error:
            raise FormatError(f"{_DAMAGED}: {error.message}", path=name) from error
        if not trained:
            raise InvalidOption(
                f"{folder}: an ensemble of trees that were there (--dev, --test) has no models to parse "
                "with; average trees of the same runs with `treemean average`"
            )
        if not runs or len(weights) != len(runs) or decoder not in get_args(DecoderName):
            raise FormatError(_DAMAGED, path=name)
        hits = load(place / "ensemble" / "hits.json") if fitted else None
        return cls(place, runs if hits is None else hits.runs, weights, hits, decoder, others)

    @property
    def models(self) -> list[Path]:
        """The folders of the models."""
        return [model_called(self.folder / "runs", run, self.others) for run in self.runs]

    def load(self, device: str = "cpu") -> list[Model]:
        """Read all models; raises `FormatError`, which names the file, where one is missing or damaged."""
        models = [Model.load(folder, device=device) for folder in self.models]
        for name, model in zip(self.runs, models, strict=True):
            if model.normalisation != models[0].normalisation:
                raise MismatchError(
                    f"{self.folder}: the models of {self.runs[0]} and {name} see words in different ways"
                )
        return models

    def average(
        self,
        runs: Sequence[Treebank],
        *,
        binary: bool = False,
        jobs: int | None = None,
        settled: bool = False,
    ) -> Treebank:
        """Return the average of what all models say, with the ensemble's weights or hits.

        `settled` says that hits of a corpus are to be taken as they are: these are not all sentences.
        """
        if self.hits is not None:
            return self.hits.average(runs, binary=binary, jobs=jobs, settled=settled)
        return average(list(runs), self.weights, binary=binary, jobs=jobs)

    def parse(
        self,
        models: Sequence[Model],
        sentences: Iterable[Sentence | Sequence[str]],
        options: ParseOptions,
        *,
        jobs: int = 1,
        counts: ParseCounts | None = None,
    ) -> Iterator[ParsedWindow]:
        """Parse sentences with all models, in bounded memory; see `treemean.parsing.parse`."""
        counts = counts if counts is not None else ParseCounts()
        inner = replace(options, punctuation="keep-out")  # which is put back into the averages
        cut = windows(models[0], sentences)
        if jobs > 1:
            for window, parsed in windows_in_parallel(self.models, cut, inner, jobs=jobs):
                _add(counts, [one.counts for one in parsed])
                yield ParsedWindow(window, [one.trees for one in parsed])
            return
        for window in cut:
            met = [ParseCounts() for _ in models]
            runs = [parse_window(model, window, inner, one) for model, one in zip(models, met, strict=True)]
            _add(counts, met)
            yield ParsedWindow(window, runs)

    def averages(
        self,
        parsed: Iterable[ParsedWindow],
        options: ParseOptions,
        *,
        binary: bool = False,
        jobs: int | None = None,
        settled: bool = False,
    ) -> Iterator[Treebank]:
        """Yield the averages of what models said, with punctuation where the options want it.

        With hits that are fitted to a corpus all sentences are averaged together, and held for that, unless
        the hits are settled.
        """
        if self.hits is not None and self.hits.of_corpus and not settled:
            parsed = _joined(parsed)
        for window in parsed:
            mean = self.average(window.runs, binary=binary, jobs=jobs, settled=settled)
            yield mean if options.punctuation == "keep-out" else _with_punctuation(mean, window, options)


def is_ensemble(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is one of `treemean ensemble`, perhaps not finished, and not that of a model."""
    place = Path(folder)
    if (place / DESCRIPTION).exists():
        return False
    return (place / RESULTS).exists() or ((place / "runs").is_dir() and (place / "stages").is_dir())


def _results(place: Path) -> dict[str, Any]:
    name = str(place / RESULTS)
    try:
        data = json.loads((place / RESULTS).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FormatError(
            "the ensemble is not finished: give the same command `treemean ensemble` again", path=name
        ) from error
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{_DAMAGED}: no JSON ({error})", path=name) from error
    if not isinstance(data, dict):
        raise FormatError(_DAMAGED, path=name)
    return data


def _add(counts: ParseCounts, met: Sequence[ParseCounts]) -> None:
    """Count a window once, but all that had to be parsed again."""
    counts.add(met[0])
    counts.again += sum(other.again for other in met[1:])


def _joined(parsed: Iterable[ParsedWindow]) -> Iterator[ParsedWindow]:
    held = list(parsed)
    if held:
        runs = [Treebank.concatenate(parts) for parts in zip(*(window.runs for window in held), strict=True)]
        yield ParsedWindow([sentence for window in held for sentence in window.sentences], runs)


def _with_punctuation(mean: Treebank, window: ParsedWindow, options: ParseOptions) -> Treebank:
    inside = options.punctuation == "put-back"
    trees = []
    for tree, sentence in zip(mean, window.sentences, strict=True):
        if sentence.kept and len(tree.words) < len(sentence.words):
            length = len(sentence.words)
            constituents = put_back(tree.constituents, sentence.kept, length, inside)
            tree = tree.replace(
                words=sentence.words, constituents=constituents, tags=None, word_functions=None
            )
        trees.append(tree)
    return Treebank.from_trees(trees)
