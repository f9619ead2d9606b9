"""The corpora that `benchmarks.learning.prepare` made, on a machine where their texts need not be."""

from __future__ import annotations

import json
from pathlib import Path

from treemean.training import TrainingConfig, load_config


def prepared_config(
    data: Path, corpus: str, *overrides: str, preset: str = "tn-lcfrs"
) -> TrainingConfig | None:
    """Return a configuration of a grammar for a corpus, or None if that is absent."""
    description = data / corpus / "corpus" / "corpus.json"
    if not description.exists():
        return None
    facts = json.loads(description.read_text())["facts"]
    files, way = facts["files"], facts["way"]
    train = [str(data / name.partition(": ")[2]) for name in files["train"]]
    given = [f"data.train={json.dumps(train)}", f"data.development={data / next(iter(files['development']))}"]
    given += [f"data.{name}={way[name]}" for name in ("vocabulary", "max_length")]
    guides = [str(data / name.partition(": ")[2]) for name in files.get("guides", ())]
    given += [f"data.guides={json.dumps(guides)}"] if guides else []
    return load_config(preset, [*given, *overrides])
