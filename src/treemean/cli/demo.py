"""`treemean demo`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from treemean.cli.app import app


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the files that the demo writes.")
    ] = Path("treemean-demo"),
) -> None:
    """Read, average, score and draw the trees of the embedded sample.

    [bold]Example[/bold]

      treemean demo -o treemean-demo
    """
    from rich.console import Console
    from rich.rule import Rule

    from treemean import average, draw, draw_svg, evaluate, sample, statistics, transforms, write
    from treemean.formats.source import open_output
    from treemean.reporting import Table
    from treemean.reporting.tables import Cell

    console = Console()

    def chapter(title: str) -> None:
        console.print()
        console.print(Rule(f"[bold]{title}", align="left"))

    chapter("1. A treebank with gold trees, and five parses of its sentences")
    gold, runs = sample.gold(), sample.runs()
    numbers = statistics(gold)
    console.print(
        f"{numbers.sentences} sentences, {numbers.words} words, {numbers.constituents} constituents of two "
        f"words or more, {numbers.discontinuous} of them discontinuous."
    )
    plain = transforms.remove_punctuation(gold)
    begun = time.perf_counter()
    mean = average(runs)
    seconds = time.perf_counter() - begun
    # A short sentence of which the average finds a discontinuous constituent.
    shown = next(
        i
        for i, (tree, found) in enumerate(zip(plain, mean, strict=True))
        if 6 <= len(tree) <= 9 and any(not c.is_continuous and c.mask in found.masks for c in tree)
    )
    console.print(draw(gold[shown]), highlight=False, markup=False)

    chapter("2. The average of the five parses")
    proven = int(mean.sentence_values["optimal"].sum())
    console.print(
        f"The trees with the highest average F1 against the five, {proven} of {len(mean)} proven optimal, "
        f"in {1000 * seconds:.1f} milliseconds."
    )
    results = {f"run {number}": evaluate(run, gold) for number, run in enumerate(runs, 1)}
    results["average"] = evaluate(mean, gold)
    rows: list[list[Cell]] = [
        [
            name,
            e.overall.f1,
            e.continuous.f1,
            e.discontinuous.f1,
            e.overall.matched,
            e.overall.false_positives,
        ]
        for name, e in results.items()
    ]
    columns = ["F1 against gold", "overall", "continuous", "discontinuous", "right", "wrong"]
    protocol = results["average"].protocol.name
    table = Table(columns, rows, notes=[f"Protocol {protocol}: see docs/evaluation.md."])
    console.print(table.to_rich())

    chapter("3. One sentence: the average against the gold tree")
    console.print(
        draw(mean[shown], gold=plain[shown], color=console.is_terminal), highlight=False, markup=False
    )

    output.mkdir(parents=True, exist_ok=True)
    write(mean, output / "average.discbracket")
    write(gold, output / "gold.parquet")
    with open_output(output / "average.svg") as stream:
        stream.write(draw_svg(mean[shown], gold=plain[shown], values="support").encode())
    chapter("4. Written")
    for name, what in (
        ("average.discbracket", "the average, one tree per line"),
        ("gold.parquet", "the gold trees in columns"),
        ("average.svg", "the sentence above, to open in a browser"),
    ):
        console.print(f"{output / name}: {what}", highlight=False)
    console.print("\nNext: [bold]treemean --help[/bold]")
