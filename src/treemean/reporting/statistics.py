"""Statistics of a treebank as tables."""

from __future__ import annotations

from treemean.reporting.tables import Cell, Table
from treemean.trees.statistics import Statistics


def statistics_tables(statistics: Statistics, name: str, *, top: int) -> list[Table]:
    """Return a summary, and tables of lengths, fan-outs, numbers of children and the most frequent labels."""
    s = statistics
    words = sum(n * count for n, count in s.lengths.items())
    summary: list[list[Cell]] = [
        ["sentences", s.sentences],
        ["words", s.words],
        ["different words", s.word_types],
        ["words per sentence", words / s.sentences if s.sentences else None],
        ["shortest / longest", f"{min(s.lengths)} / {max(s.lengths)}" if s.lengths else None],
        ["constituents of two words or more", s.constituents],
        ["  discontinuous", _share(s.discontinuous, s.constituents)],
        ["  with two children", _share(s.binary, s.constituents)],
        ["unary constituents (over one word, or repeating the one above)", s.unaries],
        ["sentences with a discontinuous constituent", _share(s.discontinuous_sentences, s.sentences)],
        ["sentences that are not well-nested", _share(s.ill_nested_sentences, s.sentences)],
    ]
    tables = [Table(["", name], summary)]
    tables.append(_counts("fan-out", s.fan_outs, s.constituents, "constituents"))
    tables.append(_counts("children", s.children, s.constituents, "constituents"))
    tables.append(_counts("words", _binned(s.lengths), s.sentences, "sentences"))
    for title, counts in (("label", s.labels), ("tag", s.tags), ("function", s.functions)):
        if set(counts) - {""}:
            shown = dict(list(counts.items())[:top])
            table = _counts(title, shown, sum(counts.values()), "count")
            left = len(counts) - len(shown)
            tables.append(Table(table.columns, table.rows, "", [f"… and {left} more"] if left > 0 else []))
    return tables


def _binned(lengths: dict[int, int]) -> dict[str, int]:
    bins: dict[str, int] = {}
    for length, count in lengths.items():
        low = (length - 1) // 10 * 10 + 1 if length else 0
        key = f"{low}-{low + 9}" if length else "0"
        bins[key] = bins.get(key, 0) + count
    return bins


def _counts(what: str, counts: dict[int, int] | dict[str, int], total: int, unit: str) -> Table:
    rows: list[list[Cell]] = [
        [str(key) or "(none)", count, f"{100 * count / total:.2f}%"] for key, count in counts.items()
    ]
    return Table([what, unit, "share"], rows)


def _share(part: int, whole: int) -> str:
    return f"{part:,}" + (f" ({100 * part / whole:.2f}%)" if whole else "")
