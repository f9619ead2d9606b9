"""`treemean sample`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from treemean.cli import options
from treemean.cli.app import app
from treemean.cli.commands import WRITES_FOLDER
from treemean.names import Language


@app.command()
def sample(
    output: Annotated[
        Path,
        WRITES_FOLDER,
        typer.Argument(metavar="OUT", help="A folder for the sample, or a file for generated sentences."),
    ] = Path("treemean-sample"),
    generate: Annotated[
        int | None, typer.Option(min=1, help="Generate this many new sentences instead.", metavar="N")
    ] = None,
    language: Annotated[Language, typer.Option(help="Language of generated sentences.")] = "nl",
    seed: Annotated[int, typer.Option(min=0, help="Seed of generated sentences.")] = 0,
    punctuation: Annotated[bool, typer.Option(help="Whether generated sentences have punctuation.")] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite files that exist with other content.")
    ] = False,
) -> None:
    """Write the sample treebank that comes with treemean, or generate sentences with gold trees.

    The sample has gold trees (gold.discbracket) and five noisy parses of them (run1 to run5).

    [bold]Examples[/bold]

      treemean sample                                     [dim]# into treemean-sample/[/dim]

      treemean sample train.discbracket --generate 5000 --language nl --seed 1
    """
    from treemean import sample as sample_treebank
    from treemean.cli.output import say, with_progress, written_to
    from treemean.files.new import all_or_none
    from treemean.formats import TreebankWriter
    from treemean.sample.generator import generate_batches

    if generate is None:
        for path in sample_treebank.write_sample(output, overwrite=overwrite):
            say(str(path))
        return
    printed = options.printed_as(str(output))
    TreebankWriter(output, format=printed)  # says now, and of this name, if it tells no format
    batches = generate_batches(generate, language, seed=seed, punctuation=punctuation)
    places_of: AbstractContextManager[Mapping[Path, Path]] = all_or_none([output], overwrite=overwrite)
    if printed is not None:
        places_of = nullcontext({output: output})
    with places_of as places, TreebankWriter(places[output], format=printed) as writer:
        for batch in with_progress(batches, "generating"):
            writer.write(batch)
    say(f"{generate} sentences {written_to(str(output))}")
