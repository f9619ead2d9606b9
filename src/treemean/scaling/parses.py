"""Parsing shards of text, or of treebanks, with a trained model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treemean.files.checksums import checksum
from treemean.scaling.engines import Engine
from treemean.scaling.inputs import Cut
from treemean.scaling.shards import Work
from treemean.scaling.sums import Sums
from treemean.trees import Treebank

if TYPE_CHECKING:
    from treemean.names import PunctuationRule
    from treemean.parsing import Model


class ParserWork(Work):
    """Parses sentences; their own trees do not matter."""

    def check_text(self) -> None:
        """Raise `TreemeanError` if plain text, which has no tags to tell punctuation by, will not do."""
        raise NotImplementedError

    def settled(self, first: Treebank) -> ParserWork:
        """Return the work with what the first sentences decide for all."""
        raise NotImplementedError

    def prepared(self, cuts: Sequence[Cut], folder: Path, engine: Engine) -> ParserWork:
        """Return the work with what must be known of all sentences; `folder` is that of the job."""
        return self


@dataclass(frozen=True)
class Parsing(ParserWork):
    """Parses with one model.

    Parameters
    ----------
    model : the folder of a trained model; every process loads it once.
    options : those of `treemean.parsing.parse`, JSON-ready.
    device : where the model computes; results of different devices may differ.
    punctuation : how punctuation is found, once the first sentences have decided it.
    """

    name = "parse"
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    punctuation: PunctuationRule | None = None
    gpu: bool = False

    def describe(self) -> dict[str, Any]:
        """Return all that decides about the trees."""
        told = {name: value for name, value in asdict(self).items() if name != "gpu"}
        return {**told, "model": checksum(self.model), "device": self.device.split(":")[0]}

    def check_text(self) -> None:
        """Raise `TreemeanError` if the model tells punctuation by tags only."""
        load_model(self.model, self.device).normalisation.kept([])

    def settled(self, first: Treebank) -> Parsing:
        """Return the work with what the first sentences decide for all."""
        way = load_model(self.model, self.device).normalisation.settled(first).punctuation
        return replace(self, punctuation=way)

    def trees(self, batches: Iterator[list[Treebank]], first: int, sums: Sums) -> Iterator[Treebank]:
        """Yield parsed trees, and count what was met."""
        from treemean.parsing.parse import ParseCounts, ParseOptions, parse
        from treemean.parsing.text import sentences_of

        model = load_model(self.model, self.device)
        normalisation = model.normalisation
        if self.punctuation is not None:
            normalisation = replace(normalisation, punctuation=self.punctuation)
        counts = ParseCounts()
        sentences = sentences_of((batch for (batch,) in batches), normalisation)
        with one_thread():
            yield from parse(model, sentences, options=ParseOptions(**self.options), counts=counts)
        sums.counts.update(asdict(counts))


def load_model(folder: str, device: str) -> Model:
    """Read a model, once in every process, and again when it has changed."""
    return _loaded(folder, checksum(folder), device)


@cache
def _loaded(folder: str, _: str, device: str) -> Model:
    from treemean.parsing import Model

    return Model.load(folder, device=device)


class one_thread:
    """Lets PyTorch compute with one thread, so that sums are added in the same order on every machine."""

    def __enter__(self) -> None:
        import torch

        self._before = torch.get_num_threads()
        torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        import torch

        torch.set_num_threads(self._before)
