"""Averages of sharded treebanks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

from treemean.averaging import Frequencies, average
from treemean.averaging.exact import NOTE_KEY
from treemean.errors import FormatError, Unsolved
from treemean.files.checksums import checksum
from treemean.fitting import HitModel, load
from treemean.fitting.candidates import find_candidates
from treemean.fitting.candidates.votes import VoteSums
from treemean.fitting.models.hit_model import LEAST_CORPUS
from treemean.fitting.models.objectives import CorpusObjective, TreeCounts, settle_by
from treemean.fitting.probabilities import model_alone
from treemean.scaling.engines import Engine
from treemean.scaling.inputs import Contents, Cut
from treemean.scaling.shards import Work
from treemean.scaling.sums import Sums, add_frequencies, frequencies_from_dict
from treemean.scaling.ties import read_piece
from treemean.trees import Treebank

#: What differs from one time to the next, and has no place in files that are the same every time.
_NEVER_THE_SAME = ("seconds",)


@dataclass(frozen=True)
class Averaging(Work):
    """Averages runs.

    Parameters
    ----------
    options : those of `treemean.average` that are the same for all sentences; JSON-ready.
    corpus : tells these runs from any others: what follows from all of them decides about every shard.
    hits : a file of `treemean fit`.
    probability : whether constituents get the probability that the model of the hits tells.
    skip_unsolved : whether sentences beyond the reach of the method are skipped.
    ties : a file of values that decide between equally good trees.
    frequencies : of labels in all runs.
    settled : the objective of the model, where that looks at the corpus.
    alone : what the runs alone tell of probabilities, where no file of hits does; `asked` : these runs.
    ties_folder : where the pieces of `ties` are.
    """

    name = "average"
    options: Mapping[str, Any]
    corpus: str
    hits: str | None = None
    probability: bool = False
    skip_unsolved: bool = False
    ties: str | None = None
    frequencies: tuple[Frequencies, ...] = ()
    settled: CorpusObjective | None = None
    alone: HitModel | None = None
    asked: tuple[int, ...] = ()
    ties_folder: str = ""

    def describe(self) -> dict[str, Any]:
        """Return all that decides about the trees."""
        own = {} if self.ties is None else {"ties": checksum(self.ties)}
        return {
            **own,
            "options": dict(self.options),
            "corpus": self.corpus,
            "hits": None if self.hits is None else checksum(self.hits),
            "probability": self.probability,
            "skip_unsolved": self.skip_unsolved,
        }

    def model(self) -> HitModel | None:
        """Return the model of the hits, around the settled objective."""
        if self.hits is None:
            return None
        model = load_model(self.hits)
        return model if self.settled is None else replace(model, objective=self.settled)

    def trees(self, batches: Iterator[list[Treebank]], first: int, sums: Sums) -> Iterator[Treebank]:
        """Yield averages; what is skipped, and what has only a bound, is noted with its number."""
        model = self.model()
        binary = bool(self.options.get("binary"))
        seen = first
        own_ties = None if self.ties is None else read_piece(self.ties_folder, first, self.ties)
        for batch in batches:
            values = {} if model is None else model.arguments(batch, jobs=1, binary=binary, settled=True)
            if own_ties is not None:
                values["ties"] = list(islice(own_ties, len(batch[0])))
            unsolved: list[Unsolved] | None = [] if self.skip_unsolved else None
            try:
                mean = average(
                    batch, **self.options, **values, frequencies=self.frequencies, jobs=1, skipped=unsolved
                )
            except Unsolved as error:
                number = seen + (error.sentence or 0)
                raise Unsolved(error.reason, sentence=number, id=error.id) from error
            left_out = set()
            for one in unsolved or []:
                left_out.add(one.sentence)
                number = seen + (one.sentence or 0)
                sums.note("skipped", {"sentence": number, "id": one.id, "reason": one.reason})
            kept = [s for s in range(len(batch[0])) if s + 1 not in left_out]
            _note_bounds(mean, [seen + s + 1 for s in kept], sums)
            if self.probability:
                runs = [run.take(kept) for run in batch] if left_out else batch
                mean = self._with_probabilities(mean, runs, model)
            seen += len(batch[0])
            yield repeatable(mean)

    def _with_probabilities(
        self, mean: Treebank, runs: Sequence[Treebank], model: HitModel | None
    ) -> Treebank:
        if model is not None:
            return model.with_probabilities(mean, runs)
        assert self.alone is not None
        return self.alone.with_probabilities(mean, [runs[k] for k in self.asked])


def repeatable(mean: Treebank) -> Treebank:
    """Return an average without what differs from one time to the next."""
    values = {name: v for name, v in mean.sentence_values.items() if name not in _NEVER_THE_SAME}
    return mean.with_columns(sentence_values=values)


def _note_bounds(mean: Treebank, numbers: Sequence[int], sums: Sums) -> None:
    """Note the sentences whose average is not proven, with what may be missing."""
    optimal = mean.sentence_values["optimal"] == 1
    sums.counts["optimal"] += int(optimal.sum())
    for s in (~optimal).nonzero()[0].tolist():
        tree = mean[s]
        sums.note(
            "bounded",
            {
                "sentence": numbers[s],
                "id": tree.id,
                "objective": tree.values["objective"],
                "upper_bound": tree.values["upper_bound"],
                "reason": tree.metadata.get(NOTE_KEY, ""),
            },
        )


def load_model(path: str) -> HitModel:
    """Read a file of hits, once in every process, and again when it has changed."""
    return _loaded(path, checksum(path))


@cache
def _loaded(path: str, _: str) -> HitModel:
    return load(path)


# ---- how often labels occur --------------------------------------------------------------------------


def label_frequencies(
    runs: Sequence[Contents], cuts: Sequence[Cut], engine: Engine
) -> tuple[Frequencies, ...]:
    """Return how often labels occur in every run: from manifests, or by a pass over all sentences."""
    told = [_manifest_frequencies(run) for run in runs]
    unknown = [place for place, found in enumerate(told) if found is None]
    if unknown:
        totals = [Frequencies() for _ in unknown]
        pieces = [
            replace(
                piece,
                names=tuple(piece.names[place] for place in unknown),
                runs=tuple(piece.runs[place] for place in unknown),
            )
            for piece in cuts
        ]
        for _, counted in engine.map(_count, None, pieces):
            for total, more in zip(totals, counted, strict=True):
                add_frequencies(total, more)
        for place, total in zip(unknown, totals, strict=True):
            told[place] = total
    return tuple(found for found in told if found is not None)


def _manifest_frequencies(run: Contents) -> Frequencies | None:
    if "frequencies" not in run.sums:
        return None
    try:
        return frequencies_from_dict(run.sums["frequencies"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"damaged sums in the manifest: {error!r}", path=run.name) from error


def _count(_: None, piece: Cut) -> list[Frequencies]:
    found = [Frequencies() for _ in piece.runs]
    for batch in piece.batches():
        for frequencies, treebank in zip(found, batch, strict=True):
            frequencies.add(treebank)
    return found


# ---- what runs alone tell ----------------------------------------------------------------------------


def model_of_votes(asked: tuple[int, ...], labelled: bool, cuts: Sequence[Cut], engine: Engine) -> HitModel:
    """Return what some runs alone tell of probabilities, from votes that are counted in every shard."""
    total = VoteSums(len(asked))
    for _, counted in engine.map(_count_votes, (asked, labelled), cuts):
        total.add(counted)
    return model_alone(total, labelled=labelled)


def _count_votes(shared: tuple[tuple[int, ...], bool], piece: Cut) -> VoteSums:
    asked, labelled = shared
    total = VoteSums(len(asked))
    for batch in piece.batches():
        total.add(VoteSums.of(find_candidates([batch[k] for k in asked], labelled=labelled)))
    return total


# ---- objectives of the whole corpus ------------------------------------------------------------------


def settled_objective(path: str, cuts: Sequence[Cut], engine: Engine) -> CorpusObjective | None:
    """Return the objective of a model that looks at the whole corpus, settled by passes over sums.

    None where each sentence is averaged by itself, or where the corpus is too small to tell anything.
    """
    model = load_model(path)
    if not isinstance(model.objective, CorpusObjective):
        return None
    if sum(piece.sentences for piece in cuts) < LEAST_CORPUS:
        return None

    def count(objective: CorpusObjective) -> TreeCounts:
        found = dict(engine.map(_count_trees, (path, objective), cuts))
        return sum((found[number] for number in range(len(cuts))), TreeCounts())  # in one order only

    return settle_by(model.objective, count)


def _count_trees(shared: tuple[str, CorpusObjective], piece: Cut) -> TreeCounts:
    path, objective = shared
    return load_model(path).count_trees(piece.batches(), objective, jobs=1)
