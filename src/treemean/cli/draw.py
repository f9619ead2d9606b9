"""`treemean draw`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import READS, WRITES
from treemean.names import DrawingFormat

if TYPE_CHECKING:
    from treemean.trees import Tree
    from treemean.trees.ranges import Ranges


@app.command()
def draw(
    files: Annotated[
        list[str],
        READS,
        typer.Argument(metavar="FILE", help="A treebank, or several whose trees are to stand side by side."),
    ],
    sentences: Annotated[
        str | None,
        typer.Option(
            "--sentences",
            "--sentence",
            "-s",
            metavar="RANGES",
            help="Which sentences, counted from 1, such as 7 or 3,7-9; the first one if not given.",
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", help="Which sentence, by its id instead of its number.")
    ] = None,
    gold: Annotated[
        str | None,
        READS,
        typer.Option(help="Gold trees: shows what is right, wrong and missed, as treemean evaluate counts."),
    ] = None,
    protocol: options.Protocol = "standard",
    labelled: options.Labelled = None,
    prm: options.Prm = None,
    punctuation: options.Punctuation = "auto",
    ignore_case: options.IgnoreCase = False,
    output: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file; its name ends in "
            f"{', '.join(f'.{name}' for name in get_args(DrawingFormat))}.",
        ),
    ] = None,
    functions: Annotated[bool, typer.Option("--functions", help="Show grammatical functions.")] = False,
    tags: Annotated[bool, typer.Option(help="Show part-of-speech tags.")] = True,
    values: Annotated[
        str | None, typer.Option(help="Show a number of each constituent, such as support.")
    ] = None,
    color: Annotated[bool | None, typer.Option("--color/--no-color", help="Colours in the terminal.")] = None,
    from_format: options.From = None,
    dialect: options.Dialect = "auto",
    keep_empty: options.KeepEmpty = False,
    glob: options.Glob = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Draw trees in the terminal, or as SVG, PNG, PDF and TikZ.

    Several sentences are drawn below one another, the trees of several files
    beside one another. TikZ ([cyan].tex[/cyan]) is for papers: load the package tikz, and
    input the file.

    [bold]Examples[/bold]

      treemean draw gold.discbracket --sentence 7

      treemean draw mean.dbr --sentence 7 --gold gold.discbracket

      treemean draw mean.dbr -s 7 --gold gold.discbracket --labelled

      treemean draw mean.parquet --id nl-0007 --values support -o tree.svg

      treemean draw gold.dbr --sentences 3,7-9 -o trees.pdf

      treemean draw a.dbr b.dbr c.dbr --sentences 4 -o runs.png
    """
    from treemean.cli.output import say, short_names
    from treemean.errors import MismatchError
    from treemean.evaluation import compare_trees
    from treemean.files.output import write_file
    from treemean.trees.drawing import Panel, Row, draw_as, draw_sheet, drawing_format

    if id is not None and sentences is not None:
        raise typer.BadParameter("give either --sentences or --id", param_hint="--id")
    chosen = (
        None if id is not None else options.ranges("1" if sentences is None else sentences, "--sentences")
    )
    format = None if output is None else drawing_format(output)
    wanted = _Wanted(
        chosen,
        id,
        {"encoding": encoding, "dialect": dialect, "keep_empty": keep_empty, "glob": glob},
    )
    references = None
    if gold is not None:
        conventions = options.conventions(protocol, prm, labelled, gold)
        rule = options.punctuation_choice(punctuation)
        wanted = wanted._replace(reading=wanted.reading | {"keep_wrapper": conventions.keep_wrapper})
        references, settled = _find(gold, wanted, None, rule)
        if conventions.parameters is None and not conventions.punctuation_words:
            rule = settled  # as the whole file tells, not these sentences alone
    runs = [_find(file, wanted, from_format)[0] for file in files]

    def panel(file: str, name: str, place: int, number: int, tree: Tree) -> Panel:
        if references is None:
            return Panel(tree, name)
        try:
            found = compare_trees(
                tree, references[place][1], conventions, punctuation=rule, ignore_case=ignore_case
            )
        except MismatchError as error:
            raise MismatchError(f"sentence {id or number} of {file} and {gold}: {error}") from None
        return Panel(tree, name, found)

    names = short_names(files) if len(files) > 1 else [""]
    rows = []
    for place, (number, tree) in enumerate(runs[0]):
        trees = [run[place][1] for run in runs]
        heading = f"sentence {number}" + (f" ({tree.id})" if tree.id else "") if len(runs[0]) > 1 else ""
        if any(other.words != tree.words for other in trees):
            say(f"sentence {number}: the files have different words there")
        panels = [
            panel(file, name, place, number, other)
            for file, name, other in zip(files, names, trees, strict=True)
        ]
        rows.append(Row(panels, heading))
    if output is not None and format is not None:
        write_file(
            output,
            draw_as(rows, format, tags=tags, functions=functions, values=values, color=bool(color)),
        )
        say(f"sentence {id} drawn in {output}" if id is not None else _drawn_message(chosen, output))
        return
    terminal = sys.stdout.isatty()
    text = draw_sheet(
        rows,
        color=color if color is not None else terminal,
        tags=tags,
        functions=functions,
        values=values,
        max_width=shutil.get_terminal_size().columns if terminal else None,
    )
    typer.echo(text, color=color)


class _Wanted(NamedTuple):
    """Which sentences are to be found, by their numbers or one by its id, and how files are read."""

    chosen: Ranges | None
    id: str | None
    reading: dict[str, Any]


def _find(
    path: str, wanted: _Wanted, format: str | None, punctuation: str | Collection[str] = "tag"
) -> tuple[list[tuple[int, Tree]], str | Collection[str]]:
    """Return sentences with their numbers, and how the file tells punctuation; read no more than needed.

    Parameters
    ----------
    punctuation : how punctuation is to be found; with `"auto"` the file is read up to a punctuation tag, or
        to its end.
    """
    from treemean.formats import read_batches
    from treemean.trees.punctuation import settle_punctuation
    from treemean.trees.selecting import SentenceSelector

    chosen, id, reading = wanted
    selector = SentenceSelector(chosen, None if id is None else [id], path)
    found: list[tuple[int, Tree]] = []
    seen = 0
    rule = "word" if punctuation == "auto" else punctuation
    for batch in read_batches(path, format=format, **reading):
        if punctuation == "auto" and rule == "word":
            rule = settle_punctuation(batch, "auto")
        found += [(seen + int(i) + 1, batch[int(i)]) for i in selector.which(batch).nonzero()[0]]
        seen += len(batch)
        complete = selector.done or (id is not None and bool(found))
        if complete and not (punctuation == "auto" and rule == "word"):
            break
    selector.finish()
    return found if id is None else found[:1], rule


def _drawn_message(chosen: Ranges | None, output: Path) -> str:
    several = "," in str(chosen) or "-" in str(chosen)
    return f"sentence{'s' if several else ''} {chosen} drawn in {output}"
