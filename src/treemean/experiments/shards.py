"""Parsing shards with all models of an ensemble, and averaging their trees as the ensemble's were."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from treemean.errors import FormatError, InvalidOption
from treemean.experiments.parser import RESULTS, EnsembleParser, ParsedWindow
from treemean.files.checksums import checksum, content_checksum
from treemean.fitting import HitModel
from treemean.fitting.models.hit_model import LEAST_CORPUS
from treemean.fitting.models.objectives import CorpusObjective, TreeCounts, settle_by
from treemean.names import PunctuationRule
from treemean.parsing import Model, ParseCounts
from treemean.parsing.parse import WINDOW, ParseOptions
from treemean.parsing.text import sentences_of
from treemean.scaling.averages import repeatable
from treemean.scaling.engines import Engine
from treemean.scaling.folders import STAGED
from treemean.scaling.inputs import Cut
from treemean.scaling.parses import ParserWork, one_thread
from treemean.scaling.shards import existing_shard, fingerprint, write_shard
from treemean.scaling.streams import Stream
from treemean.scaling.sums import Sums
from treemean.trees import Treebank


@dataclass(frozen=True)
class EnsembleParsing(ParserWork):
    """Parses with all models of an ensemble, and averages.

    With hits that are fitted to a corpus, what the models say is kept in files until the job is done: passes
    over it find the scores around which all sentences are averaged.

    Parameters
    ----------
    folder : of `treemean ensemble`; every process loads its models once.
    options : those of `treemean.parsing.parse`, JSON-ready, the decoder among them.
    binary : whether the best binary trees are wanted.
    device, punctuation, gpu : as in `Parsing`.
    parsed : the folder with what the models say, where it is kept.
    objective : that of the hits, once it is settled.
    """

    name = "parse"
    folder: str
    options: Mapping[str, Any] = field(default_factory=dict)
    binary: bool = False
    device: str = "cpu"
    punctuation: PunctuationRule | None = None
    gpu: bool = False
    parsed: str | None = None
    objective: CorpusObjective | None = None

    def describe(self) -> dict[str, Any]:
        """Return all that decides about the trees."""
        return {
            "ensemble": _identity(self.folder),
            "options": dict(self.options),
            "binary": self.binary,
            "device": self.device.split(":")[0],
            "punctuation": self.punctuation,
        }

    def check_text(self) -> None:
        """Raise `TreemeanError` if the models tell punctuation by tags only."""
        self._load()[1][0].normalisation.kept([])

    def settled(self, first: Treebank) -> EnsembleParsing:
        """Return the work with what the first sentences decide for all."""
        return replace(self, punctuation=self._load()[1][0].normalisation.settled(first).punctuation)

    def prepared(self, cuts: Sequence[Cut], folder: Path, engine: Engine) -> EnsembleParsing:
        """Return the work with the settled objective of hits that look at the corpus."""
        hits = self._load()[0].hits
        if hits is None or not isinstance(hits.objective, CorpusObjective):
            return self
        if sum(piece.sentences for piece in cuts) < LEAST_CORPUS:
            return self
        told = content_checksum([fingerprint(self), [piece.identity() for piece in cuts]])
        place = folder / STAGED / f"parsed-{told[:16]}"
        place.mkdir(parents=True, exist_ok=True)
        kept = replace(self, parsed=str(place))
        for _ in engine.map(_keep_parsed, kept, cuts, gpu=self.gpu):
            pass

        def count(objective: CorpusObjective) -> TreeCounts:
            found = dict(engine.map(_count_trees, replace(kept, objective=objective), cuts))
            return sum((found[number] for number in range(len(cuts))), TreeCounts())  # in one order only

        return replace(kept, objective=settle_by(hits.objective, count))

    def trees(self, batches: Iterator[list[Treebank]], first: int, sums: Sums) -> Iterator[Treebank]:
        """Yield averages of parsed trees, and count what was met."""
        ensemble, _ = self._load()
        if ensemble.hits is not None and self.objective is not None:
            ensemble = replace(ensemble, hits=replace(ensemble.hits, objective=self.objective))
        counts = ParseCounts()
        windows = self.windows(batches, first, counts)
        options = ParseOptions(**self.options)
        for mean in ensemble.averages(windows, options, binary=self.binary, jobs=1, settled=True):
            yield repeatable(mean)
        sums.counts.update(asdict(counts))

    def windows(
        self, batches: Iterator[list[Treebank]], first: int, counts: ParseCounts
    ) -> Iterator[ParsedWindow]:
        """Yield what all models say, from files if it is kept there; `first` sentences come before."""
        ensemble, models = self._load()
        normalisation = models[0].normalisation
        if self.punctuation is not None:
            normalisation = replace(normalisation, punctuation=self.punctuation)
        sentences = sentences_of((batch for (batch,) in batches), normalisation)
        kept = None if self.parsed is None else existing_shard(self.parsed, _kept_name(first))
        if kept is None or self.parsed is None:
            with one_thread():
                yield from ensemble.parse(models, sentences, ParseOptions(**self.options), counts=counts)
            return
        from treemean.formats.parquet import read_rows

        counts.add(ParseCounts(**{name: kept.sums.counts[name] for name in asdict(counts)}))
        count = kept.shard.sentences
        rows = read_rows(os.path.join(self.parsed, kept.shard.file), 0, count, count)
        stream = Stream(rows)
        while window := list(islice(sentences, WINDOW)):
            runs = [Treebank.concatenate(list(stream.next(len(window)))) for _ in models]
            if any(len(run) < len(window) for run in runs):
                raise FormatError("what models said of sentences is not whole", path=kept.shard.file)
            yield ParsedWindow(window, runs)

    def _load(self) -> tuple[EnsembleParser, list[Model]]:
        return _loaded(self.folder, _identity(self.folder), self.device)


def ensemble_parsing(
    folder: str | os.PathLike[str], *, binary: bool = False, device: str = "cpu", **options: Any
) -> EnsembleParsing:
    """Return the work of an ensemble, for `scaling.api.parse_by`; options are those of `parse`."""
    if options.get("posteriors"):
        raise InvalidOption(
            "an average has no posteriors: parse with single models, or leave out --posteriors"
        )
    decoder = options.pop("decoder", None) or EnsembleParser.read(folder).decoder
    chosen = asdict(ParseOptions(decoder, **options))
    return EnsembleParsing(os.fspath(folder), chosen, binary, device, gpu=device.startswith("cuda"))


def _identity(folder: str) -> str:
    """Return what tells an ensemble from any other: how it averages, and its models."""
    ensemble = EnsembleParser.read(folder)
    files = [ensemble.folder / RESULTS, *ensemble.models]
    if ensemble.hits is not None:
        files.append(ensemble.folder / "ensemble" / "hits.json")
    return content_checksum([checksum(file) for file in files])


@cache
def _loaded(folder: str, _: str, device: str) -> tuple[EnsembleParser, list[Model]]:
    ensemble = EnsembleParser.read(folder)
    return ensemble, ensemble.load(device)


def _kept_name(first: int) -> str:
    return f"part-{first}-parsed.parquet"


def _keep_parsed(work: EnsembleParsing, piece: Cut) -> None:
    """Write what all models say of a shard into one file: of every window one run after the other."""
    assert work.parsed is not None
    if existing_shard(work.parsed, _kept_name(piece.first)) is not None:
        return
    sums = Sums()

    def trees() -> Iterator[Treebank]:
        counts = ParseCounts()
        for window in work.windows(piece.batches(), piece.first, counts):
            yield from window.runs
        sums.counts.update(asdict(counts))

    write_shard(trees(), sums, work.parsed, _kept_name(piece.first))


def _count_trees(work: EnsembleParsing, piece: Cut) -> TreeCounts:
    ensemble, _ = _loaded(work.folder, _identity(work.folder), work.device)
    hits, objective = ensemble.hits, work.objective
    assert isinstance(hits, HitModel)
    assert objective is not None
    windows = work.windows(piece.batches(), piece.first, ParseCounts())
    return hits.count_trees((window.runs for window in windows), objective, jobs=1)
