"""A trained parser as a folder: `model.safetensors` with the numbers, `model.json` with the rest."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from treemean._version import __version__
from treemean.errors import FormatError, InvalidOption, TreemeanError, reason_of
from treemean.files.checksums import checksum
from treemean.files.output import write_file
from treemean.files.sealed import sealed, unsealed
from treemean.files.tensors import read_tensors, write_tensors
from treemean.grammars import Grammar, GrammarConfig, assemble_grammar
from treemean.parsing.normalisation import Normalisation
from treemean.parsing.text import Sentence
from treemean.parsing.vocabulary import Vocabulary

#: The version of the layout of model folders; others are refused.
FORMAT_VERSION = 1
TENSORS, DESCRIPTION = "model.safetensors", "model.json"
_DAMAGED = "the description of the model is damaged"


@dataclass
class Model:
    """A grammar with everything that is needed to parse with it.

    Parameters
    ----------
    grammar : the grammar.
    vocabulary : the words it knows.
    normalisation : what happens to words before they are looked up.
    provenance : where it comes from: versions, configuration, seeds, checksums of the data, scores.
    """

    grammar: Grammar
    vocabulary: Vocabulary
    normalisation: Normalisation = field(default_factory=Normalisation)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def numbers(self, sentence: Sentence) -> list[int]:
        """Return the numbers of the words that the grammar sees; 0 for words it does not know."""
        normalise = self.normalisation.word
        return self.vocabulary.numbers(normalise(sentence.words[position]) for position in sentence.kept)

    @property
    def device(self) -> torch.device:
        """Where the grammar is."""
        return next(self.grammar.parameters()).device

    def to(self, device: str | torch.device) -> Model:
        """Move the grammar to a device and return the model."""
        self.grammar.to(device)
        return self

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model into a folder, which is made if there is none; see `write_model`."""
        grammar = self.grammar
        write_model(
            folder, grammar.config, grammar.state_dict(), self.vocabulary, self.normalisation, self.provenance
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, device: str | torch.device = "cpu") -> Model:
        """Read a model from its folder. Nothing is ever unpickled.

        Raises `FormatError`, which names the file, if the folder holds no model, one of another version, or a
        damaged one, and `InvalidOption` for a device that cannot be used.
        """
        use_device(device)
        place = Path(folder)
        name = str(place / DESCRIPTION)
        data = _description(name)
        try:
            config = _grammar_config(data["grammar"])
            vocabulary = Vocabulary.from_json(data["vocabulary"])
            normalisation = Normalisation.from_dict(data["normalisation"])
            checksum, provenance = data["tensors_sha256"], dict(data["provenance"])
        except KeyError as error:
            raise FormatError(f"{_DAMAGED}: it has no {error}", path=name) from error
        except (TypeError, AttributeError, ValueError, TreemeanError) as error:
            raise FormatError(f"{_DAMAGED}: {error}", path=name) from error
        tensors = read_tensors(place / TENSORS, checksum)
        try:
            grammar = assemble_grammar(config, len(vocabulary), tensors)
        except (RuntimeError, TypeError) as error:
            what = str(error).splitlines()[1:2] or [str(error)]  # the first of perhaps many differences
            raise FormatError(
                f"the tensors are not those of the grammar described: {what[0].strip()}",
                path=str(place / TENSORS),
            ) from error
        grammar.to(device).eval()
        return cls(grammar, vocabulary, normalisation, provenance)


def check_model(folder: str | os.PathLike[str]) -> None:
    """Raise `FormatError`, which names the file, if a folder holds no model, or one whose files changed."""
    name = str(Path(folder) / DESCRIPTION)
    recorded = _description(name).get("tensors_sha256")
    tensors = Path(folder) / TENSORS
    try:
        found = checksum(tensors)
    except OSError as error:
        raise FormatError(reason_of(error), path=str(tensors)) from error
    if found != recorded:
        raise FormatError("its checksum is not the one that was recorded with it", path=str(tensors))


def use_device(device: str | torch.device) -> None:
    """Make a device the one on which kernels run, if it is one of several GPUs.

    Raises `InvalidOption` if there is no such device, or if this PyTorch cannot use it.
    """
    try:
        tried = torch.ones(1, device=device)
        tried.item()  # some devices of PyTorch hold no numbers
        if tried.is_cuda:
            torch.cuda.set_device(tried.device)
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0].split(". ")[0]
        raise InvalidOption(f"the device {str(device)!r} cannot be used: {reason}") from error


def write_model(
    folder: str | os.PathLike[str],
    config: GrammarConfig,
    tensors: Mapping[str, torch.Tensor],
    vocabulary: Vocabulary,
    normalisation: Normalisation,
    provenance: Mapping[str, Any],
) -> None:
    """Write the parts of a model into a folder, which is made if there is none.

    Each file is written whole or not at all. The description is written last and names the checksum of the
    tensors, so that `Model.load` notices a folder that was only half written.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    description = {
        "format": "treemean model",
        "version": FORMAT_VERSION,
        "grammar": asdict(config),
        "normalisation": normalisation.to_dict(),
        "tensors_sha256": write_tensors(tensors, place / TENSORS),
        "provenance": dict(provenance),
        "vocabulary": list(vocabulary.words),
    }
    write_file(place / DESCRIPTION, sealed(description, ensure_ascii=False))


def _description(name: str) -> dict[str, Any]:
    try:
        data = unsealed(Path(name).read_bytes())
    except FileNotFoundError as error:
        folder = Path(name).parent
        reason = "there is no model in this folder" if folder.is_dir() else "there is no such folder"
        raise FormatError(reason, path=str(folder)) from error
    except OSError as error:
        raise FormatError(reason_of(error), path=name) from error
    except ValueError as error:
        raise FormatError(f"{_DAMAGED}: {error}", path=name) from error
    if data.get("format") != "treemean model":
        raise FormatError("not the description of a model", path=name)
    if data.get("version") != FORMAT_VERSION:
        raise FormatError(
            f"a model of version {data.get('version')!r}; this treemean {__version__} reads version "
            f"{FORMAT_VERSION}: use the treemean that wrote it, or train anew",
            path=name,
        )
    return data


def _grammar_config(data: Mapping[str, Any]) -> GrammarConfig:
    values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in data.items()}
    return GrammarConfig(**values)


def software() -> dict[str, str]:
    """Return the versions of what a model is made with."""
    return {
        "treemean": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
