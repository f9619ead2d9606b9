"""`treemean demo`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from treemean.cli.app import app
from treemean.cli.commands import WRITES_FOLDER
from treemean.cli.train import Overrides


@app.command()
def demo(
    folder: Annotated[
        Path,
        WRITES_FOLDER,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The folder for everything that the demo makes."
        ),
    ] = Path("treemean-demo"),
    override: Overrides = None,
) -> None:
    """Train five parsers on raw text, average, score and draw their trees, and make a report to open.

    The text is the sample that comes with treemean. The demo takes two to five minutes; after an
    interruption, the same command continues. It writes a configuration, and runs
    [cyan]treemean ensemble[/cyan] with it.

    [bold]Examples[/bold]

      treemean demo

      treemean demo -o quick --override training.epochs=3
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.rule import Rule
    from rich.text import Text

    from treemean import draw, draw_svg, sample, statistics, transforms
    from treemean.cli.output import loading, resumable, show_tables
    from treemean.cli.training_progress import watching
    from treemean.files.output import write_file
    from treemean.printing import harmless
    from treemean.reporting.html import make_page
    from treemean.trees import Tree

    with loading("PyTorch"):
        from treemean.experiments.config import load_config
        from treemean.experiments.demo import telling_sentence, write_demo
        from treemean.experiments.pipeline import run_ensemble
        from treemean.experiments.report import report_of_ensemble

    console = Console()
    begun = time.perf_counter()

    def named(path: Path) -> str:
        return escape(harmless(str(path)))

    def chapter(title: str) -> None:
        console.print()
        console.print(Rule(f"[bold]{title}", align="left"))

    def show(title: str, tree: Tree, gold: Tree | None = None) -> None:
        console.print(f"\n[bold]{title}")
        drawing = draw(tree, gold=gold, color=console.is_terminal, max_width=console.width)
        # Rich would take the codes of colours for columns, and break lines.
        console.print(Text.from_ansi(drawing), soft_wrap=True)

    config_file = write_demo(folder)
    config = load_config(config_file, override or [])

    chapter("1. Gold trees of a small treebank, for choosing and scoring only")
    numbers = statistics(sample.gold()[:200])
    console.print(
        f"{numbers.sentences} sentences, {numbers.words} words, {numbers.constituents} constituents of two "
        f"words or more, {numbers.discontinuous} of them discontinuous. The first half is for development, "
        "the other for testing."
    )

    chapter(f"2. {config.run.runs} parsers learn from raw text")
    console.print(
        f"{config.grammar.kind.upper()} grammars, one initialisation, {config.run.runs} orders of the "
        f"sentences; {config.run.parallel} at a time. The configuration is {named(config_file)}."
    )
    with resumable(), watching(config.run.runs) as watch:
        outcome = run_ensemble(config, folder, title="Test scores", progress=watch, tell=watch.stage)

    chapter("3. Every parser, and the average of their trees")
    show_tables([outcome.results.table()], "table")

    chapter("4. One sentence")
    gold = transforms.remove_punctuation(outcome.gold)
    average = outcome.ensembles.non_binary
    shown = telling_sentence(gold, average, list(outcome.individuals.values()))
    # Drawings put words apart to make room for tags; here it is as it was written.
    console.print(" ".join(gold[shown].words), highlight=False, markup=False, soft_wrap=True)
    show("gold", gold[shown])
    for name, trees in outcome.individuals.items():
        show(name, trees[shown], gold[shown])
    show("the average", average[shown], gold[shown])
    drawing = folder / "average.svg"
    write_file(drawing, draw_svg(average[shown], gold=gold[shown]).encode())

    report = folder / "report.html"
    make_page(report_of_ensemble(folder, title=f"{config.run.runs} parsers that learnt from raw text")).write(
        report
    )

    chapter("5. Written")
    written = {"configuration": config_file, **outcome.files, "the sentence above": drawing, "report": report}
    for what, path in written.items():
        console.print(harmless(f"{path}: {what}"), highlight=False, markup=False)
    console.print(
        f"\n{time.perf_counter() - begun:.0f} seconds. Parse your own text: [bold]treemean parse "
        f"{named(outcome.runs[0].model)} TEXT -o trees.discbracket[/bold]",
        highlight=False,
        soft_wrap=True,
    )
    console.print(
        "All trees side by side, scores and learning curves, in a browser: "
        f"[bold]{report.resolve().as_uri()}[/bold]",
        highlight=False,
        soft_wrap=True,
    )
