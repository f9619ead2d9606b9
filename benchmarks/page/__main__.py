"""Bring measurements home: one JSON file, the tables and figures of docs/measurements/gpu.md.

    python -m benchmarks.page FOLDER …

Each FOLDER may have gpu.json (`make bench-gpu`), quality-*.json, ensemble.json, stability.json and
compare.json (benchmarks.learning). What is in none of them is kept as it was in
docs/measurements/gpu-h200.json. Tables are written between the marks in docs/measurements/gpu.md. Without any
folder, tables and figures are made again from what is kept.

Runs of one kind (quality-KIND.json) may be in several folders of one call, with other seeds in each: they are
joined, and together replace what was kept of that kind, which another version of the code may have made.

Nothing is changed if something is wrong with one of the folders: it is absent, or has results that are from
another device than those that are kept, or that have not come to the end of an epoch and would replace some,
or a run that a folder before it has, too. Epochs for fewer numbers of runs than are kept, since time ran out,
are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common import ROOT
from benchmarks.page.figures import draw_learning, draw_precision, draw_steps
from benchmarks.page.learning_tables import learning_tables
from benchmarks.page.measurements import bring_home
from benchmarks.page.tables import kernel_tables
from treemean.files.output import write_file


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*", help="that programs wrote into")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args(words)
    target, page = options.docs / "measurements" / "gpu-h200.json", options.docs / "measurements" / "gpu.md"
    data = bring_home(options.folders, json.loads(target.read_text()) if target.exists() else {})
    tables = kernel_tables(data) | learning_tables(data)
    target.parent.mkdir(exist_ok=True)
    write_file(target, json.dumps(data, indent=1).encode() + b"\n")
    write_file(page, fill(page.read_text(), tables).encode())
    for name, text in tables.items():
        print(f"{name}:\n\n{text}\n")
    if data.get("steps"):
        draw_steps(data, options.docs / "images" / "gpu-steps.svg")
    draw_learning(data, options.docs / "images" / "gpu-learning.svg")
    draw_precision(data["learning"], options.docs / "images" / "gpu-precision.svg")


def fill(page: str, tables: Mapping[str, str]) -> str:
    r"""Return a page with tables between their marks.

    >>> fill("a\n<!-- steps -->\nold\n<!-- end -->\nb", {"steps": "new"})
    'a\n<!-- steps -->\nnew\n<!-- end -->\nb'
    """
    for name, text in tables.items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        if not mark:
            print(f"there is no place for the table {name!r} in the page", file=sys.stderr)
            continue
        _, end, after = rest.partition("<!-- end -->")
        if not end:
            sys.exit(f"the page has no end mark after the mark of {name!r}. Nothing was changed")
        page = f"{before}{mark}{text}\n{end}{after}"
    return page


if __name__ == "__main__":
    main()
