"""Draw the time of a training step by length and part, from what `python benchmarks/gpu` measured.

python benchmarks/gpu/plot.py docs/measurements/gpu-h200.json docs/images/gpu-steps.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

#: Milliseconds of the public TN-LCFRS code, the better of its two versions, on the same kind of GPU.
PUBLIC = {10: 56, 20: 84, 30: 153, 40: 319}
PARTS = {"grammar": "grammar and emissions", "inside": "inside", "backward": "backward", "update": "update"}


def main(source: str, target: str) -> None:
    data = json.loads(Path(source).read_text())
    steps = data["steps"]
    lengths = [str(step["n"]) for step in steps]
    figure, (parts, both) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
    base = [0.0] * len(steps)
    for name, label in PARTS.items():
        values = [step[name] for step in steps]
        parts.bar(lengths, values, bottom=base, label=label)
        base = [a + b for a, b in zip(base, values)]
    parts.set(xlabel="words in a sentence", ylabel="milliseconds", title="A training step by part")
    parts.legend(frameon=False)
    both.plot(lengths, [step["whole"] for step in steps], "o-", label="treemean")
    both.plot(lengths, [PUBLIC[step["n"]] for step in steps], "s--", label="public code")
    for place, step in enumerate(steps):
        both.annotate(
            f"{step['whole']:.1f}", (place, step["whole"]), (0, 6), textcoords="offset points", ha="center"
        )
        both.annotate(
            str(PUBLIC[step["n"]]),
            (place, PUBLIC[step["n"]]),
            (0, 6),
            textcoords="offset points",
            ha="center",
        )
    both.set(xlabel="words in a sentence", yscale="log", ylim=(1, 900), title="The whole step")
    both.legend(frameon=False, loc="center right")
    figure.suptitle(f"TN-LCFRS, published sizes, 20 sentences, one {data['device']}")
    figure.savefig(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
