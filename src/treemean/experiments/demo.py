"""A small experiment on the embedded sample: raw text, development and test trees, a configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from treemean import sample
from treemean.files.new import all_or_none
from treemean.files.output import write_file
from treemean.formats import write
from treemean.trees import Treebank

#: How many sentences are generated to train on, from which seed, and of how many words at most.
TRAINING_SENTENCES, TRAINING_SEED, MAX_LENGTH = 4000, 101, 15

_CONFIG = """\
# Five small TN-LCFRS parsers trained on generated Dutch sentences, and their average.
# All settings and what they mean: treemean debug config config.toml
extends = "tn-lcfrs-small"

[data]
train = ["train.txt"]                 # raw text: no trees, no tags
development = "dev.discbracket"       # gold trees, to choose the epoch of each run and to weigh the runs

[run]
runs = 5
parallel = {parallel}

[ensemble]
test = "test.discbracket"             # gold trees, to score everything
"""


def write_demo(folder: str | os.PathLike[str]) -> Path:
    """Write the files of the experiment and return the configuration, which `treemean ensemble` runs.

    Raises `TreemeanError` if the folder has files of these names that hold something else.

    The first 100 Dutch sentences of the sample are for development, the other 100 for testing; the training
    text is drawn from the same generator with another seed. As many runs are trained at a time as there are
    cores, and five.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    dutch = sample.gold()[:200]
    text = sample.generate(TRAINING_SENTENCES, language="nl", seed=TRAINING_SEED, max_length=MAX_LENGTH)
    files = [place / name for name in ("dev.discbracket", "test.discbracket", "train.txt", "config.toml")]
    with all_or_none(files) as places:
        development, test, train, config = (places[path] for path in files)
        write(dutch[:100], development, warn=False)
        write(dutch[100:], test, warn=False)
        write_file(train, "".join(f"{' '.join(tree.words)}\n" for tree in text).encode())
        write_file(config, _CONFIG.format(parallel=min(5, os.cpu_count() or 1)).encode())
    return files[-1]


def telling_sentence(
    gold: Treebank,
    average: Treebank,
    individuals: Sequence[Treebank] = (),
    shortest: int = 6,
    longest: int = 10,
) -> int:
    """Return the number of a short sentence that shows what an average can do.

    The average finds a discontinuous constituent of it, if there is such a sentence; of those it is the one
    on which individuals disagree most, then the one with the most constituents found, then the first.

    Parameters
    ----------
    gold : without punctuation, as the average is.
    """

    def worth(number: int) -> tuple[bool, bool, int, int]:
        tree = gold[number]
        right = [
            c for c in tree if c.mask in average[number].masks and 1 < len(c.positions) < len(tree.words)
        ]
        return (
            shortest <= len(tree.words) <= longest,
            any(not c.is_continuous for c in right),
            len({bank[number].masks for bank in individuals}),
            len(right),
        )

    return max(range(len(gold)), key=worth)
