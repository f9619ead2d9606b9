"""`treemean draw`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app

if TYPE_CHECKING:
    from treemean.trees import Tree


@app.command()
def draw(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A treebank.")],
    sentence: Annotated[
        int, typer.Option("--sentence", "-s", metavar="N", min=1, help="Which sentence, counted from 1.")
    ] = 1,
    id: Annotated[
        str | None, typer.Option("--id", help="Which sentence, by its id instead of its number.")
    ] = None,
    gold: Annotated[
        str | None, typer.Option(help="Gold trees: shows what is right, what is wrong, and what was missed.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write SVG (name ends in .svg) or text to this file."),
    ] = None,
    functions: Annotated[bool, typer.Option("--functions", help="Show grammatical functions.")] = False,
    tags: Annotated[bool, typer.Option(help="Show part-of-speech tags.")] = True,
    values: Annotated[
        str | None, typer.Option(help="Show a number of each constituent, such as support.")
    ] = None,
    color: Annotated[bool | None, typer.Option("--color/--no-color", help="Colours in the terminal.")] = None,
    from_format: options.From = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Draw a tree in the terminal, or as SVG.

    [bold]Examples[/bold]

      treemean draw gold.discbracket --sentence 7

      treemean draw mean.dbr --sentence 7 --gold gold.discbracket

      treemean draw mean.parquet --id nl-0007 --values support -o tree.svg
    """
    from treemean.cli.output import say
    from treemean.formats.source import open_output
    from treemean.trees import Treebank, drawing, transforms

    tree = _find(file, sentence, id, from_format, encoding)
    reference = _find(gold, sentence, id, None, encoding) if gold is not None else None
    if reference is not None and len(reference) > len(tree):  # the prediction may lack punctuation
        [reference] = transforms.remove_punctuation(Treebank.from_trees([reference]), drop_empty=False)
    if output is not None and output.suffix.lower() == ".svg":
        text = drawing.draw_svg(tree, gold=reference, tags=tags, functions=functions, values=values)
    else:
        colored = color if color is not None else output is None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
        text = drawing.draw(
            tree,
            gold=reference,
            color=colored,
            tags=tags,
            functions=functions,
            values=values,
            max_width=width,
        )
    if output is None:
        typer.echo(text, color=color)
        return
    with open_output(output) as stream:
        stream.write((text.rstrip("\n") + "\n").encode())
    say(f"sentence {id or sentence} drawn in {output}")


def _find(path: str, number: int, id: str | None, format: str | None, encoding: str) -> Tree:
    """Return a sentence by its number or its id, reading no further than needed."""
    from treemean.errors import TreemeanError
    from treemean.formats import read_batches

    seen = 0
    for batch in read_batches(path, format=format, encoding=encoding):
        ids = batch.ids.tolist() if id is not None else []
        if id in ids:
            return batch[ids.index(id)]
        if id is None and number <= seen + len(batch):
            return batch[number - 1 - seen]
        seen += len(batch)
    if id is not None:
        raise TreemeanError(f"{path}: no sentence has the id {id!r}")
    raise TreemeanError(f"{path}: there is no sentence {number}; the file has {seen}")
