"""What was measured on a GPU as tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.reference import PUBLIC, PUBLIC_MEMORY, SENTENCES_BY_LENGTH, public_step, public_trees
from treemean.reporting import Table

MISSING = "–"
#: How the names of checks begin that allow larger errors, as hidden layers are so large there.
GROWN = "hidden layers"
PARTS = ("grammar", "inside", "backward", "update")


def steps_table(data: Mapping[str, Any]) -> Table:
    """Return steps of one run by length and batch, their parts, memory, and the public code beside them."""
    head = ["words", "sentences", "step", "public code", *PARTS, "GiB", "MBR trees", "public code"]
    trees = {(row["n"], row["batch"]): decoding_time(row) for row in data.get("decoding", [])}
    rows = []
    for row in [*data.get("steps", []), *data.get("batches", [])]:
        n, batch = row["n"], row["batch"]
        published = batch == 20 and n in PUBLIC
        rows.append(
            [
                *(str(n), str(batch), _ms(row["whole"]), str(public_step(n)) if published else MISSING),
                *(_ms(row[part]) for part in PARTS),
                f"{row['memory']:.2f}",
                _ms(trees.get((n, batch))),
                str(public_trees(n)) if published else MISSING,
            ]
        )
    return Table(head, rows)


def decoding_time(row: Mapping[str, Any]) -> float:
    """Return the milliseconds in which a batch of sentences becomes trees: the graph, and reading them."""
    return float(row["graph"] + row["reading"])


def decoding_table(data: Mapping[str, Any]) -> Table:
    """Return how long trees take: as graphs with reading them, and call by call."""
    viterbi = {row["n"]: row for row in data.get("viterbi", [])}
    rows = []
    for row in data["decoding"]:
        other = viterbi.get(row["n"])
        derived = (None, None) if other is None else (sum(other[k] for k in _VITERBI), other["eager"])
        rows.append([str(row["n"]), *map(_ms, (decoding_time(row), row["eager"], *derived))])
    head = ["words", "MBR, as a graph", "call by call", "Viterbi, as graphs", "call by call"]
    return Table(head, rows)


_VITERBI = ("rules", "chart", "walk")


def parsing_table(data: Mapping[str, Any]) -> Table:
    """Return how long it takes to parse a text."""
    decoders = {"mbr": "MBR", "viterbi": "Viterbi"}
    rows = [[row["text"], decoders[row["decoder"]], f"{row['seconds']:.2f}"] for row in data["parsing"]]
    return Table(["1,000 sentences", "trees", "seconds"], rows)


def checks_table(data: Mapping[str, Any]) -> Table:
    """Return the largest errors of each kind of check."""
    kinds = {
        "inside, for given rules": ("inside", False),
        "from parameters to log Z": ("grammars", False),
        "likewise, with hidden layers that have grown": ("grammars", True),
        "the dense grammars": ("dense", False),
    }
    lines = []
    for name, kind in kinds.items():
        rows = [row for row in data["checks"] if (row["part"], row["case"].startswith(GROWN)) == kind]
        errors = [[row[key] for row in rows if key in row] for key in ("log_z", "gradients", "posteriors")]
        if rows:
            largest = (f"{max(values):.0e}" if values else MISSING for values in errors)
            lines.append([name, str(len(rows)), *largest])
    return Table(["largest error", "cases", "log Z, nats", "gradient, relative", "posteriors"], lines)


def trained_table(data: Mapping[str, Any]) -> Table:
    """Return how far off log Z of a trained grammar is."""
    head = ["words", "log Z", "off by at most, nats", "on average", "by rules alone", "by inside alone"]
    rows = [
        [str(row["n"]), f"{row['value']:.0f}", f"{row['largest']:.1e}", f"{row['mean']:+.1e}"]
        + [f"{row[key]:.1e}" for key in ("rules", "inside")]
        for row in data["trained"]["lengths"]
    ]
    return Table(head, rows)


def reference_table() -> str:
    """Return what the public code takes."""
    rows = [[str(n), *map(str, times)] for n, times in PUBLIC.items()]
    note = f"(at 40 words {PUBLIC_MEMORY[0]} GB (Triton) and {PUBLIC_MEMORY[1]} GB (CUDA))"
    columns = ["words", "step, Triton version", "step, CUDA version", "MBR trees"]
    return Table(columns, rows, notes=[note]).to_markdown()


def runs_table(data: Mapping[str, Any]) -> Table:
    """Return steps of several runs at once, for all and for each."""
    rows = [row for row in data.get("runs", []) if row]
    lengths = sorted({row["n"] for row in rows})
    found = {(row["runs"], row["n"]): row for row in rows}
    lines = []
    for runs in sorted({row["runs"] for row in rows}):
        times = [found[runs, n]["whole"] if (runs, n) in found else None for n in lengths]
        cells = [MISSING if t is None else f"{t:.1f} ({t / runs:.2f})" for t in times]
        memory = max(row["memory"] for row in rows if row["runs"] == runs)
        lines.append([str(runs), *cells, f"{memory:.1f}"])
    return Table(["runs", *(f"{n} words" for n in lengths), "GiB"], lines)


def epochs_table(data: Mapping[str, Any]) -> Table:
    """Return the rates of epochs with the lengths of the Dutch training text."""
    head = ["runs", *(f"{n} words" for n in (10, 20, 30, 40)), "all graphs, GiB", "epoch, s"]
    head += ["sentences/s expected", "measured"]
    lines = []
    for row in data.get("epochs", {}).get("runs", []):
        times = {int(n): time for n, time in row["steps"].items()}
        rates = [f"{row[name]:,.0f}" if row.get(name) else MISSING for name in ("expected", "measured")]
        epoch = f"{row['epoch']:.1f}" if "epoch" in row else MISSING
        cells = [_ms(times.get(n)) for n in (10, 20, 30, 40)]
        lines.append([str(row["runs"]), *cells, f"{row['memory']:.1f}", epoch, *rates])
    return Table(head, lines)


def dense_table(data: Mapping[str, Any]) -> Table:
    """Return steps of the dense grammars by length, what a sentence of Dutch text takes, and TN-LCFRS beside.

    The latter is milliseconds on average, over the lengths of the Dutch training sentences.
    """
    rows = [row for row in data.get("dense", []) if row]
    steps = {"tn-lcfrs": {row["n"]: row["whole"] for row in data.get("steps", []) if row["batch"] == 20}}
    memory: dict[str, float] = {}
    for row in rows:
        steps.setdefault(row["kind"], {})[row["n"]] = row["graph"]
        memory[row["kind"]] = max(memory.get(row["kind"], 0.0), row["memory"])
    lengths = sorted({row["n"] for row in rows})
    lines = []
    for kind in [*memory, "tn-lcfrs"]:
        times = [_ms(steps[kind].get(n)) for n in lengths]
        each = f"{of_a_sentence(steps[kind]):.3f}" if steps[kind] else MISSING
        lines.append([kind.upper(), *times, each, f"{memory[kind]:.2f}" if kind in memory else MISSING])
    return Table(["", *(f"{n} words" for n in lengths), "a Dutch sentence", "GiB"], lines)


def of_a_sentence(steps: Mapping[int, float], batch: int = 20) -> float:
    """Return the mean time of a Dutch training sentence from those of steps of some lengths.

    Times of other lengths lie on the straight lines between them; below the shortest one they are the same.

    >>> of_a_sentence({10: 20.0, 40: 20.0})
    1.0
    """
    known = sorted(steps)
    total = 0.0
    for n, count in SENTENCES_BY_LENGTH.items():
        low = max((m for m in known if m <= n), default=known[0])
        high = min((m for m in known if m >= n), default=known[-1])
        share = (n - low) / (high - low) if high > low else 0.0
        total += count * (steps[low] + share * (steps[high] - steps[low]))
    return total / batch / sum(SENTENCES_BY_LENGTH.values())


#: By the names of their marks in the page: what tables show, and who makes them.
TABLES: dict[str, tuple[str, Callable[[Mapping[str, Any]], Table]]] = {
    "checks": ("Largest errors against float64", checks_table),
    "trained": ("Errors of log Z of a trained grammar, nats", trained_table),
    "steps": ("A training step by part, one run, milliseconds", steps_table),
    "runs": ("Steps of several runs at once, milliseconds for all (for each)", runs_table),
    "decoding": ("Trees of 20 sentences, milliseconds", decoding_table),
    "parsing": ("Parsing a text", parsing_table),
    "epochs": ("Training on the Dutch text", epochs_table),
    "dense": ("The dense grammars, a step of 20 sentences, milliseconds", dense_table),
}


def kernel_tables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables for which something was measured, by name."""
    return {name: make(data).to_markdown() for name, (_, make) in TABLES.items() if data.get(name)}


def joined_tables(data: Mapping[str, Any]) -> str:
    """Return them one after another, with what they show, and the public code beside them."""
    told = [f"{TABLES[name][0]}:\n\n{text}" for name, text in kernel_tables(data).items()]
    return "\n\n".join([*told, f"The public code, milliseconds, 20 sentences:\n\n{reference_table()}"])


def _ms(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"
